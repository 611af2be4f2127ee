"""When should work that can wait be done?  In the hours of the least emissions before it is due.

Work of an hour may run in that hour or in one of the next few; an hour holds so much of it and
no more.  What hours can do together is a polymatroid: any set of hours can do at most what some
flow of work brings to it, and the most that a flow brings is a submodular function.  Over such a
set a linear cost is least when hours are filled one after the other, the cheapest first, each as
full as is possible at all (Edmonds 1970).  So this greedy is exact, and no solver is needed.

How full is possible follows from Hall's condition.  The work that may run in an hour arrived in
the hours just before, so only runs of hours have to be looked at: for each of them what is done
in it must have arrived from its first hour less the deadline to its last.  With A and X the sums
of what arrived and what is done, that is X_b − X_(a−1) ≤ A_b − A_(a−1−D) for all a ≤ b: a minimum
over b less a maximum over a, which are found apart.
"""

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import opening
from ..errors import BadInput
from ..hours import MOST, read, written
from ..hours import curve as hourly
from ..numbers import digits
from ..units import quantity

LOADS = ("kwh", "tokens")
CUT = 1e-9  # of all work: what rounding may leave


@dataclass
class Shift:
    """Work in kWh of each hour, as it came and as it is done, and what an hour emits.

    ``intensity`` in gCO2e/kWh; ``hours`` are as the curve writes them.
    """

    hours: list[str]
    before: np.ndarray
    after: np.ndarray
    intensity: np.ndarray
    deadline: int
    capacity: float
    column: str

    @property
    def kg(self) -> tuple[float, float]:
        """Emissions unshifted and shifted."""
        return tuple(float(x @ self.intensity) / 1e3 for x in (self.before, self.after))

    @property
    def delay(self) -> float:
        """Mean hours that work waits: what waits, summed over the hours, over all of it."""
        waiting = np.cumsum(self.before) - np.cumsum(self.after)
        return float(waiting.sum() / self.before.sum())


def scheduled(
    load: np.ndarray, intensity: np.ndarray, deadline: int, capacity: float
) -> np.ndarray:
    """Return the work of each hour that emits least.

    ``load`` arrives hour by hour and may wait ``deadline`` hours, not beyond the last one.
    Raises BadInput where it cannot all be done in time.
    """
    count = len(load)
    arrived = np.cumsum(load)
    done = np.zeros(count)
    # A_(a-1-D) at place a: what was due before the hour a
    due = np.concatenate([np.zeros(deadline + 1), arrived])[:count]
    for hour in np.argsort(intensity, kind="stable"):
        sums = np.cumsum(done)
        ahead = (arrived - sums)[hour:].min()
        behind = (due - np.concatenate([[0.0], sums[:-1]]))[: hour + 1].max()
        done[hour] = max(min(capacity, ahead - behind), 0.0)
    left = arrived[-1] - done.sum()
    if left > CUT * max(arrived[-1], 1.0):
        raise BadInput(
            f"{digits(left)} of {digits(arrived[-1])} kWh cannot be done in time: an hour holds "
            f"{digits(capacity)} kWh; give more --capacity or a later --deadline"
        )
    return done


def shift(
    load: Path, curve: Path, deadline: str, capacity: float = 0.0, joules: float = 0.0
) -> Shift:
    """Return the load of a file done along the curve of another.

    Without a capacity an hour holds as much as the fullest hour of the load.  ``joules`` is the
    energy of a token, PUE included, for a load in tokens.  Raises BadInput for what does not fit
    together.
    """
    times, amounts, unit = read(load, lambda name: name in LOADS, " or ".join(LOADS), alone=True)
    unit = unit.lower()
    hours, intensity, column = hourly(curve)
    if not 0 <= joules < math.inf:
        raise BadInput(f"--joules-per-token must not be negative, and finite, not {joules}")
    if unit == "tokens" and not joules:
        raise BadInput("a load in tokens needs --joules-per-token, PUE included")
    if unit == "kwh" and joules:
        raise BadInput("--joules-per-token is for a load in tokens; this one is in kWh")
    places = {hour: place for place, hour in enumerate(hours)}
    before = np.zeros(len(hours), float)
    for time, amount in zip(times, amounts, strict=True):
        if time not in places:
            raise BadInput(f"{curve.name} has no intensity for {written(time)}")
        before[places[time]] += amount * (joules / 3.6e6 if joules else 1.0)
    with np.errstate(over="ignore"):
        whole = before.sum() * len(hours) * max(intensity.max(), 1.0)
    if not math.isfinite(whole):
        raise BadInput(f"{load.name} or {curve.name} has numbers too large to be added up")
    if not before.any():
        raise BadInput(f"{load.name} has no work")
    wait = _hours(deadline)
    holds = capacity or float(before.max())
    if not 0 < holds < math.inf:
        raise BadInput(f"--capacity must be more than 0 kWh, and finite, not {capacity}")
    if before.max() > holds * (1 + CUT):
        raise BadInput(
            f"the fullest hour of the load has {digits(before.max())} kWh, --capacity is "
            f"{digits(holds)}: unshifted it could not run, so nothing can be compared"
        )
    after = scheduled(before, intensity, wait, holds)
    return Shift([written(x) for x in hours], before, after, intensity, wait, holds, column)


def _hours(text: str) -> int:
    try:
        hours = float(quantity(text).to("hour").m)
    except Exception:  # no number with a unit of time: pint raises several classes
        hours = math.nan
    if not (0 <= hours < math.inf and hours == int(hours)):
        raise BadInput(f"--deadline: {text!r} is no number of whole hours; write 6h")
    if hours > MOST:
        raise BadInput(f"--deadline: {text!r} is longer than a curve may be, {MOST:,} hours")
    return int(hours)


def report(found: Shift) -> dict:
    """Return what was saved, and the work of each hour, as data."""
    before, after = found.kg
    return {
        "kwh": float(found.before.sum()),
        "kg_unshifted": before,
        "kg_shifted": after,
        "kg_saved": before - after,
        "saved_share": (before - after) / before if before else 0.0,
        "deadline_hours": found.deadline,
        "capacity_kwh_per_hour": found.capacity,
        "mean_delay_hours": found.delay,
        "intensity": found.column,
        "hours": [
            {"hour": hour, "unshifted_kwh": float(a), "shifted_kwh": float(b), "gco2e_per_kwh": g}
            for hour, a, b, g in zip(
                found.hours, found.before, found.after, found.intensity.tolist(), strict=True
            )
        ],
    }


def as_text(found: Shift) -> str:
    """Return what was saved, in words."""
    told = report(found)
    moved = float(np.maximum(found.after - found.before, 0.0).sum())
    full = bool(np.all(found.before >= found.capacity * (1 - CUT)))
    moved, delay = (moved, found.delay) if moved > CUT * told["kwh"] else (0.0, 0.0)
    return "\n".join(
        [
            f"{digits(told['kwh'])} kWh over {len(found.hours):,} hours, due within "
            f"{found.deadline} hours, at most {digits(found.capacity)} kWh an hour; {found.column}",
            f"{'unshifted':<12}{digits(told['kg_unshifted']):>10} kg CO2e",
            f"{'shifted':<12}{digits(told['kg_shifted']):>10} kg CO2e",
            f"{'saved':<12}{digits(told['kg_saved']):>10} kg CO2e, {told['saved_share']:.1%}",
            f"{digits(moved)} kWh run in another hour; mean delay of all {digits(delay)} hours",
            *(
                ["every hour is full, so nothing can move: give a larger --capacity"]
                if full
                else []
            ),
        ]
    )


def write(found: Shift, path: Path) -> None:
    """Write the work of each hour to a CSV that is a load again."""
    with opening.written(path, "--out") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["hour", "kwh", "unshifted_kwh", "gco2e_per_kwh"])
        rows = zip(found.hours, found.after, found.before, found.intensity, strict=True)
        for hour, after, before, grams in rows:
            name = hour.removeprefix("hour ")
            writer.writerow([name, *(f"{x:.6g}" for x in (after, before, grams))])
