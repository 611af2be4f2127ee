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
LEFT: dict[str, int] = {}


@cache
def names() -> list[str]:
    """Return the names of models and devices, the longest first: one may begin with another."""
    found = {load(kind, id).name for kind in ("models", "hardware") for id in ids(kind)}
    return sorted(found, key=lambda name: (-len(name), name))


def alone(opened) -> list[str]:
    """Return the pieces of an open page's text that hold figures without a box."""
    return opened.evaluate(SCRIPT, names())
