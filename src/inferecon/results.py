"""Published numbers by their full id, and the edition they belong to."""

import csv
import hashlib
import io
import math
import os
from functools import cache
from pathlib import Path

import sympy as sp

from .errors import BadInput
from .laws.catalogue import LAWS
from .numbers import DIGITS

EDITION = "2026.12"


@cache
def edition() -> str:
    """Edition of the report and fingerprint of its laws."""
    text = "\n".join(f"{law.id} {sp.srepr(law.eq)} {law.holds} {law.counts}" for law in LAWS)
    return f"{EDITION}+{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def numbers_of(id: str, found: dict) -> dict[str, tuple[float | None, str]]:
    """Published numbers of one notebook by full id."""
    numbers = {f"{id}:{symbol}": (value, unit) for symbol, value, unit in found.get("numbers", [])}
    numbers |= {f"{id}@full:{symbol}": (v, unit) for symbol, v, unit in found.get("full", [])}
    return numbers | {full: tuple(item) for full, item in found.get("named", {}).items()}


def write_numbers(path: Path, numbers: dict[str, tuple[float | None, str]]) -> bool:
    """Write the published numbers, sorted; say whether the file changed."""
    return replace_text(path, numbers_text(numbers))


def numbers_text(numbers: dict[str, tuple[float | None, str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["id", "value", "unit"])
    for id in sorted(numbers):
        value, unit = numbers[id]
        writer.writerow([id, "" if value is None else f"{value:.{DIGITS}g}", unit])
    return out.getvalue()


def read_numbers(path: Path) -> dict[str, tuple[float | None, str]]:
    """Read a file of published numbers; an absent file holds none."""
    if not path.exists():
        return {}
    found = {}
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    except UnicodeDecodeError as error:
        raise BadInput(f"{path.name} is no text: {error}") from error
    for line, row in enumerate(rows, 2):
        try:
            found[row["id"]] = (float(row["value"]) if row["value"] else None, row["unit"])
        except (KeyError, ValueError, TypeError):
            raise BadInput(f"{path.name} line {line}: expected id, number, unit") from None
    return found


def moved(old: dict, new: dict) -> list[str]:
    """Return one line for every number that appeared, vanished or moved."""

    def same(a, b):
        if a is None or b is None or a[1] != b[1]:
            return False
        if a[0] is None or b[0] is None:
            return a[0] is b[0]
        return math.isclose(a[0], b[0], rel_tol=1e-9)

    def said(item):
        if item is None:
            return "absent"
        return "missing" if item[0] is None else f"{item[0]:g} {item[1]}".strip()

    return [
        f"{id}: {said(old.get(id))} -> {said(new.get(id))}"
        for id in sorted(old.keys() | new.keys())
        if not same(old.get(id), new.get(id))
    ]


def replace_text(path: Path, text: str) -> bool:
    """Write a text file whole or not at all; leave it alone, clock included, if it is the same."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
    return True
