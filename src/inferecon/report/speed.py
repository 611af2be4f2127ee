"""Page of the speed: what the benchmarks measured, where, and what it was in the edition before."""

import json

from ..escape import plain
from ..files import ROOT
from ..numbers import digits
from .text import table

RESULTS = ROOT / "benchmarks" / "results"
HEAD = """\
# Speed: what the benchmarks measured

How long does a combination take, how many points a second do the laws give, and how does that \
compare with papermill's own engine and with other tools?
A ratio is of two figures of one run, taken by turns; seconds are those of one machine on one day.
**Compare ratios, not seconds.**
"""
GROUPS = {
    "engine": (
        "The notebooks",
        "Copies of one notebook, executed whole by papermill with each engine in turn; "
        "outputs are the same cell by cell, which `tests/test_engine.py` checks.",
    ),
    "laws": (
        "The laws",
        "One compiled function computes all metrics of a scenario, over numbers or arrays; "
        "processor time of one core.",
    ),
    "import": (
        "Imports",
        "Processor time of a new process, the interpreter's own start taken off; "
        "proofs that stand on disk are not made again.",
    ),
    "keys": (
        "What changed",
        "What a sweep does before it runs anything; seconds of one core.",
    ),
    "sweep": (
        "The sweep",
        "Combinations executed by `inferecon sweep`, the start of its processes taken off; "
        "a Dask cluster of as many workers does the same ones after.",
    ),
    "results": (
        "The dataset",
        "Combinations with the numbers of a few hundred computed ones, each times a factor of its "
        "own; the questions are those that the report asks, each asked three times.",
    ),
    "book": (
        "The report",
        "`inferecon build` in a checkout whose report is built, by the clock.",
    ),
    "pages": (
        "The pages",
        "Until charts are drawn and answers stand there, in a Chromium with an empty cache, from "
        "a server on the same machine, by the clock; each beside a page of text in the same run.",
    ),
    "simulate": (
        "The simulator",
        "One replica under continuous batching; processor time of one core, the table of step "
        "times included, and the most memory that its process ever held.",
    ),
    "estimate": (
        "Other tools",
        "Each was run in its own environment on measured rows that it covers, and asked twice; "
        "the second time counts, and the interval is its middle half. "
        "They give one figure for a question, ours gives all metrics; "
        "none of ours is that of a sweep, whose points are faster by far.",
    ),
}
NAMES = {"x": "×", "point/s": "points/s"}


def editions() -> list[dict]:
    """Return what `make bench` wrote, the newest last."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))]


def speed_page() -> str:
    """Return the page; it holds no figure that the newest file does not."""
    return page(editions())


def page(found: list[dict]) -> str:
    if not found:
        return "\n".join([HEAD, "Nothing is on file: run `make bench`.", ""])
    *before, now = found
    old = before[-1] if before else {"results": {}}
    text = [HEAD, *where(now), ""]
    if before:
        text += [f"The edition before was measured on {old['date']}.", ""]
    known = now["results"]
    for group in dict.fromkeys([*GROUPS, *(name.partition(".")[0] for name in known)]):
        names = [name for name in known if name.partition(".")[0] == group]
        if not names:
            continue
        title, words = GROUPS.get(group, (group.capitalize(), ""))
        rows = [row(known[name], old["results"].get(name)) for name in names]
        head = ["what", "median or best", "from", "to", "unit", "before"]
        text += [f"## {title}", "", words, "", *table(head, rows)]
    return "\n".join(text)


def where(now: dict) -> list[str]:
    """Say on what machine, when and how the figures were measured."""
    machine, versions = now["machine"], now["versions"]
    listed = ", ".join(f"{plain(name)} {plain(v)}" for name, v in versions.items())
    return [
        f"Measured on {plain(now['date'])} at commit `{now['commit']}` by `{now['command']}` on "
        f"{machine['cores']} cores of {plain(machine['processor'])}, "
        f"{machine['memory_gib']} GiB, {plain(machine['system'])}, "
        f"Python {plain(machine['python'])}: {listed}.",
        "The file is in `benchmarks/results/`; the command prints the same figures for your "
        "machine and what became of them since.",
    ]


def row(result: dict, old: dict | None) -> list[str]:
    """Return the line of one figure."""
    ends = ["–" if result[end] is None else digits(result[end]) for end in ("low", "high")]
    unit = NAMES.get(result["unit"], result["unit"])
    return [
        plain(result["says"]),
        digits(result["value"]),
        *ends,
        unit,
        digits(old["value"]) if old else "–",
    ]
