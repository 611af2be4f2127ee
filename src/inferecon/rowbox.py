"""What the box of a table's row says, where the figures of a table have no ids of their own.

The tables of some pages have thousands of cells: measured and predicted values, errors by
group, points of a chart.  A stop of the keyboard for each would bar its way, and a box for each
would be most of the page.  So a row has one button, in its first cell, and the script fills the
box from the cells of the row and from what stands here once for all rows of a table.

A table is known by its page and by the section that it stands in, or by the head of its first
column; the entry ``CHART`` is of the numbers of a chart, ``""`` of all others of the page.
"""

from typing import NamedTuple

from .truth import licences

MARK = 'class="vl-numbers"'  # the table beside a chart
CHART = "chart"
ROW = "ROW"  # in a command: the text of the row's first cell


class Told(NamedTuple):
    """``how`` says how the figures are known; ``commands`` give them again."""

    says: str
    how: str
    commands: tuple[str, ...]
    at: str = ""  # files with the same figures


REBUILT = "inferecon build"
FITTED = "inferecon calibrate"
DERIVED = "≈ derived from laws and records"
SIMULATED = "≈ simulated event by event, in step times from laws and calibrated constants"
HELD = "≈ computed from predictions of rows held out, against rows ✓ measured by their sources"


def _notebook(name: str) -> tuple[str]:
    return (f"inferecon run out.ipynb --notebook notebooks/{name}.ipynb",)


DRAWN = Told(
    "a point of a chart",
    "≈ computed, as the chart and the text beside it say: a bound from laws and records alone, "
    "a prediction with calibrated constants",
    (REBUILT,),
)
ONE_ROW = Told(
    "measured, and predicted by constants that were fitted without it",
    "✓ measured by its source; ≈ predicted by a fit that had not seen it",
    (f"inferecon show {ROW}", FITTED),
    "data/calibration/held_out.csv",
)
VALIDATION = {
    "head row": ONE_ROW,
    "head id": ONE_ROW,
    "whole-services": Told(
        "a published rate of a service, and what the laws say",
        "✓ measured by its operator; ≈ predicted, with a 90 % interval",
        ("inferecon validate data/truth/services.csv",),
        "data/truth/services.csv",
    ),
    "requests-at-a-rate": Told(
        "errors of predictions where requests come at a rate",
        "≈ computed from predictions, against rows ✓ measured by their sources",
        ("inferecon validate data/truth/timing.csv", REBUILT),
        "data/truth/timing.csv",
    ),
    "other-tools-on-the-same-rows": Told(
        "errors of another tool and of ours, on the same rows",
        "≈ computed from what each tool said, against rows ✓ measured by their sources",
        (REBUILT,),
        "data/calibration/peers/",
    ),
    "error-budget-by-operator": Told(
        "time of an operator in a step, and what its constants leave open",
        "≈ predicted from fitted constants",
        (REBUILT,),
        "data/calibration/constants.csv",
    ),
    "the-constants": Told(
        "constants of the laws",
        "≈ fitted to rows ✓ measured by their sources, with a 90 % interval",
        (FITTED,),
        "data/calibration/constants.csv",
    ),
    "": Told("errors of predictions", HELD, (FITTED, REBUILT), "data/calibration/held_out.csv"),
}
PAGES: dict[str, dict[str, Told]] = {
    "reference/validation": VALIDATION,
    "reference/serving": {
        "": Told("a service simulated", SIMULATED, (REBUILT,)),
        "against-services-that-were-measured": Told(
            "a service simulated, against rows that were measured",
            f"{SIMULATED}; ✓ measured by the sources of data/truth",
            (REBUILT,),
            "data/truth/timing.csv",
        ),
    },
    "reference/planning": {"": Told("a plan and what it keeps", SIMULATED, (REBUILT,))},
    "reference/speed": {
        "": Told(
            "seconds of our own benchmarks, or ratios of them",
            "✓ measured on the machine that the page names",
            ("make bench",),
            "benchmarks/results/",
        )
    },
    "chapters/serving": {"": Told("a service simulated", SIMULATED, _notebook("serving"))},
    "chapters/disaggregation": {
        "": Told("a service simulated", SIMULATED, _notebook("disaggregation"))
    },
    "chapters/improvement": {
        "": Told("a service simulated", SIMULATED, _notebook("improvement")),
        "monitor": Told("what a log says", "≈ counted in the log", _notebook("improvement")),
        "find-the-pattern": Told(
            "what a log says", "≈ counted in the log", _notebook("improvement")
        ),
    },
    "chapters/tiers": {"": Told("a plan and what it keeps", SIMULATED, _notebook("tiers"))},
    "chapters/costs": {"": Told("what a service takes", DERIVED, _notebook("costs"))},
    "chapters/plan": {"": Told("a plan and what it keeps", SIMULATED, _notebook("plan"))},
    "chapters/scenario": {
        "": Told("of the combination", DERIVED, _notebook("scenario")),
        "what-will-an-engine-make-of-it": Told(
            "predicted for an engine, beside the bound",
            "≈ or ~ predicted, as the table says, with a 90 % interval; a bound is ≈ derived",
            _notebook("scenario"),
        ),
    },
    "chapters/sensitivity": {"": Told("what an input moves", DERIVED, _notebook("sensitivity"))},
    "chapters/counts": {"": Told("weights and widths, counted", DERIVED, _notebook("counts"))},
    "chapters/figures": {"": DRAWN._replace(commands=_notebook("figures"))},
}


def told(page: str, body: str = "") -> dict:
    """Return what the script needs to fill the boxes of a page's rows; where none is, nothing.

    ``tables`` has places in ``kinds`` by section, ``sources`` licence and dates by the name of
    a source in a cell.
    """
    tables = dict(PAGES.get(page, {}))
    if MARK in body and "" not in tables:
        tables[CHART] = DRAWN
    if not tables:
        return {}
    kinds = list(dict.fromkeys(tables.values()))
    return {
        "kinds": [kind._asdict() for kind in kinds],
        "tables": {key: kinds.index(kind) for key, kind in tables.items()},
        "sources": licences() if ONE_ROW in kinds else {},
    }
