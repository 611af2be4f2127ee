"""What the notebook of costs calls: bills of a service, ways to hold it, where owning pays.

Replicas are simulated anew from a seed; what a device costs comes from records with a date, and
from what the notebook states where no record does.
"""

import math

import numpy as np
from IPython.display import Markdown

from . import figures
from . import symbols as s
from .book import Case
from .costing.facts import HOLDS, HOURLY, OPTIONS, Fact, gather, offered, rented
from .costing.reckon import HOLDING, Bill, reckon
from .costing.words import cell
from .costing.work import Work, served
from .escape import plain
from .figures import Column
from .numbers import digits
from .simulate.arrivals import Lengths
from .simulate.plan import Load, Service
from .tables import lines

SHOWN = {
    "an hour": ("hour", 1),
    "a month": ("month", 1),
    "1,000 requests": ("request", 1000),
    "Mtok in": ("million_input_tokens", 1),
    "Mtok out": ("million_output_tokens", 1),
}


def work_for(case: Case, rps: float, requests: int, seed: int, replicas: int = 0) -> Work:
    """Return what a service does for so many requests a second, on as few replicas as it takes."""
    load = Load(Lengths(case.scenario.isl, case.scenario.osl), requests, rate=rps, seed=seed)
    return served(Service(case.scenario), load, replicas)[0]


def billed(case: Case, hold: str, work: Work, stated: dict[str, float]) -> Bill:
    """Return the bill of a service whose devices are held in a way."""
    facts, lacking = gather(case.scenario, hold, for_way(hold, stated))
    price = rented(case.scenario, "spot" if hold == "spot" else "on-demand", None)
    return reckon(case.scenario, hold, work, facts, lacking, price)


def for_way(hold: str, stated: dict[str, float]) -> dict[str, float]:
    """Return what is stated for a way to hold devices."""
    return {
        name: x for name, x in stated.items() if name not in OPTIONS or hold in OPTIONS[name].ways
    }


def bill(case: Case, hold: str, work: Work, stated: dict[str, float]) -> Markdown:
    """Show what a service takes of everything, by hour, month, request and token."""
    found = billed(case, hold, work, stated)
    head = ["unit", *SHOWN]
    rows = []
    for one in found.quantities.values():
        cells = [cell(one, item, times) for item, times in SHOWN.values()]
        rows.append([one.unit, *cells])
    service = f"{work.replicas} replica{'s' * (work.replicas > 1)} of {work.devices:.0f} device"
    say = (
        f"{work.rps:g} requests a second of {work.isl:,.0f} tokens in and {work.osl:,.0f} out, on "
        f"{service}{'s' * (work.devices > 1)}: steps run {work.busy:.0%} of the time, and "
        f"{work.seconds[0] / sum(work.seconds):.0%} of that is prefill."
    )
    return Markdown("\n\n".join([say, _table(head, rows), *_missing(found)]))


def parts(case: Case, hold: str, work: Work, stated: dict[str, float]) -> Markdown:
    """Show what an hour of a service is made of."""
    found = billed(case, hold, work, stated)
    rows = []
    for one in found.quantities.values():
        whole = math.fsum(one.parts.values())
        rows += [[one.unit, name, digits(x), f"{x / whole:.1%}"] for name, x in one.parts.items()]
    return Markdown(_table(["unit", "part", "an hour", "share"], rows, 2))


def ways(case: Case, work: Work, stated: dict[str, float]) -> Markdown:
    """Show a service held in each way: a device, a month, and tokens."""
    rows, said = [], []
    for hold in HOLDS:
        found = billed(case, hold, work, stated)
        usd = found.quantities["usd"]
        items = ("month", "million_input_tokens", "million_output_tokens")
        made = ", ".join(f"{name} {digits(x)}" for name, x in usd.parts.items())
        device = "–" if found.device_hour is None else digits(found.device_hour)
        rows.append([hold, device, *(cell(usd, item) for item in items)])
        lost = "" if found.lost_share is None else f"; {found.lost_share:.1%} of it is lost"
        said.append(f"- {hold}, USD an hour: {made}{lost}")
    head = ["held", "device-h", "month", "Mtok in", "Mtok out"]
    return Markdown("\n\n".join(["In dollars:", _table(head, rows, 1), "\n".join(said)]))


def loads(case: Case, rates: list[float], replicas: int, requests: int, seed: int) -> Markdown:
    """Show what tokens cost on the same rented devices at several loads."""
    rows = []
    for rate in rates:
        work = work_for(case, rate, requests, seed, replicas)
        usd = billed(case, "on-demand", work, {}).quantities["usd"]
        kwh = billed(case, "on-demand", work, {}).quantities["kwh"]
        out = "million_output_tokens"
        rows.append(
            [
                f"{rate:g}",
                f"{work.busy:.0%}",
                f"{work.seconds[0] / sum(work.seconds):.0%}",
                cell(usd, "million_input_tokens"),
                cell(usd, out),
                cell(kwh, out),
            ]
        )
    head = ["1/s", "steps run", "prefill", "USD/Mtok in", "USD/Mtok out", "kWh/Mtok out"]
    return Markdown(_table(head, rows, 0))


# Where owning pays -------------------------------------------------------------------------------


def own_or_rent(case: Case, work: Work, stated: dict[str, float], shares: list[float]):
    """Draw what a needed hour costs, owned and rented by need, over the share that is needed."""
    facts, lacking = gather(case.scenario, "owned", for_way("owned", stated))
    offers = offered(case.scenario.hardware, "on-demand")
    if lacking or not offers:
        names = ", ".join(one.says for one in lacking) or "a price"
        return Markdown(f"Nothing can be drawn: {names} is missing.")
    rent = [offers[i].usd_per_second / HOURLY.base for i in (0, 0, -1)]
    own = [_own(case, work, facts, end) for end in ("value", "low", "high")]
    needed = np.array(shares)
    rows = [
        {"x": 100 * u, "y": rent[0], "low": rent[1], "high": rent[2], "group": RENTED}
        for u in shares
    ]
    each = [fixed / needed + running for fixed, running in own]
    rows += [
        {"x": 100 * u, "y": y, "low": low, "high": high, "group": "owned"}
        for u, y, low, high in zip(shares, *(x.tolist() for x in each), strict=True)
    ]
    at, least, most = (
        _even(one, price)
        for one, price in zip((own[0], own[1], own[2]), (rent[0], rent[2], rent[0]), strict=True)
    )
    title = f"Owning pays from {_share(at)} of the hours on"
    subtitle = [
        f"between {_share(least)} and {_share(most)}, as facts and offers differ",
        f"{case.scenario.hardware}; bands: lowest to highest",
    ]
    chart = figures.lines(
        rows, "share of the hours needed (%)", "a needed hour (USD)", title, subtitle, log=True
    )
    columns = {
        "group": Column("held"),
        "x": Column(s.needed_share.name, "%", "needed"),
        "y": Column("cost", "USD/h"),
        "low": Column("low", "USD/h"),
        "high": Column("high", "USD/h"),
    }
    return figures.renamed(chart, f"own or rent {case.scenario.hardware}", columns)


RENTED = "rented by need, the lowest offer"


def _own(case: Case, work: Work, facts: dict, end: str) -> tuple[float, float]:
    """Return what an own device costs an hour at rest, and more at work: all facts at one end."""
    other = {"low": "high", "high": "low", "value": "value"}[end]
    given = {x: getattr(fact, end) for x, fact in facts.items()}
    given |= {
        s.lifetime: getattr(facts[s.lifetime], other),  # a long life is a cheap one
        s.interest: given.get(s.interest, 0.0),
        s.device_power: work.draw,
        s.busy_power: work.draw,
        s.idle_draw: work.resting / work.devices,
    }
    found = HOLDING.solve(given)
    return tuple(float(found[x]) * 3600 for x in (s.fixed_rate, s.running_rate))


def _even(own: tuple[float, float], price: float) -> float:
    fixed, running = own
    return fixed / (price - running) if price > running else math.inf


def _share(share: float) -> str:
    return f"{share:.0%}" if share <= 1 else "more than all"


def rests_on(case: Case, work: Work, stated: dict[str, float]) -> Markdown:
    """Show every fact behind the bills: value and range, record, date."""
    facts: dict[str, Fact] = {}
    for hold in HOLDS:
        facts |= {fact.says: fact for fact in billed(case, hold, work, stated).facts}
    rows = [[says, plain(fact.quantity), plain(fact.origin)] for says, fact in facts.items()]
    return Markdown(_table(["fact", "value", "from"], rows, 9))


def _missing(found: Bill) -> list[str]:
    said = [f"{plain(one.why)} ({', '.join(one.touches)})" for one in found.lacking]
    return [f"Missing, and so not in a sum (≥): {'; '.join(said)}."] if said else []


def _table(head: list[str], rows: list[list[str]], first: int = 1) -> str:
    return "\n".join(lines(head, rows, first))
