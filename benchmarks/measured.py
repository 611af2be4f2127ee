"""What a benchmark gives back: named figures with the spread of their repetitions."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """A median in a unit, and the lowest and highest of the repetitions; ``x`` is a ratio."""

    says: str
    value: float
    unit: str
    low: float | None = None
    high: float | None = None


def spread(says: str, values: Sequence[float], unit: str) -> Result:
    """Return the median of repetitions and how far apart they lie."""
    return Result(says, statistics.median(values), unit, min(values), max(values))


def printed(results: dict[str, Result]) -> None:
    """Print figures, one a line."""
    for name, found in results.items():
        between = "" if found.low is None else f"   {found.low:.4g} to {found.high:.4g}"
        print(f"{name:<28} {found.value:>12.4g} {found.unit:<10}{between:<26} {found.says}")
