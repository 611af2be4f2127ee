"""Tables in Markdown, as pages and notebooks write them."""

from collections.abc import Iterable


def lines(
    head: list[str], rows: Iterable[list[str]], numeric_from: int = 1, numeric_to: int | None = None
) -> list[str]:
    """Return a table line by line; columns from ``numeric_from`` up to ``numeric_to`` are numbers.

    What stands in the cells is written as it is.
    """
    numeric = range(len(head))[numeric_from:numeric_to]
    rule = "".join("---:|" if i in numeric else "---|" for i in range(len(head)))
    return [f"| {' | '.join(head)} |", f"|{rule}", *(f"| {' | '.join(row)} |" for row in rows)]
