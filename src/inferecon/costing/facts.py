"""What a bill rests on: each fact stated by the user or found on record, or missing.

A record of ``data/assumptions`` is looked for by the device, or by the grid and its country.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import sympy as sp

from .. import symbols as s
from ..errors import BadInput, nearest
from ..numbers import digits
from ..records import Offer, convert, ids, load, sources
from ..regions import MONTH
from ..scenario import Scenario
from ..units import ureg

HOLDS = ("on-demand", "spot", "owned")
MOST = 1e12  # no fact of a device comes near it


class Unit(NamedTuple):
    """How a number is written at an option: its name, and base units in one of it."""

    name: str
    base: float


def unit(name: str, unit: str = "", times: float = 1.0) -> Unit:
    return Unit(name, ureg.Quantity(times, unit or name).to_root_units().m)


SHARE = Unit("", 1.0)
HOURLY = unit("USD/h")
YEARS = unit("years", "hour", 12 * MONTH)
YEARLY = Unit("a year", 1 / YEARS.base)
SECONDS = Unit("s", 1.0)


class Need(NamedTuple):
    """One input: what it stands for, the option that states it, and the record that may.

    ``touches`` are the quantities that lack a part without it: usd only of an own device, so
    ``usd*``.  ``ways`` are those to hold a device for which it may be stated; without an
    ``optional`` one something else is taken, and nothing is missing.
    """

    symbol: sp.Symbol
    says: str
    option: str
    unit: Unit
    record: str = ""
    touches: tuple[str, ...] = ()
    ways: tuple[str, ...] = HOLDS
    optional: bool = False


USED = ("kwh", "kg", "litres")
NEEDS = (
    Need(s.capex, "capital", "capex", unit("USD"), "capex-{hardware}", ("usd*",)),
    Need(s.lifetime, "time in service", "lifetime", YEARS, "lifetime", ("usd*", "kg")),
    Need(s.interest, "interest", "interest", YEARLY, "", ("usd*",), optional=True),
    Need(
        s.electricity_price,
        "electricity",
        "electricity",
        unit("USD/kWh"),
        "electricity-{grid}",
        ("usd*",),
    ),
    Need(s.staff_share, "staff", "staff", Unit("persons a device", 1.0), "", ("usd*",)),
    Need(
        s.wage,
        "pay of the staff",
        "wage",
        Unit("USD a year", YEARLY.base),
        "wage-{grid}",
        ("usd*",),
    ),
    Need(
        s.preemption_rate,
        "interruptions",
        "preemptions",
        Unit("an hour held", 1 / 3600),
        "preemption",
        ("usd",),
        ("spot",),
    ),
    Need(s.work_lost, "work undone", "work-lost", SECONDS, "", ("usd",), ("spot",), optional=True),
    Need(s.restart_time, "time to restart", "restart", SECONDS, "", ("usd",), ("spot",)),
    Need(
        s.storage_price,
        "storage",
        "storage-price",
        unit("USD/GB a month", "USD/GB/hour", 1 / MONTH),
        "storage",
        ("usd",),
    ),
    Need(s.host_power, "hosts", "host-power", unit("W"), "host-{hardware}", ("usd*", *USED)),
    Need(s.pue, "the facility", "pue", SHARE, "pue", USED),
    Need(s.embodied_carbon, "making", "embodied", unit("kgCO2e"), "embodied-{hardware}", ("kg",)),
    Need(s.wue, "water of the site", "wue", unit("L/kWh"), "wue", ("litres",)),
    Need(
        s.grid_water,
        "water of the grid",
        "grid-water",
        unit("L/kWh"),
        "grid-water-{grid}",
        ("litres",),
    ),
)
OPTIONS = {need.option: need for need in NEEDS}


class Fact(NamedTuple):
    """A value in base units, its range if it has one, and where it is from."""

    says: str
    value: float
    low: float
    high: float
    unit: Unit
    source: str
    date: str | None = None

    @property
    def quantity(self) -> str:
        """Value, unit and range."""
        shown = [x / self.unit.base for x in (self.value, self.low, self.high)]
        text = f"{digits(shown[0])} {self.unit.name}".strip()
        between = "" if self.low == self.high else f" ({digits(shown[1])} to {digits(shown[2])})"
        return f"{text}{between}"

    @property
    def origin(self) -> str:
        """Who states it, and when."""
        return self.source + (f", {self.date}" if self.date else "")


class Lacking(NamedTuple):
    """A fact that nobody states: what it is, what lacks a part, and how to state it."""

    says: str
    touches: tuple[str, ...]
    why: str


def recorded(symbol: sp.Symbol, hardware: str, grid: str) -> Fact | None:
    """Return a fact of ``NEEDS`` as a record has it, for a device and a grid; None without one."""
    need = next(need for need in NEEDS if need.symbol == symbol)
    known = ids("assumptions")
    for place in dict.fromkeys((grid, grid.partition("-")[0])):  # a zone, then its country
        name = need.record.format(hardware=hardware, grid=place)
        if name in known:
            record = load("assumptions", name)
            fact = record.facts[symbol.name]
            ends = [convert(x, symbol) for x in (fact.low, fact.high)]
            source = f"assumptions/{name}"
            date = fact.date or _read(fact.source[0])
            return Fact(need.says, record[symbol.name], *ends, need.unit, source, date)
    return None


def _read(source: str) -> str | None:
    """Return when a source was read, for what bears no date of its own."""
    read = sources()[source].read
    return read and f"read {read}"


def gather(
    case: Scenario, hold: str, stated: dict[str, float | None]
) -> tuple[dict[sp.Symbol, Fact], list[Lacking]]:
    """Return every fact that a way to hold devices needs, and those that are missing.

    ``stated`` are numbers of options, None where one was not given.  Raises BadInput for one
    that cannot be, or goes with another way.
    """
    if hold not in HOLDS:
        raise BadInput(f"--hold: no way {hold!r}{nearest(hold, HOLDS)}")
    facts: dict[sp.Symbol, Fact] = {}
    lacking = []
    for need in NEEDS:
        given = stated.get(need.option)
        if hold not in need.ways:
            if given is not None:
                raise BadInput(f"--{need.option} goes with --hold {need.ways[0]}, not {hold}")
            continue
        if given is not None:
            value = checked(need.option, given) * need.unit.base
            facts[need.symbol] = Fact(need.says, value, value, value, need.unit, "as stated")
            continue
        found = recorded(need.symbol, case.hardware, case.grid) if need.record else None
        if found is not None:
            facts[need.symbol] = found
            continue
        parts = tuple(touched(need, hold))
        if parts and not need.optional:
            lacking.append(Lacking(need.says, parts, _why(need, case)))
    staff = facts.get(s.staff_share)
    if staff is not None and not staff.value and s.wage not in facts:  # nobody is nobody's pay
        facts[s.wage] = staff._replace(says="pay of the staff", unit=Unit("USD a year", 1.0))
        lacking = [one for one in lacking if one.says != "pay of the staff"]
    return facts, lacking


def touched(need: Need, hold: str) -> Iterator[str]:
    """Yield the quantities that lack a part without a fact."""
    for name in need.touches:
        if not name.endswith("*"):
            yield name
        elif hold == "owned":
            yield name[:-1]


def _why(need: Need, case: Scenario) -> str:
    if not need.record:
        return f"nothing says what {need.says} is; state it with --{need.option}"
    name = need.record.format(hardware=case.hardware, grid=case.grid)
    return f"no {name} is on record; state it with --{need.option}"


def checked(option: str, value: float) -> float:
    """Return a number that may stand at an option."""
    least = {"lifetime": 1e-3, "pue": 1.0}.get(option, 0.0)
    if not least <= value <= MOST or not math.isfinite(value):
        raise BadInput(f"--{option} must be from {least:g} to {MOST:.0e}, not {value:g}")
    return value


# The price of a rented device -----------------------------------------------------------------


def offered(hardware: str, kind: str, provider: str = "") -> list[Offer]:
    """Return the offers of a kind, lowest first; of one provider if it is named."""
    if hardware not in ids("prices"):
        return []
    found = [x for x in load("prices", hardware).offers if x.price and x.kind == kind]
    if provider:
        known = [offer.provider for offer in found]
        if provider not in known:
            raise BadInput(
                f"--provider: no {kind} offer of {provider!r} in prices/{hardware}.yaml"
                f"{nearest(provider, known) if known else ''}"
            )
        found = [offer for offer in found if offer.provider == provider]
    return sorted(found, key=lambda offer: offer.usd_per_second)


def dated(offer: Offer) -> str:
    """Return the date of an offer; of one that shows none, when it was read."""
    if offer.date != "not shown":
        return offer.date
    read = _read(offer.source)
    return "no date shown" + (f", {read}" if read else "")


def rented(case: Scenario, kind: str, price: float | None) -> Fact | None:
    """Return the price of a device by the hour, as stated or the lowest on record; or None."""
    says = f"{kind} price of a device"
    if price is not None:
        value = checked("price", price) * HOURLY.base
        return Fact(says, value, value, value, HOURLY, "as stated")
    offers = offered(case.hardware, kind, case.provider)
    if not offers:
        return None
    ends = [offers[i].usd_per_second for i in (0, 0, -1)]
    first = offers[0]
    source = f"prices/{case.hardware}, {first.provider}"
    return Fact(says, *ends, HOURLY, source, dated(first))
