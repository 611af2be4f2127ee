"""What the result of a notebook depends on, kept part by part so that a change can be named.

A key is a fingerprint of named parts: ``{"record": {"data/models/phi-2.yaml": hash}, ...}``.
Another kind of input is one more kind of part, with a line in ``NOW`` and one in ``changes``.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import NamedTuple

from . import uses
from .calibration import constants
from .errors import BadInput
from .files import ROOT
from .laws import SERVICE
from .records import Record, file_of, load
from .symbols import SYMBOLS

ABSENT = "absent"
LONGEST = 3  # changes of a kind that are named before the rest is counted


class Group(NamedTuple):
    """Parts of one kind by name, and their fingerprint; jobs share the groups they agree on."""

    digest: str
    items: Mapping[str, str]


Parts = Mapping[str, Group]


def group(items: Mapping[str, object]) -> Group:
    """Return parts with their fingerprint."""
    written = {n: item if isinstance(item, str) else repr(item) for n, item in items.items()}
    return Group(uses.sha("\n".join(f"{n}={written[n]}" for n in sorted(written))), written)


def key(parts: Parts) -> str:
    """Return the fingerprint of everything."""
    text = " ".join(f"{kind}:{parts[kind].digest}" for kind in sorted(parts))
    return hashlib.sha256(text.encode()).hexdigest()[:24]


# What changed --------------------------------------------------------------------------------


def changes(old: Mapping[str, Mapping[str, str]], new: Parts) -> str:
    """Say what differs between two keys, in the words of whoever made the change."""
    found = []
    for kind in sorted(old.keys() | new.keys()):
        before = old.get(kind)
        after = new[kind].items if kind in new else {}
        if before is None:
            found.append(f"a {kind} changed")
            continue
        differing = [n for n in sorted(before.keys() | after.keys())
                     if before.get(n) != after.get(n)]  # fmt: skip
        said = [_change(kind, n, before.get(n), after.get(n)) for n in differing[:LONGEST]]
        more = len(differing) - len(said)
        found += [*said, *([f"{more} more of kind {kind} changed"] if more else [])]
    return "; ".join(found)


def _change(kind: str, name: str, before: str | None, after: str | None) -> str:
    what = {"law": f"law {name}", "symbol": f"symbol {name}", "module": f"module {name}"}
    said = what.get(kind, name)
    if before in (None, ABSENT):
        return f"{said} {after} is new" if kind == "distribution" else f"{said} is new"
    if after in (None, ABSENT):
        return f"{said} is gone" if kind in FILES else f"{said} is no longer used"
    return f"{said} {before} → {after}" if kind in SHOWN else f"{said} changed"


FILES = ("record", "notebook", "file", "constants")
SHOWN = ("parameter", "distribution")  # kinds whose values say more than a hash


# The same parts in another place -------------------------------------------------------------


def record_now(name: str) -> str:
    """Hash of a record here, by the name of its file."""
    kind, id = name.removesuffix(".yaml").split("/")[-2:]
    try:
        return load(kind, id).hash
    except BadInput:
        return ABSENT


@cache
def _laws() -> dict[str, object]:
    from .laws.catalogue import BY_ID  # half a second that a sweep on one machine need not wait

    return BY_ID | {law.id: law for law in SERVICE.laws.values()}


def law_now(name: str) -> str:
    """Hash of a law here, by its id."""
    return uses.law_hash(_laws()[name]) if name in _laws() else ABSENT


def file_now(name: str) -> str:
    """Hash of a file here, by its name in the checkout."""
    path = ROOT / name
    return uses.sha(path.read_bytes()) if path.is_file() else ABSENT


def constants_now(name: str) -> str:
    """Hash of a file of the constants in use, wherever they are."""
    path = constants.FOLDER / Path(name).name
    return uses.sha(path.read_bytes()) if path.is_file() else ABSENT


def version_now(name: str) -> str:
    """Version of a distribution here."""
    try:
        return uses.version(name)
    except PackageNotFoundError:
        return ABSENT


NOW: dict[str, Callable[[str], str]] = {
    "record": record_now,
    "law": law_now,
    "module": lambda name: uses.module_hash(name) if uses.file_of(name) else ABSENT,
    "symbol": lambda name: uses.symbol_hash(name) if name in SYMBOLS else ABSENT,
    "distribution": version_now,
    "file": file_now,
    "constants": constants_now,
}


_agreed: set[str] = set()  # digests of groups that were compared, and were equal


def differences(parts: Parts) -> str:
    """Say what of a key is otherwise in this checkout; empty if it is the same edition.

    The notebook and its parameters travel with a job, so they are not compared.
    """
    said = []
    for kind, expected in parts.items():
        if kind not in NOW or expected.digest in _agreed:
            continue
        here = group({name: NOW[kind](name) for name in expected.items})
        if here.digest == expected.digest:
            _agreed.add(expected.digest)
        else:
            said.append(changes({kind: expected.items}, {kind: here}))
    return "; ".join(said)


# Records -------------------------------------------------------------------------------------


def records(found, expected: Mapping[str, str] = {}) -> Group:  # noqa: B006
    """Return records as parts; ``expected`` holds files whose appearance would matter."""
    return group({**expected, **dict(map(_named, found))})


_names: dict[int, tuple[Record, str]] = {}  # a record is read once and lives as long as the process


def _named(record: Record) -> tuple[str, str]:
    """Return the file of a record and the hash of its content."""
    known = _names.get(id(record))
    if known is None:
        known = _names[id(record)] = record, file_of(record)
    return known[1], record.hash


CONSTANTS = ("constants.csv", "cells.csv", "scatter.csv")  # what predictions are made with


def constants_in_use() -> Group:
    """Return the constants as parts; a copy of them elsewhere is the same input."""
    names = [f"data/calibration/{name}" for name in CONSTANTS]
    return group({name: constants_now(name) for name in names})


def files(paths: Iterable[Path]) -> Group:
    """Return files that are no records as parts, by their content; an absent one is a part, too."""
    inside = [path.relative_to(ROOT) if path.is_relative_to(ROOT) else path for path in paths]
    return group({path.as_posix(): file_now(path.as_posix()) for path in inside})
