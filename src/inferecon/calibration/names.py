"""Which record stands for a name that a source of measurements uses.

The table is ``data/truth/names.yaml``; its head says how a name is brought into
normal form.
"""

import re
from functools import cache

import yaml

from ..files import DATA
from ..records import ids


@cache
def table() -> dict:
    return yaml.safe_load((DATA / "truth" / "names.yaml").read_text(encoding="utf-8"))


@cache
def record_of(kind: str, name: str) -> str | None:
    """Return the id in data/``kind`` that a name stands for, None if no record does."""
    known, named = set(ids(kind)), table()[kind]
    for form in (plain(name), normal(name)):
        if form in named:
            return named[form]["record"]
        if form in known:
            return form
    return None


def plain(name: str) -> str:
    """Lower case, hyphens, no organisation."""
    return re.sub(r"[\s_]+", "-", name.strip().lower()).rpartition("/")[2]


def normal(name: str) -> str:
    """Leave out what makes no difference to shapes: makers before it, tunings after it."""
    words = plain(name).split("-")
    while len(words) > 1 and words[0] in table()["lead"]:
        words = words[1:]
    first, *others = words
    kept = [word for word in others if word not in table()["drop"]]
    return "-".join([table()["spell"].get(first, first), *kept])
