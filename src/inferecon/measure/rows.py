"""Measured points as rows of the schema of ``data/truth/lab_h200.csv``, in a file that can grow.

The file is written whole or not at all after each point, so an interrupted run
loses the point it was at and nothing else.
"""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

from ..errors import BadInput
from .plan import Point
from .shapes import Model

COLUMNS = (
    "id metric value unit model weight_dtype act_dtype kv_dtype hardware n_gpus tp pp ep "
    "batch_or_concurrency context isl engine source source_locator date notes tier license part"
).split()
SOURCE = "measured with inferecon measure"
METRICS = {  # phase: (time, energy)
    "decode": ("decode_step_ms", "energy_per_step_J"),
    "prefill": ("ttft_ms", "prefill_energy_J"),
}
POWER = "avg_power_W"


@dataclass(frozen=True)
class Reading:
    """What one point gave: seconds (median, mean), watt of the board (NaN unknown), repeats."""

    median: float
    mean: float
    watt: float
    repeats: int


@dataclass(frozen=True)
class Where:
    """What all rows of a run share."""

    model: Model
    hardware: str
    pytorch: str  # version
    date: str
    layers: int = 0  # asked for; 0 for as many as fit

    def key(self, point: Point) -> str:
        """Name of a point in the file: what a later run looks for."""
        some = f"-l{self.layers}" if self.layers else ""
        return f"measure-{self.hardware}-{self.model.id}-{point.name}{some}"


def rows(where: Where, point: Point, reading: Reading, part: str, notes: str) -> list[dict]:
    """Return the rows of a point: time, and energy and power where a counter was read."""
    decode = point.phase == "decode"
    clock, energy = METRICS[point.phase]
    figures = [(clock, reading.median * 1e3, "ms")]
    if reading.watt == reading.watt:
        figures += [(energy, reading.watt * reading.mean, "J"), (POWER, reading.watt, "W")]
    how = "CUDA graphs" if decode else "eager"
    sixteen = "fp16" if point.format == "fp16" else "bf16"
    shared = {
        "model": where.model.id,
        "weight_dtype": point.format,
        "act_dtype": point.format,
        "kv_dtype": sixteen,
        "hardware": where.hardware,
        **dict.fromkeys(("n_gpus", "tp", "pp", "ep"), 1),
        "batch_or_concurrency": point.batch,
        "context": point.context if decode else "",
        "isl": "" if decode else point.context,
        "engine": f"PyTorch {where.pytorch} {how}",
        "source": SOURCE,
        "source_locator": "",
        "date": where.date,
        "notes": f"{notes}; n={reading.repeats}",
        "tier": "A",
        "license": "own",
        "part": part,
    }
    key = where.key(point)
    return [
        {"id": f"{key}-{metric}", "metric": metric, "value": f"{value:.6g}", "unit": unit, **shared}
        for metric, value, unit in figures
    ]


def read(path: Path) -> list[dict]:
    """Return the rows of an earlier run, none if there is no file.

    Raises BadInput for a file that is not one of these: it is never overwritten.
    """
    if not path.exists():
        if not path.parent.is_dir():
            raise BadInput(f"--out: no folder {str(path.parent)!r}")
        return []
    try:
        with path.open(newline="", encoding="utf-8") as file:
            head, *lines = csv.reader(file, strict=True)
    except (csv.Error, UnicodeDecodeError, IsADirectoryError, ValueError):
        head, lines = [], []
    if head != COLUMNS or any(len(line) != len(COLUMNS) for line in lines):
        raise BadInput(
            f"--out: {path} exists and is no table of inferecon measure; name another file"
        )
    return [dict(zip(COLUMNS, line, strict=True)) for line in lines]


def done(found: list[dict], where: Where, point: Point) -> bool:
    """Say whether a point's time is in the file."""
    return any(row["id"] == f"{where.key(point)}-{METRICS[point.phase][0]}" for row in found)


def write(path: Path, found: list[dict]) -> None:
    """Write all rows, whole or not at all."""
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(found)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
