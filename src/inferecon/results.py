"""Published numbers by their full id."""

import csv
import io
import math
from pathlib import Path

from .errors import BadInput
from .numbers import DIGITS, KNOWN, Number

LEDGER = ("id", "value", "unit", "low", "high", "known")


def numbers_of(id: str, found: dict) -> dict[str, Number]:
    """Published numbers of one notebook by full id."""
    predicted = found.get("predicted", {"engine": "", "numbers": []})
    listed = {id: found.get("numbers", []), f"{id}@full": found.get("full", [])}
    listed[f"{id}@{predicted['engine']}"] = predicted["numbers"]
    numbers = {
        f"{case}:{symbol}": Number(*figures)
        for case, lines in listed.items()
        for symbol, *figures in lines
    }
    return numbers | {full: Number(*item) for full, item in found.get("named", {}).items()}


def numbers_text(numbers: dict[str, Number]) -> str:
    """Return the ledger: ``low``, ``high`` and ``known`` are empty for what is derived."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(LEDGER)
    for id in sorted(numbers):
        value, unit, low, high, known = numbers[id]
        cells = ("" if x is None else f"{x:.{DIGITS}g}" for x in (value, low, high))
        value, low, high = cells
        writer.writerow([id, value, unit, low, high, known])
    return out.getvalue()


def read_numbers(path: Path) -> dict[str, Number]:
    """Read a file of published numbers; an absent file holds none.

    Raises BadInput, with the line, for a row that is no number or no whole prediction.
    """
    if not path.exists():
        return {}
    found = {}
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    except UnicodeDecodeError as error:
        raise BadInput(f"{path.name} is no text: {error}") from error
    for line, row in enumerate(rows, 2):
        try:
            found[row["id"]] = _read(row)
        except (KeyError, ValueError, TypeError):
            raise BadInput(f"{path.name} line {line}: expected {', '.join(LEDGER)}") from None
    return found


def _read(row: dict[str, str]) -> Number:
    """Read a line; a file without the last three columns holds derived numbers alone."""
    known = row.get("known") or ""
    value, low, high = (
        float(cell) if cell else None for cell in (row["value"], row.get("low"), row.get("high"))
    )
    if (value is None or low is None or high is None) if known else (low, high) != (None, None):
        raise ValueError(f"no interval, or nobody says how it is known: {row}")
    if known not in ("", *KNOWN):
        raise ValueError(f"known as {known}")
    return Number(value, row["unit"], low, high, known)


def moved(old: dict[str, Number], new: dict[str, Number]) -> list[str]:
    """Return one line for every number that appeared, vanished or moved, interval included."""
    return [
        f"{id}: {_said(old.get(id))} -> {_said(new.get(id))}"
        for id in sorted(old.keys() | new.keys())
        if not _same(old.get(id), new.get(id))
    ]


def _same(a: Number | None, b: Number | None) -> bool:
    if a is None or b is None or (a.unit, a.known) != (b.unit, b.known):
        return False
    pairs = ((a.value, b.value), (a.low, b.low), (a.high, b.high))
    return all(
        x is y if x is None or y is None else math.isclose(x, y, rel_tol=1e-9) for x, y in pairs
    )


def _said(number: Number | None) -> str:
    if number is None:
        return "absent"
    if number.value is None:
        return "missing"
    between = "" if number.low is None else f" ({number.low:g} to {number.high:g}, {number.known})"
    return f"{number.value:g} {number.unit}".strip() + between
