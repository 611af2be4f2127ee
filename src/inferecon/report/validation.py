"""Page of the validation: misses first, then marks, charts, errors, operators and constants."""

import numpy as np
import pandas as pd

from .. import figures
from ..calibration import held as h
from ..calibration.validate import scatter as spreads
from ..escape import plain
from ..figures.meaning import MARKS, family
from ..numbers import digits
from . import arrivals, constants, marks, peers, services
from .marks import percent
from .text import METRICS, boxed, table

WORST = 25  # single rows in the table of misses
DRAWN, FARTHEST = 180, 60  # points of a chart; of them the farthest off
OTHER = "other sources"  # those that share a shape
FEWEST = 10  # rows that a group needs for a median worth ranking
CHARTS = {  # one for each kind of figure and unit: what shares an axis must share a unit
    ("decode", "ms"): "Time of a token or a step",
    ("prefill", "ms"): "Time to first token",
    ("rate", "tok/s"): "Rates of a service",
    ("rate", "tok/s/GPU"): "Rates of a device",
    ("whole", "s"): "Time of a whole batch",
    ("energy", "J/token"): "Energy of a token",
    ("energy", "J"): "Energy of a step or a prefill",
    ("energy", "W"): "Power",
}
GROUPS = {
    "metric": "metric",
    "hardware_id": "card",
    "generation": "engine",
    "precision": "weight format",
    "source": "source",
}
HEAD = """\
# Validation: predicted against measured

How far are the predictions of {doc}`../calibration` from machines, on rows that the fit never saw?
The constants were fitted again without a part of the measured rows, and each row was predicted \
by the fit that was without it: without one row in four, without whole combinations of model and \
card, without models, without cards, and without generations of engines, one in four each time.
A median or a MAPE is of the absolute error, as a share of the measured value.
An interval is wide enough for nine in ten of the rows held out, of the same kind of figure and, \
where enough rows tell, of the same generation of engine.
Select the first cell of a row to see who measured it, under which licence, and the command that \
gives its figures again: one button a row, since a stop at each of thousands of cells would bar \
the way of the keyboard.
"""


def validation_page() -> str:
    """Return the page; it holds no number that the files of ``data/calibration`` do not."""
    return page(h.read())


def page(held: pd.DataFrame) -> str:
    known = held.row.notna()
    text = [
        HEAD,
        *boxed(
            f"{int(known.sum()):,} rows of {held.source.nunique()} sources were predicted, "
            f"{int((~known).sum()):,} were not, for want of a fact, a batch or a law."
        ),
        *misses(held),
        *marks.section(held),
        *services.section(),
        *arrivals.section(),
        *peers.section(),
        *charts(held),
        *errors(held),
        *constants.budget(),
        *constants.section(),
    ]
    return "\n".join([*text, ""])


def misses(held: pd.DataFrame) -> list[str]:
    """Return the groups and the single rows that are farthest off, the farthest first."""
    return [
        "## Misses first",
        "",
        "Which figures of which source are predicted worst?",
        f"Groups of {FEWEST} rows and more, the largest median error first; "
        "`cell` is the error where the whole combination of model and card was unseen.",
        "Energy a request is energy a token times the tokens, so the two share an error.",
        "",
        *worst_groups(held),
        f"The {WORST} single rows that are farthest off, held out by row:",
        "",
        *worst_rows(held),
    ]


def worst_groups(held: pd.DataFrame) -> list[str]:
    found = []
    for (source, metric), part in held.groupby(["source", "metric"]):
        row, cell = h.score(part, "row"), h.score(part, "cell")
        if row["n"] >= FEWEST:
            found.append((row["median"], source, metric, row, cell))
    found.sort(key=lambda line: (-line[0], line[1], line[2]))
    body = [
        [
            plain(source),
            plain(named(metric)),
            f"{row['n']:,}",
            *(percent(row[name]) for name in ("median", "mape", "p90")),
            percent(cell.get("median", np.nan)),
        ]
        for _, source, metric, row, cell in found
    ]
    head = ["source", "metric", "n", "median", "MAPE", "nine in ten within", "median, cell"]
    return table(head, body, 2)


def worst_rows(held: pd.DataFrame) -> list[str]:
    far = with_interval(farthest(held).head(WORST))
    body = [
        [
            plain(row.id),
            plain(named(row.metric)),
            f"{digits(row.value)} {plain(row.unit)}".strip(),
            f"{digits(row.row)} ({digits(row.low)}–{digits(row.high)})",
            f"{digits(row.row / row.value)} ×",
            plain(row.source),
            plain(row.model_id),
            plain(row.hardware_id),
            plain(row.generation),
        ]
        for row in far.itertuples()
    ]
    head = ["row", "metric", "measured", "predicted (90 % interval)", "ratio"]
    return table([*head, "source", "model", "card", "engine"], body, 2, len(head))


def farthest(held: pd.DataFrame) -> pd.DataFrame:
    """Return the predicted rows, the farthest off first."""
    known = held[held.row.notna()]
    return known.assign(apart=h.apart(known, "row")).sort_values(
        ["apart", "id", "metric"], ascending=[False, True, True]
    )


def with_interval(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the ends of the 90 % interval of their prediction."""
    half = h.wide(rows, "row", spreads())
    return rows.assign(low=rows.row * np.exp(-half), high=rows.row * np.exp(half))


def charts(held: pd.DataFrame) -> list[str]:
    """Return a chart for each kind of figure."""
    text = [
        "## Predicted against measured",
        "",
        "A point is a row, predicted by a fit without it; on the diagonal the two agree.",
        "The thin rule through it is the 90 % interval of its prediction.",
        "Energy of a request is energy of a token times the tokens, so it has no chart of its own.",
        f"Each chart has the {FARTHEST} rows farthest off and an even choice of the others, so it "
        "looks worse than all rows are; the links save what is drawn.",
        "All rows, with every way to hold out, are in `data/calibration/held_out.csv` of the "
        "repository.",
        "",
    ]
    shapes = shapes_of(held)
    for (kind, unit), title in CHARTS.items():
        part = held[(held.kind == kind) & (held.unit == unit)]
        if part.row.notna().any():
            drawn = figures.figure(chart(part, unit, title, shapes).to_dict())
            text += [f"### {title}", "", "```{raw} html", drawn, "```", ""]
    return text


def shapes_of(held: pd.DataFrame) -> dict[str, str]:
    """Return the shape of each source, one for all charts; those with few rows share the last."""
    frequent = sorted(held[held.row.notna()].source.value_counts().index[: len(MARKS) - 1])
    return dict(zip([*frequent, OTHER], MARKS, strict=False))


def chart(part: pd.DataFrame, unit: str, title: str, shapes: dict[str, str]):
    """Return the chart of one kind of figure, the worst rows and an even choice of the rest."""
    rows, step = drawn_rows(part)
    rows = [{**row, "group": row["source"] if row["source"] in shapes else OTHER} for row in rows]
    found = h.score(part, "row")
    heading = f"{title}: half of {found['n']:,} rows within {percent(found['median'])}"
    some = "and the others" if step == 1 else f"and one in {step} of the others"
    subtitle = [
        f"held out by row; the {FARTHEST} farthest off, {some}",
        "thin rules: 90 % intervals; shapes: sources; colours: families of models",
    ]
    said = f"Nine in ten of all rows are within {percent(found['p90'])}."
    made = figures.scatter(rows, unit, heading, subtitle, said, shapes)
    return figures.renamed(made, f"predicted against measured, {title}")


def drawn_rows(part: pd.DataFrame) -> tuple[list[dict], int]:
    """Return what a chart draws: the farthest rows, and every k-th of the others by id; and k."""
    far = farthest(part)
    half = h.wide(far, "row", spreads())
    far = far.assign(low=far.row * np.exp(-half), high=far.row * np.exp(half))
    worst, others = far.iloc[:FARTHEST], far.iloc[FARTHEST:].sort_values(["id", "metric"])
    step = max(1, -(-len(others) // (DRAWN - FARTHEST)))
    shown = pd.concat([worst, others.iloc[::step]])
    return [
        {
            "id": row.id,
            "metric": named(row.metric),
            "source": row.source,
            "model": row.model_id,
            "family": family(row.model_id),
            "card": row.hardware_id,
            "engine": row.generation,
            "measured": float(row.value),
            "predicted": float(row.row),
            "low": float(row.low),
            "high": float(row.high),
        }
        for row in shown.itertuples()
    ], step


def errors(held: pd.DataFrame) -> list[str]:
    """Return the errors by each way to group, under each way of holding out."""
    text = [
        "## Errors by what was measured",
        "",
        "A cell is the median error, then the MAPE, of rows predicted without:",
        "",
        *(f"- *{how}*: {meaning}." for how, meaning in h.WAYS.items()),
        "",
        "*In 90 %* is the share of rows inside their interval.",
        "Over all rows it is nine in ten by construction, so a group shows where intervals are "
        "too narrow or too wide.",
        "The last of the marks above judges rows by widths that were read from others.",
        "A combination that holds a level nobody measured has a wider interval than its cell's.",
        "",
    ]
    all_ = _line("all rows", held)
    for column, title in GROUPS.items():
        lines = [
            _line(plain(named(name)) or "not stated", part)
            for name, part in held.groupby(column)
            if part.row.notna().any()
        ]
        head = [title, "n"]
        for how in h.WAYS:
            head += [how, "in 90 %"] if how in h.INTERVALS else [how]
        text += [f"### By {title}", "", *table(head, [all_, *lines])]
    return text


def named(metric: str) -> str:
    """Return a metric in words; what is none stays as it is."""
    return METRICS.get(metric, metric)


def _line(name: str, part: pd.DataFrame) -> list[str]:
    cells = [name, f"{h.score(part, 'row')['n']:,}"]
    for how in h.WAYS:
        found = h.score(part, how)
        both = f"{percent(found['median'])}, {percent(found['mape'])}" if found["n"] else "–"
        cells.append(both)
        if how in h.INTERVALS:
            cells.append(percent(h.inside(part, how, spreads())))
    return cells
