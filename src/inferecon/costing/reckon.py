"""From the work of a service and the facts of its devices to what each item takes.

Items are an hour, a month, a request, a million prompt tokens and a million answer tokens: the
laws of ``laws.charging`` are solved for all of them at once.  A part of a sum is the law with
the other parts set to zero; a fact that is missing is zero too, and whatever lacks it says so.
"""

import math
from dataclasses import dataclass

import numpy as np
import sympy as sp

from .. import symbols as s
from ..errors import BadInput
from ..law import System
from ..laws import charging, footprint, holding, renting
from ..regions import MONTH
from ..scenario import Scenario
from .facts import NEEDS, SECONDS, YEARLY, Fact, Lacking, touched
from .work import Work

ITEMS = ("hour", "month", "request", "million_input_tokens", "million_output_tokens")
HOLDING = System([*holding.LAWS, renting.SPOT])
CHARGING = System([*charging.LAWS, renting.RENT, footprint.EMBODIED_RATE])
HOUR, MILLION = 3600.0, 1e6
DEVICES = "devices"
PRICED = {
    "on-demand": {DEVICES: s.price},
    "spot": {DEVICES: s.spot_price},
    "owned": {"capital": s.capex, "electricity": s.electricity_price, "staff": s.wage},
}
OWNED = {s.capex, s.lifetime, s.electricity_price, s.staff_share, s.wage, s.host_power, s.pue}
RENTS = {"memory": s.memory_price, "storage": s.storage_price}


@dataclass(frozen=True)
class Quantity:
    """Amounts of each item, of what is known; parts of an hour; what is missing of it."""

    unit: str
    amounts: dict[str, float]
    parts: dict[str, float]
    missing: list[str]

    def total(self, item: str) -> float | None:
        """The whole amount; None if a part of it is missing."""
        return None if self.missing else self.amounts[item]

    def known(self, item: str) -> float | None:
        """What is known of the amount; None without a price of the devices, its main part."""
        return None if DEVICES in self.missing else self.amounts[item]


@dataclass(frozen=True)
class Bill:
    """All quantities, what a device costs in an hour, and where owning and renting are equal."""

    case: Scenario
    hold: str
    work: Work
    quantities: dict[str, Quantity]
    device_hour: float | None
    lost_share: float | None
    even: float | None
    facts: list[Fact]
    lacking: list[Lacking]


def reckon(
    case: Scenario,
    hold: str,
    work: Work,
    facts: dict[sp.Symbol, Fact],
    lacking: list[Lacking],
    price: Fact | None,
    *,
    intensity: float | None = None,
    memory: tuple[float, float] = (0.0, 0.0),
) -> Bill:
    """Return the bill of a service.

    ``price`` is that of renting a device in the way it is held; of an own device, that of
    renting one on demand, to compare.  ``intensity`` stands in place of the grid's, ``memory`` is
    what is rented apart, and its price.  Raises BadInput if interruptions leave nothing.
    """
    facts = _otherwise(facts, work)
    given = {symbol: fact.value for symbol, fact in facts.items()}
    if price is None and hold != "owned":
        lacking = [
            *lacking,
            Lacking(DEVICES, ("usd",), f"no {hold} price is on record; state it with --price"),
        ]
    given |= {
        s.spot_price if hold == "spot" else s.price: 0.0 if price is None else price.value,
        s.residence: 2 * facts[s.work_lost].value,
        s.device_power: work.draw,
        s.busy_power: work.draw,
        s.idle_draw: work.resting / work.devices,
        s.grid_intensity: case.given()[s.grid_intensity] if intensity is None else intensity,
    }
    given |= {s.memory_price: memory[1], s.memory_rented: memory[0]}
    given = dict.fromkeys((need.symbol for need in NEEDS), 0.0) | given
    held = HOLDING.solve(given)
    if hold == "spot" and not float(held[s.lost_share]) < 1:
        raise BadInput(
            f"--preemptions: an interruption every {1 / given[s.preemption_rate]:,.0f} s held, "
            f"each of {float(held[s.interruption_time]):,.0f} s, leaves no time to serve"
        )
    given |= _items(work) | {s.storage_rented: float(case.values[s.weight_bytes])}
    equal = even(facts, held, None if hold == "spot" else price)
    quantities = {
        "usd": _money(hold, given, lacking),
        **_used(work, given, lacking),
    }
    device = {"on-demand": s.price, "spot": s.spot_cost, "owned": s.own_rate}[hold]
    whole = not quantities["usd"].missing
    return Bill(
        case,
        hold,
        work,
        quantities,
        float(held[device]) * HOUR if whole else None,
        float(held[s.lost_share]) if hold == "spot" else None,
        equal,
        [*([price] if price else []), *used(facts, hold, equal is not None)],
        lacking,
    )


def _otherwise(facts: dict, work: Work) -> dict:
    """Return the facts with what is taken where an optional one is not stated."""
    undone = float(holding.WORK_LOST({s.residence: work.stay}))
    taken = {
        s.interest: Fact("interest", 0.0, 0.0, 0.0, YEARLY, "none stated"),
        s.work_lost: Fact("work undone", undone, undone, undone, SECONDS, "half a stay, simulated"),
    }
    return taken | facts


def even(facts: dict, held: dict, price: Fact | None) -> float | None:
    """Return the share of the time from which owning costs less than renting on demand.

    Infinite where it never does; None where a fact or the price is missing.
    """
    if price is None or not OWNED <= facts.keys():
        return None
    found = float(held[s.needed_even])
    return found if 0 <= found <= 1 else math.inf


def used(facts: dict, hold: str, compared: bool) -> list[Fact]:
    """Return the facts that a bill rests on: those of an own device only if it is asked about."""
    return [
        facts[need.symbol]
        for need in NEEDS
        if need.symbol in facts
        and hold in need.ways
        and (any(touched(need, hold)) or (compared and need.symbol in OWNED))
    ]


def _items(work: Work) -> dict[sp.Symbol, object]:
    """Return what the laws of charging ask of each item."""
    prefill, decode = work.seconds
    busy = prefill + decode
    powers = work.powers
    return {
        s.replicas: float(work.replicas),
        s.n_devices: work.devices,
        s.phase_time: np.array([busy, busy, busy, prefill, decode]),
        s.busy_time: busy,
        s.item_rate: np.array(
            [
                1 / HOUR,
                1 / (MONTH * HOUR),
                work.rps,
                work.rps * work.isl / MILLION,
                work.rps * work.osl / MILLION,
            ]
        ),
        s.phase_power: np.array([powers.sum()] * 3 + list(powers)),
        s.rest_power: work.rest,
    }


def _money(hold: str, given: dict, lacking: list[Lacking]) -> Quantity:
    """Return dollars: of devices in the way they are held, of memory and of storage."""
    parts = PRICED[hold] | RENTS

    def solved(kept: set) -> np.ndarray:
        own = given | {x: 0.0 for x in parts.values() if x not in kept}
        held = HOLDING.solve(own)
        device = {"on-demand": s.price, "spot": s.spot_cost, "owned": s.own_rate}[hold]
        return CHARGING.solve(own | {s.price: float(held[device])})[s.charged_cost]

    amounts = solved(set(parts.values()))
    terms = {name: float(solved({symbol})[0]) for name, symbol in parts.items()}
    return _quantity("usd", "USD", amounts, terms, lacking)


def _used(work: Work, given: dict, lacking: list[Lacking]) -> dict[str, Quantity]:
    """Return energy, emissions and water, hosts and facility included."""
    found = CHARGING.solve(given | {s.price: 0.0})
    nothing = {s.phase_power: 0.0, s.rest_power: 0.0, s.host_power: 0.0}
    kept = {
        "prefill": {s.phase_power: work.powers[0]},
        "decode": {s.phase_power: work.powers[1]},
        "waiting": {s.rest_power: given[s.rest_power]},
        "hosts": {s.host_power: given[s.host_power]},
    }
    hourly = given | {
        s.phase_time: given[s.busy_time],
        s.phase_power: work.powers.sum(),
        s.item_rate: 1 / HOUR,
        s.price: 0.0,
    }

    def hour(symbol: sp.Symbol, own: dict) -> float:
        return float(CHARGING.solve(hourly | own)[symbol])

    energy = {name: hour(s.charged_site, nothing | x) / 3.6e6 for name, x in kept.items()}
    dry = {"site": {s.grid_water: 0.0}, "grid": {s.wue: 0.0}}
    water = {name: hour(s.charged_water, x) for name, x in dry.items()}
    use, making = found[s.charged_carbon] / 1e3, found[s.charged_embodied] / 1e3
    return {
        "kwh": _quantity("kwh", "kWh", found[s.charged_site] / 3.6e6, energy, lacking),
        "kg": _quantity(
            "kg",
            "kg CO2e",
            use + making,
            {"use": float(use[0]), "making": float(making[0])},
            lacking,
        ),
        "litres": _quantity("litres", "L", found[s.charged_water], water, lacking),
    }


def _quantity(
    name: str, unit: str, amounts: np.ndarray, parts: dict[str, float], lacking: list[Lacking]
) -> Quantity:
    missing = [one.says for one in lacking if name in one.touches]
    whole = dict(zip(ITEMS, amounts.tolist(), strict=True))
    return Quantity(unit, whole, {part: x for part, x in parts.items() if x}, missing)
