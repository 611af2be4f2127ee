"""How a validation is told: a text for the terminal, a table for a file."""

import math
import os
import tempfile
from pathlib import Path

import pandas as pd

from ..errors import BadInput
from ..numbers import digits
from .validate import BY, COLUMNS

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would run a cell that starts so


def as_text(found: dict) -> str:
    """Return coverage, errors by each way to group, and why rows were left out."""
    share = found["covered"] / max(found["rows"], 1)
    lines = [f"{found['covered']:,} of {found['rows']:,} rows predicted ({share:.1%})"]
    if found["all"]["n"]:
        lines += ["", head("all rows"), line("", found["all"])]
        plain = found["without a flag"]
        if 0 < plain["n"] < found["all"]["n"]:
            lines += [line("without a flag", plain)]
    for name in BY:
        groups = found["by"][name]
        if groups:
            lines += ["", head(name)]
            lines += [line(key, groups[key]) for key in sorted(groups)]
    if found["reasons"]:
        lines += ["", "not predicted"]
        lines += [f"{count:>7,}  {reason}" for reason, count in found["reasons"].items()]
    return "\n".join(lines)


def head(name: str) -> str:
    return f"{name:<34}{'n':>7}{'median':>9}{'MAPE':>9}{'bias':>9}{'p90':>9}{'in 90 %':>9}"


def line(name: str, score: dict) -> str:
    cells = (score[key] for key in ("median", "mape", "bias", "p90", "inside"))
    return f"{name[:33]:<34}{score['n']:>7,}" + "".join(f" {share(cell):>8}" for cell in cells)


def share(value: float) -> str:
    """A share in percent; what is no number or beyond all bounds is said so."""
    if not math.isfinite(value):
        return "–"
    return f"{value:.1%}" if value < 100 else "> 9999%"


def writable(path: Path, read_from: Path | None = None) -> Path:
    """Return the place of a file to write, links followed.

    Raises BadInput for a place that is no file, or the file the rows were read from.
    """
    whole = path.resolve()
    if not path.name or path.is_dir():
        raise BadInput(f"--out {str(path)!r} is a folder: name a file")
    if whole.exists() and not whole.is_file():
        raise BadInput(f"--out {str(path)!r} is no plain file")
    if not whole.parent.is_dir():
        raise BadInput(f"no folder {str(path.parent)!r} to write {path.name} into")
    if read_from is not None and read_from.exists():
        if whole.exists() and whole.samefile(read_from):
            raise BadInput(f"--out {str(path)!r} is the file that was read: name another")
    return whole


def write_rows(rows: pd.DataFrame, path: Path, read_from: Path | None = None) -> None:
    """Write one line a row, whole or not at all; counts keep all their digits."""
    whole = writable(path, read_from)
    said = rows[COLUMNS].copy()
    said["covered"] = said.covered.map({True: "true", False: "false"})
    for column in ("id", "metric", "reason"):
        said[column] = [f"'{cell}" if cell.startswith(FORMULA) else cell for cell in said[column]]
    handle, part = tempfile.mkstemp(dir=whole.parent, prefix=".", suffix=".part")
    os.close(handle)
    try:
        said.to_csv(part, index=False, lineterminator="\n", float_format="%.15g")
        os.chmod(part, 0o644)
        os.replace(part, whole)
    finally:
        Path(part).unlink(missing_ok=True)


def before_and_after(table: pd.DataFrame) -> str:
    """Return a reader's rows, measured and predicted with the old and the new constants."""
    names = table.id.where(table.id != "", table.metric)
    lines = [f"{'row':<34}{'measured':>12}{'before':>12}{'after':>12}"]
    for name, row in zip(names, table.itertuples(), strict=True):
        cells = (f"{digits(value):>12}" for value in (row.value, row.before, row.after))
        lines.append(f"{name[:33]:<34}" + "".join(cells))
    for column in ("before", "after"):
        gap = (table[column] / table.value - 1).abs().dropna()
        lines.append(f"median error {column}: {gap.median():.1%} of {len(gap)} rows")
    return "\n".join(lines)


def finite(found):
    """Return nested data with null for what JSON has no number for."""
    if isinstance(found, dict):
        return {key: finite(value) for key, value in found.items()}
    return None if isinstance(found, float) and not math.isfinite(found) else found
