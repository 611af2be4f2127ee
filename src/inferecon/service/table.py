"""A CSV of requests: one line each, times in seconds or in the unit that a column's name ends in.

Columns are arrival, first_token, last_token, input_tokens, output_tokens and, if there are any,
gaps: the times between tokens, spaces between them; or longest_gap alone.
"""

import math
import re
from pathlib import Path

import numpy as np

from ..errors import BadInput, nearest
from ..opening import table
from .log import Log, joined

NEEDED = ("arrival", "first_token", "last_token", "input_tokens", "output_tokens")
OPTIONAL = ("gaps", "longest_gap")
TIMES = (*NEEDED[:3], *OPTIONAL)
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
WHOLE = 10**9  # tokens: no request comes near


def read_table(path: Path) -> Log:
    """Return the requests of a CSV; a line without a last token is a request that failed.

    Raises BadInput with the line for a cell that cannot be read.
    """
    with table(path) as (head, reader):
        head = [cell.lower() for cell in head]
        columns = _columns(path.name, head)
        rows, gaps, worst, places, others = [], [], [], [], []
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            place = f"line {reader.line_num}"
            if len(cells) != len(head):
                raise BadInput(
                    f"{path.name}, {place}, has {len(cells)} cells, its head has {len(head)}"
                )
            at = f"{path.name}, {place}"
            if not cells[columns["last_token"][0]].strip():
                known = cells[columns["arrival"][0]].strip()
                others.append(_cell(at, "arrival", cells, columns) if known else math.nan)
                continue
            rows.append([_cell(at, name, cells, columns) for name in NEEDED])
            if "gaps" in columns:
                gaps.append(_gaps(at, cells, columns))
            elif "longest_gap" in columns:
                worst.append(_cell(at, "longest_gap", cells, columns))
            places.append(place)
    arrival, first, last, isl, osl = np.array(rows, float).reshape(len(rows), 5).T
    flat, bounds = joined(gaps) if "gaps" in columns else (np.empty(0), np.empty(0, int))
    return Log(
        kind="CSV",
        places=places,
        arrival=arrival,
        ttft=first - arrival,
        e2e=last - arrival,
        isl=isl,
        osl=osl,
        gaps=flat,
        bounds=bounds,
        worst=np.array(worst, float),
        others=np.array(others, float),
    )


def _columns(name: str, head: list[str]) -> dict[str, tuple[int, float]]:
    """Return the place of each column, and how many seconds one of its unit is."""
    found: dict[str, tuple[int, float]] = {}
    for place, cell in enumerate(head):
        split = re.fullmatch(r"(.+)_(ns|us|ms|s)", cell)
        base, unit = (split[1], split[2]) if split and split[1] in TIMES else (cell, "s")
        if base in (*NEEDED, *OPTIONAL):
            if base in found:
                raise BadInput(f"{name} has the column {base!r} twice")
            found[base] = (place, UNITS[unit] if base in TIMES else 1.0)
    for base in NEEDED:
        if base not in found:
            raise BadInput(f"{name} has no column {base!r}{nearest(base, head)}")
    return found


def _cell(at: str, name: str, cells: list[str], columns: dict) -> float:
    place, factor = columns[name]
    text = cells[place].strip()
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadInput(f"{at}: {name} is {text[:40]!r}, no number")
    if name.endswith("tokens") and not (value.is_integer() and 0 <= value <= WHOLE):
        raise BadInput(f"{at}: {name} is {text[:40]!r}, no count of tokens")
    if name == "longest_gap" and value < 0:
        raise BadInput(f"{at}: longest_gap is below zero")
    if name == "output_tokens" and value < 1:
        raise BadInput(f"{at}: a request that ended has at least one output token")
    return value * factor


def _gaps(at: str, cells: list[str], columns: dict) -> np.ndarray:
    place, factor = columns["gaps"]
    try:
        found = np.array([float(one) for one in cells[place].split()]) * factor
    except ValueError:
        found = np.array([math.nan])
    if not np.isfinite(found).all() or (found < 0).any():
        raise BadInput(f"{at}: gaps must be times, spaces between them")
    return found
