"""Files of hours: what a service has to do in each, and what the grid emits in each."""

import math
import re
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from .errors import BadInput
from .opening import table

TIMES = ("hour", "time", "timestamp", "datetime", "datetime (utc)")
CURVES = re.compile(r"gco2e_per_kwh|grid_intensity|carbon intensity gco.*", re.I)
HOUR = timedelta(hours=1)
MOST = 24 * 366 * 2  # hours of a curve: two years


def curve(path: Path) -> tuple[list, np.ndarray, str]:
    """Return hours, emissions in gCO2e/kWh, and the name of their column.

    Raises BadInput for a file that has no curve, or one with a gap.
    """
    hours, intensity, column = read(path, CURVES.fullmatch, "gco2e_per_kwh")
    if len(hours) > MOST:
        raise BadInput(f"{path.name} has {len(hours):,} hours, at most {MOST:,} are taken")
    _consecutive(path, hours)
    return hours, intensity, column


def read(path: Path, wanted, names: str, alone: bool = False) -> tuple[list, np.ndarray, str]:
    """Return times, values and the name of the column that has them, the first or the only one."""
    with table(path) as (head, reader):
        low = [cell.lower() for cell in head]
        time = next((i for i, name in enumerate(low) if name in TIMES), None)
        found = [i for i, name in enumerate(low) if wanted(name)]
        if time is None or not found:
            raise BadInput(f"{path.name} needs a column hour and a column {names}")
        if alone and len(found) > 1:
            both = " and ".join(head[i] for i in found)
            raise BadInput(f"{path.name} has the columns {both}; leave one of them")
        value = found[0]
        times, values = [], []
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            place = f"{path.name}, line {reader.line_num}"
            try:
                times.append(_time(cells[time].strip()))
                values.append(float(cells[value]))
            except (ValueError, IndexError):
                raise BadInput(f"{place} is no hour and a number; nothing is filled in") from None
            if not 0 <= values[-1] < math.inf:
                raise BadInput(f"{place}: {cells[value]} is below zero or not finite")
    if not times:
        raise BadInput(f"{path.name} has no hours")
    return times, np.array(values), head[value]


def _time(text: str) -> int | datetime:
    """Return a number of the hour, or the hour of a date; minutes within it do not matter."""
    if re.fullmatch(r"\d+", text):
        return int(text)
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return moment.replace(minute=0, second=0, microsecond=0)


def written(time: int | datetime) -> str:
    return f"hour {time}" if isinstance(time, int) else time.isoformat(" ", "minutes")


def _consecutive(path: Path, hours: list) -> None:
    """Refuse a curve with a gap: nothing is filled in."""
    for one, other in zip(hours, hours[1:], strict=False):
        step = 1 if isinstance(one, int) else HOUR
        if type(one) is not type(other) or one + step != other:
            raise BadInput(
                f"{path.name}: after {written(one)} comes {written(other)}; a curve has every "
                "hour once, in order, and nothing is filled in"
            )
