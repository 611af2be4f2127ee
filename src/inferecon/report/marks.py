"""Table of marks: what predictions were to reach, what they reach, and what others do."""

import math

import pandas as pd
import yaml

from ..calibration import held as h
from ..escape import plain
from ..files import DATA
from .text import boxed, table

MARKS = DATA / "calibration" / "marks.yaml"
WORDS = {
    "median": "median",
    "mape": "MAPE",
    "max": "maximum",
    "coverage": "covered",
    "inside": "inside",
}
COLUMNS = {"source": "source", "card": "hardware_id", "tier": "tier"}
HEAD = """\
## Marks

A mark was set before the constants were fitted: the limit that predictions of rows held out \
are to keep.
A mark that names two limits is reached if both are kept.
"""


def percent(share: float) -> str:
    """Write a share of one in percent, with as many digits as an error deserves."""
    if not math.isfinite(share):
        return "–"
    return f"{100 * share:.{1 if 0 < share < 0.1 else 0}f} %"


def marks() -> list[dict]:
    return yaml.safe_load(MARKS.read_text(encoding="utf-8"))


def chosen(held: pd.DataFrame, rows: dict) -> pd.DataFrame:
    """Return the rows that a mark is about.  Raises KeyError for a condition with no meaning."""
    keep = pd.Series(True, index=held.index)
    for name, wanted in rows.items():
        if name in COLUMNS:
            keep &= held[COLUMNS[name]].isin(wanted if isinstance(wanted, list) else [wanted])
        elif name == "metric":
            keep &= held.metric.isin(wanted)
        elif name == "devices":
            keep &= held.total.between(*wanted)
        elif name == "batch" and wanted == "unknown":
            keep &= held.batch_or_concurrency.isna()
        elif name in ("moe", "static"):
            keep &= held[name].astype(bool) == wanted
        else:
            raise KeyError(f"a mark has no condition {name!r}")
    return held[keep]


def judged(held: pd.DataFrame, mark: dict, how: str) -> dict:
    """Return the score of a mark's rows, and which of its limits they miss."""
    rows = chosen(held, mark["rows"])
    limits = {name: _between(limit) for name, limit in mark["limits"][how].items()}
    found = h.score(rows, how)
    if "inside" in limits and found["n"]:
        found["inside"] = h.crossed(rows, how)
    missed = [
        name
        for name, (low, high) in limits.items()
        if not found["n"] or not low <= found[name] <= high
    ]
    return found | {"limits": limits, "missed": missed}


def _between(limit) -> tuple[float, float]:
    return tuple(limit) if isinstance(limit, list) else (0.0, limit)


def verdict(found: dict) -> str:
    """Say in words whether a mark is reached."""
    if not found["n"]:
        return "**not reached**: no row to judge"
    if found["missed"]:
        return f"**not reached**: {_figures(found, found['missed'])}"
    unseen = [name for name in found["limits"] if name in ("coverage", "inside")]
    return f"reached: {_figures(found, unseen)}" if unseen else "reached"


def _figures(found: dict, names: list[str]) -> str:
    return ", ".join(f"{WORDS[name]} {100 * found[name]:.1f} %" for name in names)


def section(held: pd.DataFrame, kept: list[dict] | None = None) -> list[str]:
    """Return the table of all marks, the count of those reached before it."""
    body, reached, all_ = [], 0, 0
    kept = marks() if kept is None else kept
    for mark in kept:
        peer = mark.get("peer")
        beside = "{who}: {figure} ({source})".format(**peer) if peer else "none"
        for how in mark["limits"]:
            found = judged(held, mark, how)
            all_, reached = all_ + 1, reached + (not found["missed"])
            cells = [percent(found.get(name, math.nan)) for name in ("median", "mape", "max")]
            limit = ", ".join(_limit(name, *ends) for name, ends in found["limits"].items())
            count, name = f"{found['n']:,}", plain(mark["what"])
            body.append([name, how, verdict(found), limit, count, *cells, plain(beside)])
            beside = "as above"
    notes = [f"- {plain(mark['what'])}: {plain(mark['note'])}." for mark in kept if "note" in mark]
    notes += [""] if notes else []
    head = ["rows", "held out by", "", "mark", "n", "median", "MAPE", "max", "peer or baseline"]
    lines = table(head, body, 4, 8)
    lines[0] += " validation-marks"
    return [
        HEAD,
        *boxed(f"**{reached} of {all_} are reached, {all_ - reached} are not.**"),
        *lines,
        *notes,
        "Figures of peers and baselines are copied from the runs that the table names; "
        "`data/calibration/marks.yaml` holds them and the limits.",
        "Two marks stand elsewhere: counts of weights and caches are exact and tested, and the "
        "published rates of whole services have the next section.",
        "",
    ]


def _limit(name: str, low: float, high: float) -> str:
    if name in ("coverage", "inside"):
        ends = f"≥ {_whole(low)}" if high >= 1 else f"{_whole(low)} to {_whole(high)}"
    else:
        ends = f"≤ {_whole(high)}"
    return f"{WORDS[name]} {ends}"


def _whole(limit: float) -> str:
    """Write a limit as it was set."""
    return f"{100 * limit:.3g}&nbsp;%"
