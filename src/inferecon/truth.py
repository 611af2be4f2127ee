"""Measured rows on file as a reader asks for them: by id, with source, licence and predictions."""

import csv
from functools import cache
from pathlib import Path

from .errors import BadInput, nearest
from .files import DATA

FILES = ("timing", "energy", "lab_h200", "services")
HELD_OUT = DATA / "calibration" / "held_out.csv"
WAYS = ("row", "cell", "model", "card", "engine")  # columns of HELD_OUT


def rows() -> list[dict[str, str]]:
    """Return all measured rows, as their files have them."""
    return [row for name in FILES for row in _read(DATA / "truth" / f"{name}.csv")]


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def licences() -> dict[str, str]:
    """Return licence and dates of each source of measured rows, by its name."""
    terms: dict[str, set[str]] = {}
    dates: dict[str, set[str]] = {}
    for row in rows():
        terms.setdefault(row["source"], set()).add(row["license"])
        dates.setdefault(row["source"], set()).add(row["date"])
    return {
        name: f"licence: {'; '.join(sorted(terms[name]))}; dated {_between(dates[name])}"
        for name in sorted(terms)
    }


def _between(dates: set[str]) -> str:
    first, last = min(dates), max(dates)
    return first if first == last else f"{first} to {last}"


def shown(id: str) -> list[dict[str, str]]:
    """Return what is on file of a row, a figure each; raise BadInput for an unknown id.

    ``predicted without its ...`` are the figures of constants fitted without the row, or without
    all that share this with it.
    """
    known = rows()
    found = [row for row in known if row["id"] == id]
    if not found:
        raise BadInput(f"no measured row {id!r}{nearest(id, {row['id'] for row in known})}")
    held = {row["metric"]: row for row in _read(HELD_OUT) if row["id"] == id}
    return [_told(row, held.get(row["metric"], {})) for row in found]


def _told(row: dict[str, str], held: dict[str, str]) -> dict[str, str]:
    told = {key: text for key, text in row.items() if text}
    return told | {f"predicted without its {way}": held[way] for way in WAYS if held.get(way)}


def as_text(found: list[dict[str, str]]) -> str:
    """Return the same for a terminal."""
    lines = []
    for row in found:
        value = " ".join(filter(None, (row["value"], row.get("unit", ""))))
        lines.append(f"{row['id']}: {row['metric']} = {value}")
        rest = {k: v for k, v in row.items() if k not in ("id", "metric", "value", "unit")}
        lines += [f"    {key}: {text}" for key, text in rest.items()]
    return "\n".join(lines)
