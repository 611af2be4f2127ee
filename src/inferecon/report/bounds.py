"""Charts of results: of each name the best combination, its bound and what is predicted."""

from .. import figures
from ..matrix import WORKLOAD
from ..numbers import digits
from .text import has

ENGINE = "vllm"  # whose predictions stand beside the bounds: the default of the notebook
# What is drawn of a combination: its price, or where none is on record how fast it is.
DRAWN = {
    "cost_per_token": "USD per million tokens (logarithmic)",
    "throughput_device": "tokens a second of a device (logarithmic)",
}
UNITS = {"cost_per_token": "USD/Mtok", "throughput_device": "tok/s a device"}
MARKS = "stroke: derived bound; hollow: predicted for vLLM, with its 90 % interval"


def bounded_row(numbers: dict, id: str, symbol: str) -> dict:
    """Return what a chart of bounds draws of a combination; nothing where there is no bound."""
    if not has(numbers, f"{id}:{symbol}"):
        return {}
    model, hardware, _ = id.split("/")
    row = {
        "derived": numbers[f"{id}:{symbol}"].value,
        "family": figures.meaning.family(model),
        "class": figures.meaning.device_class(hardware),
    }
    if has(numbers, predicted := f"{id}@{ENGINE}:{symbol}"):
        found = numbers[predicted]
        row |= {"predicted": found.value, "low": found.low, "high": found.high}
    return row


def best_rows(combinations: dict[str, list[tuple[str, str]]], numbers: dict, symbol: str) -> list:
    """Return a row for each name: of its combinations (format, id) the best, and best first.

    What is predicted decides; a name of which nothing is follows behind, by its bound.
    """
    turn = -1 if symbol == "throughput_device" else 1

    def rank(row: dict) -> tuple[bool, float]:
        return "predicted" not in row, turn * expected(row)

    rows = []
    for name, all_ in combinations.items():
        found = [
            {"name": f"{name}, {fmt}", "id": id, **row}
            for fmt, id in all_
            if (row := bounded_row(numbers, id, symbol))
        ]
        rows += sorted(found, key=rank)[:1]
    return sorted(rows, key=rank)


def expected(row: dict) -> float:
    return row.get("predicted", row["derived"])


def price_chart(subject: str, combinations: dict, numbers: dict, finding) -> list[str]:
    """Draw the best format of each name, with what ``finding`` makes of the rows as its title."""
    drawn = ((symbol, best_rows(combinations, numbers, symbol)) for symbol in DRAWN)
    symbol, rows = next((pair for pair in drawn if pair[1]), ("", []))
    if not rows:
        return ["", f"{subject} runs on none of these combinations.", ""]
    workload = "batch {batch}, {isl:,} tokens in, {osl:,} out; each in its best format"
    subtitle = [f"{subject}, {workload}".format(**WORKLOAD), MARKS]
    chart = figures.bounds(rows, DRAWN[symbol], finding(rows, symbol), subtitle)
    chart = figures.renamed(chart, f"{symbol} {subject}")
    return ["", "```{raw} html", figures.figure(chart.to_dict()), "```", ""]


def best_device(rows: list[dict], symbol: str) -> str:
    """Say where a model is best served, and how far off the last is for which the same is known."""
    alike = [row for row in rows if ("predicted" in row) == ("predicted" in rows[0])]
    word = "cheapest" if symbol == "cost_per_token" else "fastest"
    said = (
        f"{alike[0]['name']}, is {word} {how(alike)}: {digits(expected(alike[0]))} {UNITS[symbol]}"
    )
    if len(alike) == 1:
        return said
    apart, last = expected(alike[-1]) / expected(alike[0]), alike[-1]["name"].partition(",")[0]
    if symbol == "cost_per_token":
        return f"{said}; {last} takes {digits(apart, 2)} times as much"
    return f"{said}, {digits(1 / apart, 2)} times those of {last}"


def what_fits(device: str, combinations: dict[str, list[tuple[str, str]]], numbers: dict):
    """Return what says how many models one device holds, and between what all of them lie."""
    alone = sum(
        any(has(numbers, f"{id}:itl") and numbers[f"{id}:n_devices"].value == 1 for _, id in all_)
        for all_ in combinations.values()
    )

    def finding(rows: list[dict], symbol: str) -> str:
        alike = [row for row in rows if ("predicted" in row) == ("predicted" in rows[0])]
        ends = [digits(pick(map(expected, alike))) for pick in (min, max)]
        known = f"{ends[0]} to {ends[1]} {UNITS[symbol]} {how(alike)}"
        return f"One {device} holds {alone} of {len(combinations)} models; all: {known}"

    return finding


def how(rows: list[dict]) -> str:
    """Say whether an engine is predicted to do it, or a bound allows it."""
    return "on vLLM" if "predicted" in rows[0] else "at best"
