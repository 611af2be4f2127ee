"""What is counted once for all combinations: the weights of models, the widths of formats."""

from IPython.display import Markdown, display

from . import symbols as s
from .escape import plain
from .laws import SERVICE
from .laws.weights import FORMAT_WIDTH
from .numbers import COUNTS, PUBLISHED, number
from .records import ids, load, matching


def counts(pattern: str = "*") -> None:
    """Publish the weights of models on record, beside the count each publisher states."""
    named, rows = {}, []
    for id in matching("models", pattern):
        record = load("models", id)
        if record.lacks:
            rows.append(f"| {id} | shapes not public | | | | |")
            continue
        values = SERVICE.solve({**load("constants", "counting").given, **record.given})
        for symbol in COUNTS:
            found = number(symbol, values[symbol])
            named[f"counts/{id}:{symbol.name}"] = [found.value, found.unit]
        scope = in_scope(record, values)
        stated = record.get("published_total")
        apart = scope + record.given.get(s.published_adjust, 0) - stated
        verdict = "equal" if apart == 0 else f"{apart:+,.0f}"
        if not record.about["published_exact"]:
            verdict = "only a rounded label is published"
        total, active = (_linked(id, x, values[x]) for x in (s.params_total, s.params_active))
        rows.append(f"| {id} | {total} | {active} | {scope:,.0f} | {stated:,.0f} | {verdict} |")
    head = [
        "| model | language model | used by a token | as published: what files hold | published "
        "| difference |",
        "|---|---:|---:|---:|---:|---|",
    ]
    display(Markdown("\n".join([*head, *rows])), metadata={PUBLISHED: {"named": named}})


def _linked(id: str, symbol, count: float) -> str:
    """Write a count in full, where a page of the book explains the number."""
    return f'<a class="num" data-number="counts/{id}:{symbol.name}">{count:,.0f}</a>'


def in_scope(record, values) -> float:
    """Weights that a published total includes, as its record says: lm, vision, mtp, copies."""
    parts = {
        "lm": s.params_total,
        "vision": s.params_vision,
        "mtp": s.params_mtp,
        "mtp_copies": s.params_copies,
        "tied_copy": s.params_embedding,
    }
    return sum(values[parts[name]] for name in record.about["published_scope"].split("+"))


def widths() -> None:
    """Publish the effective width of every number format on record."""
    named, rows = {}, []
    for id in ids("formats"):
        record = load("formats", id)
        if record.about.get("block") == "row":
            rows.append(f"| {id} | {plain(record.name)} | element, and a scale a row |")
            continue
        width = number(s.format_width, FORMAT_WIDTH(record.given))
        named[f"formats/{id}:format_width"] = [width.value, width.unit]
        rows.append(f"| {id} | {plain(record.name)} | {width.value:,.6g} bit |")
    head = ["| format | name | per element |", "|---|---|---:|"]
    display(Markdown("\n".join([*head, *rows])), metadata={PUBLISHED: {"named": named}})
