"""From the options of the command to a bill."""

import math
from collections.abc import Callable
from pathlib import Path

from .. import hours
from .. import symbols as s
from ..errors import BadInput
from ..forecast import outlook
from ..regions import MONTH
from ..scenario import Scenario
from ..service.promise import promise
from ..simulate.arrivals import Lengths
from ..simulate.command import case_of
from ..simulate.plan import Load, Service
from .facts import NEEDS, Fact, checked, gather, rented, touched, unit
from .reckon import OWNED, Bill, reckon
from .work import MOST, served

GRAMS = unit("gCO2e/kWh")
GB = 1e9
USUAL = 4000  # requests that are simulated


def asked(
    model: str,
    hardware: str,
    format: str,
    *,
    rps: float,
    isl: int,
    osl: int,
    slo: str,
    hold: str,
    price: float | None,
    replicas: int,
    stated: dict[str, float | None],
    memory: float,
    memory_price: float | None,
    curve: Path | None,
    load: dict,
    service: dict,
    combination: dict,
    size: Callable[[Scenario], int] | None = None,
) -> tuple[Bill, dict]:
    """Return the bill, and what the simulation of a replica told.

    ``size`` says how many replicas of a combination keep a promise, where no number is given.
    Raises BadInput.
    """
    if not 0 < rps < math.inf:
        raise BadInput(f"--rps must be more than 0, and finite, not {rps:g}")
    if not 0 <= replicas <= MOST:
        raise BadInput(
            f"--replicas must be 0 (as few as serve the load) to {MOST:,}, not {replicas}"
        )
    case = case_of(model, hardware, format, isl, osl, combination)
    facts, lacking = gather(case, hold, stated)
    paid = rented(case, "spot" if hold == "spot" else "on-demand", price)
    _idle(hold, stated, facts, paid)
    rent = _memory(memory, memory_price)
    beside, intensity = _grid(case, curve)
    longer = load["count"] is None
    load = load | {"count": USUAL} if longer else load
    limits = tuple(promise(slo))
    sized = bool(limits and size and not replicas)
    work, told = served(
        Service(case, **service),
        Load(Lengths(isl, osl), rate=rps, limits=limits, **load),
        size(case) if sized else replicas,
        longer,
    )
    bill = reckon(
        case,
        hold,
        work,
        facts,
        lacking,
        paid,
        intensity=intensity,
        memory=rent,
    )
    bill.facts.append(beside)
    found = outlook(case, service["engine"], [service["batch"]], [isl])
    return bill, told | {"known": str(found.known[0]), "sized": sized}


def _idle(hold: str, stated: dict[str, float | None], facts: dict, paid: Fact | None) -> None:
    """Raise BadInput for a stated fact that nothing would be reckoned with.

    Facts of an own device stand beside a rented one where all are known, to compare the two.
    """
    if hold == "on-demand" and paid is not None and facts.keys() >= OWNED:
        return
    for need in NEEDS:
        if stated.get(need.option) is None or any(touched(need, hold)):
            continue
        missing = [f"--{x.option}" for x in NEEDS if x.symbol in OWNED and x.symbol not in facts]
        beside = f"; to compare, {' and '.join(missing)} would be needed, too"
        raise BadInput(
            f"--{need.option} goes with --hold owned, not {hold}"
            + (beside if hold == "on-demand" and missing else "")
        )


def _memory(gigabytes: float, price: float | None) -> tuple[float, float]:
    """Return bytes and the price of a byte a second; memory rented apart needs a price."""
    if not checked("memory", gigabytes):
        if price is not None:
            raise BadInput("--memory-price goes with --memory, how many GB are rented apart")
        return 0.0, 0.0
    if price is None:
        raise BadInput("--memory needs --memory-price, USD a GB and month: none is on record")
    return gigabytes * GB, checked("memory-price", price) / GB / (MONTH * 3600)


def _grid(case, curve: Path | None) -> tuple[Fact, float | None]:
    """Return what the emissions of the grid are, and their mean over a curve in base units.

    A service that runs flat meets the plain mean of the hours.
    """
    if curve is None:
        record = case.records()
        grid = next(one for one in record if one.kind == "grids")
        value = grid[s.grid_intensity.name]
        date = grid.facts[s.grid_intensity.name].date
        return Fact("grid", value, value, value, GRAMS, f"grids/{grid.id}", date), None
    _, emitted, column = hours.curve(curve)
    ends = [float(x) * GRAMS.base for x in (emitted.mean(), emitted.min(), emitted.max())]
    said = f"mean of the {len(emitted):,} hours of {curve.name}, {column}"
    return Fact("grid", *ends, GRAMS, said), ends[0]
