"""What the box of a row or a sentence says, where figures have no ids of their own.

The tables of some pages have thousands of cells: measured and predicted values, errors by
group, points of a chart.  A stop of the keyboard for each would bar its way, and a box for each
would be most of the page.  So a row has one button, in its first cell, and the script fills the
box from the cells of the row and from what stands here once for all rows of a table.  A sentence
that a page was given, or a notebook printed, has a button for each run of its figures.

A table is known by its page and by the section that it stands in, or by the head of its first
column; the entry ``CHART`` is of the numbers of a chart, ``""`` of all others of the page.  What
stands on many pages is known by a word of ``KINDS``, which ``figures`` writes.
"""

import re
from typing import NamedTuple

from . import claimbox
from .cite import url
from .escape import plain
from .truth import licences

MARK = 'class="vl-numbers"'  # the table beside a chart
CHART = "chart"
# In a command or a place, what the script puts in: of the row, or of where it stands.
ROW, CLAIM, PAGE, SECTION = "ROW", "CLAIM", "PAGE", "SECTION"
OWN = re.compile(r'class="figures" data-kind="(\w+)"')


class Told(NamedTuple):
    """``how`` says how the figures are known; ``commands`` give them again."""

    says: str
    how: str
    commands: tuple[str, ...]
    at: str = ""  # files with the same figures
    law: str = ""  # the id of the law behind all of them


PRINTED = f"inferecon table {PAGE} {SECTION}"
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
    (f"inferecon table {PAGE}",),
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
        ("inferecon validate data/truth/timing.csv", PRINTED),
        "data/truth/timing.csv",
    ),
    "other-tools-on-the-same-rows": Told(
        "errors of another tool and of ours, on the same rows",
        "≈ computed from what each tool said, against rows ✓ measured by their sources",
        (PRINTED,),
        "data/calibration/peers/",
    ),
    "error-budget-by-operator": Told(
        "time of an operator in a step, and what its constants leave open",
        "≈ predicted from fitted constants",
        (PRINTED,),
        "data/calibration/constants.csv",
    ),
    "the-constants": Told(
        "constants of the laws",
        "≈ fitted to rows ✓ measured by their sources, with a 90 % interval",
        (FITTED,),
        "data/calibration/constants.csv",
    ),
    "": Told("errors of predictions", HELD, (FITTED, PRINTED), "data/calibration/held_out.csv"),
}
CHECKED = "≈ computed when the page is built; the verdict follows from the comparison"
CHECK = Told(
    "a check of the claim", CHECKED, (f"inferecon claims --claim {CLAIM}",), "data/claims/"
)
PAGES: dict[str, dict[str, Told]] = {
    "reference/validation": VALIDATION,
    "reference/serving": {
        "": Told("a service simulated", SIMULATED, (PRINTED,)),
        "against-services-that-were-measured": Told(
            "a service simulated, against rows that were measured",
            f"{SIMULATED}; ✓ measured by the sources of data/truth",
            (PRINTED,),
            "data/truth/timing.csv",
        ),
    },
    "reference/planning": {"": Told("a plan and what it keeps", SIMULATED, (PRINTED,))},
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
    "reference/elasticities": {
        "": Told("how a law answers", "≈ worked out from the laws by SymPy", (PRINTED,))
    },
    "reference/limits": {
        "": Told("what a law tends to", "≈ worked out from the laws by SymPy", (PRINTED,))
    },
    "data/assumptions": {
        "": Told(
            "a value with the range it may have",
            "✓, † or assumed, as the box of each value says",
            (PRINTED,),
            "data/",
        )
    },
    "claims/index": {
        "": Told("claims, counted", CHECKED, ("inferecon claims",), "data/claims/"),
        "farthest-from-what-is-computed": Told(
            "a document's value, and ours", CHECKED, (PRINTED,), "data/claims/"
        ),
        "what-was-looked-up": Told(
            "found in a file outside",
            "✓ read in the file, by the way that the row names",
            (PRINTED,),
            "data/claims/exhibits.yaml",
        ),
    },
}
PAGES |= {f"claims/document-{n}": {"": CHECK} for n in (1, 2, 3)}
# What stands on many pages; the words in ``how`` say it where no mark can.
KINDS = {
    "refused": Told(
        "memory that the combination needs, and that there is",
        DERIVED,
        (f"inferecon trace {ROW} memory_needed",),
        law="MEMORY-NEEDED",
    ),
    "note": Told(
        "a note of the record",
        "as its source has it",
        (f"inferecon show {ROW}",),
        f"data/{ROW}.yaml",
    ),
    "counted": Told(
        "claims of the document, counted",
        CHECKED,
        (f"inferecon claims --document {ROW}",),
        f"data/claims/document-{ROW}.yaml",
    ),
    "judged": Told(
        "said of the claim",
        "≈ computed where a comparison is named, which each build checks; other figures are the "
        "document's, or inputs",
        CHECK.commands,
        CHECK.at,
    ),
}


def figures(text: str, kind: str, name: str = "") -> str:
    """Return a sentence for a Markdown page whose figures open a box; escaped, never markup."""
    if not re.search(r"\d", text):
        return plain(text)
    named = f' data-name="{name}"' if name else ""
    return f'<span class="figures" data-kind="{kind}"{named}>{plain(text)}</span>'


def told(page: str, body: str = "") -> dict:
    """Return what the script needs to fill the boxes of a page's rows; where none is, nothing.

    ``tables`` has places in ``kinds`` by section, ``sources`` licence and dates by the name of
    a source in a cell.
    """
    tables = dict(PAGES.get(page, {}))
    tables |= {word: KINDS[word] for word in sorted(set(OWN.findall(body)))}
    if MARK in body and "" not in tables:
        tables[CHART] = _drawn(page)
    if not tables:
        return {}
    kinds = list(dict.fromkeys(tables.values()))
    return {
        "kinds": [_as_data(kind) for kind in kinds],
        "tables": {key: kinds.index(kind) for key, kind in tables.items()},
        "sources": licences() if ONE_ROW in kinds else {},
        "more": claimbox.of_page(page),
    }


def laws(rows: dict) -> set[str]:
    """Return the laws whose equations the boxes of a page's rows show."""
    return {one["law"] for one in rows.get("kinds", ()) if "law" in one} | {
        check["law"]
        for checks in rows.get("more", {}).values()
        for check in checks
        if "law" in check
    }


def _as_data(kind: Told) -> dict:
    said = {name: value for name, value in kind._asdict().items() if value}
    return said | ({"place": url(kind.law)} if kind.law else {})


def _drawn(page: str) -> Told:
    """Say of a chart's points what gives them again: on a page of results it is a sweep."""
    kind, _, id = page.partition("/")
    if kind in ("models", "hardware") and id != "index":
        return DRAWN._replace(commands=(f"inferecon sweep --{kind} {id} --out my-sweep",))
    return DRAWN if not id else DRAWN._replace(commands=("inferecon build",))
