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
from .numbers import DIGITS

EDITION = "2026.12"
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


def write_dataset(path: Path, found: dict[str, dict]) -> int:
    """Write grid points of all combinations as one Parquet file; return the number of rows.

    A combination that does not run has one row that says why.
    """
    rows, units = [], {}
    for id in sorted(found):
        item = found[id]
        grid = item.get("grid", {"columns": [], "rows": [], "units": {}})
        units |= grid["units"]
        fixed = {"combination": id, **{name: item["parameters"].get(name) for name in CHOICES}}
        fixed |= {
            "obstacle": "; ".join(item.get("obstacles", [])) or None,
            "edition": edition(),
            "records": json.dumps(item.get("records", {}), sort_keys=True),
        }
        points = grid["rows"] or [[None] * len(grid["columns"])]
        rows += [{**fixed, **dict(zip(grid["columns"], point, strict=True))} for point in points]
    table = pa.Table.from_pylist(rows, schema=_schema(units))
    temporary = path.with_suffix(".part")
    pq.write_table(table, temporary, compression="zstd")
    os.replace(temporary, path)
    return table.num_rows


def _schema(units: dict[str, str]) -> pa.Schema:
    text = ("combination", "model", "hardware", "weights", "activations", "kv", "grid", "provider")
    fields = [pa.field(name, pa.string()) for name in text]
    fields += [pa.field(name, pa.int64()) for name in ("tp", "ep", "osl", "batch", "isl")]
    fields += [
        pa.field(name, pa.float64(), metadata={"unit": unit})
        for name, unit in units.items()
        if name not in ("batch", "isl")
    ]
    fields += [pa.field(name, pa.string()) for name in ("obstacle", "edition", "records")]
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
