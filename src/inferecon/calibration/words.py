"""How a validation is told: a text for the terminal, a table for a file."""

import os
from pathlib import Path

import pandas as pd

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
    return f"{name[:33]:<34}{score['n']:>7,}" + "".join(f"{cell:>9.1%}" for cell in cells)


def write_rows(rows: pd.DataFrame, path: Path) -> None:
    """Write one line a row, whole or not at all."""
    said = rows[COLUMNS].copy()
    said["covered"] = said.covered.map({True: "true", False: "false"})
    for column in ("id", "metric", "reason"):
        said[column] = [f"'{cell}" if cell.startswith(FORMULA) else cell for cell in said[column]]
    part = path.with_name(path.name + ".part")
    try:
        said.to_csv(part, index=False, lineterminator="\n", float_format="%.8g")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


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
