"""Which figures of the pages open no box, and which need none, as ``numerals.js`` says.

``LEFT`` has for a page how many pieces of its text hold such a figure.  A new one fails, and so
does one that got its box, until its line here is gone.
"""

from functools import cache
from pathlib import Path

from inferecon.records import ids, load

SCRIPT = (Path(__file__).parent / "numerals.js").read_text(encoding="utf-8")
# Lists of what was read: their numerals are years, volumes and names of files.
LISTS = ("references.html", "data/sources.html")
# Answers to what a reader asks, computed in the page, with the commands that give them again.
LIVE = ("calculator.html", "explorer.html")
LEFT = {
    # inputs, shapes of a model and thresholds, as prose by hand names them
    "arithmetic.html": 3,
    "cache.html": 2,
    "communication.html": 5,
    "glossary.html": 3,
    "hardware/index.html": 1,
    "latency.html": 1,
    "laws.html": 5,
    "load.html": 1,
    "parameters.html": 3,
    "sweeps.html": 1,
    "traffic.html": 3,
    # figures of a document or a source that the sentence names
    "calibration.html": 1,
    "chapters/tiers.html": 3,
    "cost.html": 1,
    "data/assumptions.html": 1,
    "edge.html": 1,
    "memory.html": 1,
    "quantisation.html": 3,
    "service.html": 2,
    "speculation.html": 2,
    # what was chosen for a simulation, a table or a benchmark
    "reference/planning.html": 3,
    "reference/serving.html": 2,
    "reference/speed.html": 1,
    "reference/validation.html": 3,
    # a ratio of two numbers that stand beside it
    "energy.html": 1,
}


@cache
def names() -> list[str]:
    """Return the names of models and devices, the longest first: one may begin with another."""
    found = {load(kind, id).name for kind in ("models", "hardware") for id in ids(kind)}
    return sorted(found, key=lambda name: (-len(name), name))


def alone(opened) -> list[str]:
    """Return the pieces of an open page's text that hold figures without a box."""
    return opened.evaluate(SCRIPT, names())
