"""What others may cite: the ids of laws, derivations and steps, kept for good.

``book/anchors.yaml`` lists every id that was ever published.  An id that no law
or derivation has any more fails the build, unless a redirect names the one that
took its place.  Numbers have their own list, the ledger.
"""

from functools import cache
from pathlib import Path

import yaml

from .files import ROOT
from .laws.catalogue import BY_ID, DERIVATIONS

ANCHORS = ROOT / "book" / "anchors.yaml"
HEAD = """\
# Every id of a law, a derivation and a step that was ever published, sorted.
# An id is never taken out: rename a law, and `redirects` says old: new.
# `make accept` adds new ones.
"""


def published() -> list[str]:
    """Return the ids that this edition has."""
    steps = (f"{id}/step {n}" for id, proof in DERIVATIONS.items() for n in _count(proof))
    return sorted([*BY_ID, *DERIVATIONS, *steps])


def _count(proof) -> range:
    return range(1, len(proof.steps) + 1)


def read(path: Path = ANCHORS) -> tuple[list[str], dict[str, str]]:
    """Return the ids on file, and the redirects from old ids to new ones; no file, none."""
    if not path.exists():
        return [], {}
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found["ids"], found.get("redirects") or {}


@cache
def redirects() -> dict[str, str]:
    return read()[1]


def text(ids: list[str], moved: dict[str, str]) -> str:
    """Write the file: the head, the ids one a line, the redirects."""
    kept = {"ids": sorted(ids), "redirects": moved}
    return HEAD + yaml.safe_dump(kept, sort_keys=False, width=1000)


def complaints(listed: list[str], moved: dict[str, str], now: list[str]) -> list[str]:
    """Return one sentence for each id that lost its place, and each redirect that leads nowhere."""
    has = set(now)
    found = [
        f"{id} was published and is gone: give it back, or name its successor in redirects"
        for id in listed
        if id not in has and id not in moved
    ]
    found += [
        f"redirect {old} -> {new}: there is no {new}"
        for old, new in moved.items()
        if new not in has
    ]
    found += [
        f"redirect {old} -> {new}: {old} still exists" for old, new in moved.items() if old in has
    ]
    return found


def slug(id: str) -> str:
    """Return the name of an id in an address: ``BATCH-FIT/step 2`` is ``batch-fit-step-2``."""
    return id.lower().replace("/step ", "-step-")


def label(id: str) -> str:
    """Return the anchor of an id on its page: ``law-itl``, ``derivation-batch-fit-step-2``."""
    return f"{'law' if id in BY_ID else 'derivation'}-{slug(id)}"
