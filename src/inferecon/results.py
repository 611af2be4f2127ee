"""The dataset: one row a combination and grid point, read back from executed notebooks.

Units stand in the schema, records and edition beside every row, so a file that
travels alone still says what it holds and what it rests on.
"""

import csv
import hashlib
import io
import json
import math
import os
from functools import cache
from pathlib import Path

import nbformat
import pyarrow as pa
import pyarrow.parquet as pq
import sympy as sp

from .book import published
from .errors import BadInput
from .laws.catalogue import LAWS
from .numbers import DIGITS, KNOWN, Number

EDITION = "2026.12"
LEDGER = ("id", "value", "unit", "low", "high", "known")
NO_GRID = {"columns": [], "rows": [], "units": {}}
CHOICES = (
    "model",
    "hardware",
    "weights",
    "activations",
    "kv",
    "tp",
    "ep",
    "osl",
    "grid",
    "provider",
)


@cache
def edition() -> str:
    """Edition of the report and fingerprint of its laws."""
    text = "\n".join(f"{law.id} {sp.srepr(law.eq)} {law.holds} {law.counts}" for law in LAWS)
    return f"{EDITION}+{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def read(path: Path) -> dict:
    """Return what one executed notebook published, with its parameters."""
    notebook = nbformat.read(path, as_version=4)
    return {**published(notebook), "parameters": notebook.metadata["inferecon"]["parameters"]}


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


# The dataset -----------------------------------------------------------------------------------


def write_dataset(path: Path, found: dict[str, dict]) -> int:
    """Write grid points of all combinations as one Parquet file; return the number of rows.

    A combination that does not run has one row that says why.
    """
    rows, units, predicted = [], {}, {}
    for id in sorted(found):
        item = found[id]
        grid, forecast = item.get("grid", NO_GRID), item.get("predicted", {})
        beside = forecast.get("grid", NO_GRID)
        units |= grid["units"]
        predicted |= beside["units"]
        fixed = {"combination": id, **{name: item["parameters"].get(name) for name in CHOICES}}
        fixed |= {
            "obstacle": "; ".join(item.get("obstacles", [])) or None,
            "edition": edition(),
            "records": json.dumps(item.get("records", {}), sort_keys=True),
            "engine": forecast.get("engine"),
            "unpredicted": forecast.get("reason") or None,
            "constants": forecast.get("constants"),
        }
        said = {tuple(row[:2]): row for row in beside["rows"]}
        points = grid["rows"] or [[None] * len(grid["columns"])]
        for point in points:
            of = said.get(tuple(point[:2]), point[:2])
            cells = dict(zip(beside["columns"], of, strict=False))
            rows.append({**fixed, **cells, **dict(zip(grid["columns"], point, strict=True))})
    table = pa.Table.from_pylist(rows, schema=_schema(units | predicted))
    temporary = path.with_suffix(".part")
    pq.write_table(table, temporary, compression="zstd")
    os.replace(temporary, path)
    return table.num_rows


def _schema(units: dict[str, str]) -> pa.Schema:
    """Return names and types of all columns; a column that is a quantity has its unit."""
    text = ("combination", "model", "hardware", "weights", "activations", "kv", "grid", "provider")
    fields = [pa.field(name, pa.string()) for name in text]
    fields += [pa.field(name, pa.int64()) for name in ("tp", "ep", "osl", "batch", "isl")]
    fields += [
        pa.field(name, pa.float64(), metadata={"unit": unit})
        for name, unit in units.items()
        if name not in ("batch", "isl")
    ]
    last = ("known", "engine", "unpredicted", "constants", "obstacle", "edition", "records")
    fields += [pa.field(name, pa.string()) for name in last]
    return pa.schema(fields, metadata={"edition": edition(), "units": json.dumps(units)})


def replace_text(path: Path, text: str) -> bool:
    """Write a text file whole or not at all; leave it alone, clock included, if it is the same."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
    return True
