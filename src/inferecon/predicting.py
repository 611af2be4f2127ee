"""Publish what an engine is predicted to do: each figure with its interval, and how it is known."""

from IPython.display import Markdown, display

from .book import Case
from .calibration.constants import fingerprint
from .escape import plain
from .forecast import Outlook, outlook
from .numbers import (
    KNOWN,
    PREDICTED,
    PREDICTED_GRID,
    PUBLISHED,
    SHOWN,
    Interval,
    Number,
    number,
    prediction,
)
from .predictions import ENGINES, METRICS, SAYS
from .publication import as_json, null

ENDS = ("predicted", "low", "high")  # of each figure, behind its name
COLUMNS = ["batch", "isl", *(f"{x.name}_{end}" for x in PREDICTED_GRID for end in ENDS), "known"]
UNITS = {f"{x.name}_{end}": SHOWN[x] for x in PREDICTED_GRID for end in ENDS}


def predicted(case: Case, engine: str, batches: list[int], contexts: list[int]) -> Markdown | None:
    """Publish what is predicted for a case and over a grid, and show it beside the bounds.

    Raises BadInput for an unknown engine.  A combination that cannot run has no prediction.
    """
    if not case.runs:
        return case.fit()
    points = [(case.scenario.batch, case.scenario.isl), *case.fitting(batches, contexts)]
    found = outlook(case.scenario, engine, *zip(*points, strict=True))

    def at(place: int, symbols) -> dict[object, Number]:
        known = str(found.known[place])
        ends = {x: Interval(*(end[place] for end in found.symbols[x])) for x in symbols}
        return {symbol: prediction(symbol, ends[symbol], known) for symbol in symbols}

    numbers = at(0, PREDICTED)
    rows = []
    for place, point in enumerate(points[1:], 1):
        some = at(place, PREDICTED_GRID).values()
        cells = [null(x) for one in some for x in (one.value, one.low, one.high)]
        rows.append([*point, *cells, str(found.known[place]) or None])
    content = {
        "engine": engine,
        "constants": fingerprint(),
        "reason": found.reason[0],
        "numbers": as_json(numbers),
        "grid": {"columns": COLUMNS, "units": UNITS, "rows": rows},
    }
    text = _table(engine, numbers, limits(case, found), found.reason[0])
    display(Markdown(text), metadata={PUBLISHED: {"predicted": content}})


def warm() -> None:
    """Do once, in the parent of all notebooks, what the first prediction would do."""
    case = Case(model="deepseek-v2-lite", hardware="h200-sxm")
    outlook(case.scenario, "vllm", [1], [1024])


def limits(case: Case, found: Outlook) -> dict:
    """Return what the roofline says of each quantity of the case."""
    own = {m.symbol: found.bounds[name][0] for name, m in METRICS.items()}
    return {x: number(x, own.get(x, case.scenario.values[x])) for x in PREDICTED}


def _table(engine: str, numbers: dict, bounds: dict, reason: str) -> str:
    lines = [
        f"| on {ENGINES[engine]} | predicted, 90 % interval | at the bound, derived |",
        "|---|---:|---:|",
    ]
    lines += [
        f"| {SAYS[symbol.name]} | {found.text} | {bounds[symbol].text} |"
        for symbol, found in numbers.items()
    ]
    for word in dict.fromkeys(one.known for one in numbers.values() if one.known):
        mark, says = KNOWN[word]
        lines += ["", f"{mark} *{word}*: {says}."]
    lines += ["", f"Not predicted: {plain(reason)}."] if reason else []
    return "\n".join(lines)
