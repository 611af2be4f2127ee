"""The plan: every candidate sized, the promising simulated, the rest out with its reason.

What the fewest replicas of a candidate take is the least that it can take.  The candidate that
looks best is simulated first; then each whose least is below the best found so far, until there
is none: what is left cannot win.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ..numbers import digits
from ..regions import MONTH
from . import sizing
from .ahead import Ahead
from .ask import Ask
from .candidate import Candidate
from .curves import Curves, curves
from .sizing import size
from .space import options
from .trial import Confirmed

RUNS = 10  # candidates that are simulated to find the winner, at most
SHOWN = 5  # of a table, each on another device, in another format or served another way
AXES = ("usd", "kwh", "kg", "ttft", "itl")  # of the frontier
UNITS = {"usd": "USD", "kwh": "kWh", "kg": "kg"}


@dataclass
class Plan:
    """What was found: ``ranked`` kept the promise when simulated, best first.

    ``lost`` are all the others; with ``ranked`` they are all that were enumerated.
    ``open`` counts those whose least is below the winner's and that were not simulated.
    """

    ask: Ask
    ranked: list[Confirmed]
    lost: list[Candidate]
    sized: list[Candidate]  # all that can run and keep the promise by prediction
    standing: list[Candidate]  # those that no simulation refuted; confirmed ones as simulated
    frontier: list[Candidate]  # of those, whom no other beats
    curves: Curves
    open: int = 0

    @property
    def winner(self) -> Confirmed | None:
        return self.ranked[0] if self.ranked else None

    @property
    def enumerated(self) -> int:
        return len(self.ranked) + len(self.lost)


def plan(ask: Ask, processes: int = 1) -> Plan:
    """Search all options; candidates are simulated by so many processes, with one answer.

    Raises BadInput for what cannot be asked.
    """
    all_ = options(ask)
    found = curves(ask, all_)
    sized = size(ask, found)
    lost = [
        Candidate(one, mode, batch, reason=(*one.refused, 0.0))
        for one in all_
        if one.case is None
        for mode in ask.modes
        for batch in ask.batches
    ]
    lost += [one for one in sized if one.reason[0]]
    able: list[Candidate] = []
    for one in sized:
        if not one.reason[0]:
            out = outside(ask, one)
            (lost if out.reason[0] else able).append(out)
    with Ahead(ask, processes) as ahead:
        ranked, failed = search(ask, able, ahead)
    simulated = {id(x.candidate) for x in ranked} | {id(x) for x, _ in failed}
    lost += [reason for _, reason in failed]
    best = ranked[0].score(ask) if ranked else math.inf
    open_ = 0
    for one in able:
        if id(one) not in simulated:
            out = beaten(ask, one, best)
            open_ += out.reason[0] == "was not simulated"
            lost.append(out)
    standing = [x.standing(ask) for x in ranked]
    standing += [one for one in able if id(one) not in simulated]
    return Plan(ask, ranked, lost, able, standing, frontier(standing), found, open_)


def outside(ask: Ask, one: Candidate) -> Candidate:
    """Return a candidate with the reason that keeps it out: price, budget, number of devices."""
    if ask.by == "usd" and one.option.price is None:
        return one.lost("has no price", f"no on-demand price of {one.option.hardware} on record")
    if ask.budget:
        usd = one.usd(one.fewest)
        if math.isnan(usd):
            return one.lost("has no price", f"no on-demand price of {one.option.hardware}")
        if usd > ask.budget:
            over = usd / ask.budget - 1
            return one.lost("is over the budget", f"{usd:,.2f} USD/h", over)
    if ask.carbon:
        kg = one.score("kg", bound=True)
        if math.isnan(kg):
            return one.lost("is not known", f"the kg of {one.option.hardware} is missing")
        if kg > ask.carbon:
            said = f"{digits(kg * MONTH)} kg CO2e/month"
            return one.lost("is over the carbon budget", said, kg / ask.carbon - 1)
    if ask.devices and one.devices(one.fewest) > ask.devices:
        need = one.devices(one.fewest)
        over = need / ask.devices - 1
        return one.lost("saturated", f"{need:,} devices are needed, {ask.devices:,} allowed", over)
    if math.isnan(one.score(ask.by, bound=True)):
        return one.lost("is not known", f"its {UNITS[ask.by]} is missing")
    return one


def beyond(ask: Ask, found: Confirmed) -> tuple[str, str, float] | None:
    """Say which cap the replicas that a simulation needed are beyond; None if they are in all."""
    if ask.devices and found.devices > ask.devices:
        over = found.devices / ask.devices - 1
        return "saturated", f"{found.devices:,} devices in simulation", over
    if ask.budget and found.usd > ask.budget:
        over = found.usd / ask.budget - 1
        return "is over the budget", f"{found.devices:,} devices in simulation", over
    kg = found.hourly(ask, found.candidate.grams) if ask.carbon else 0.0
    if kg > ask.carbon:
        said = f"{digits(kg * MONTH)} kg CO2e/month in simulation"
        return "is over the carbon budget", said, kg / ask.carbon - 1
    return None


def search(ask: Ask, able: list[Candidate], ahead: Ahead):
    """Return what kept the promise, best first, and what did not, with its reason."""
    ranked: list[Confirmed] = []
    failed: list[tuple[Candidate, Candidate]] = []
    done: list[Confirmed] = []
    kinds: set[tuple] = set()
    queue = sorted(able, key=lambda x: (x.score(ask.by), x.score("kwh"), x.latency["ttft"]))
    runs = 0

    def best() -> float:
        return min((x.score(ask) for x in ranked), default=math.inf)

    def hopeful() -> Iterator[Candidate]:
        """Yield those whose least is below the best so far, and then one of each new kind."""
        limit, seen = best(), set(kinds)
        able = [one for one in queue if one.score(ask.by, True) < limit]
        yield from able[:1] if ranked else able[:2]
        for one in queue:
            if kind_of(one) not in seen:
                seen.add(kind_of(one))
                yield one

    def take(one: Candidate) -> None:
        found = ahead.get(one, (x for x in hopeful() if not same_run(x, done)))
        if isinstance(found, str):
            failed.append((one, one.lost("is not known", found)))
            return
        done.append(found)
        if not found.keeps:
            failed.append((one, one.lost("missed in simulation", *share_kept(found))))
        elif out := beyond(ask, found):
            failed.append((one, one.lost(*out)))
        else:
            ranked.append(found)
            kinds.add(kind_of(one))

    while queue and runs < RUNS:
        place = next((i for i, one in enumerate(queue) if one.score(ask.by, True) < best()), None)
        if place is None:
            break
        one = queue.pop(place)
        if twin := same_run(one, done):
            said = f"as with batch {twin.candidate.batch}: never more than {twin.reached} run"
            failed.append((one, one.lost("is no better", said)))
            continue
        take(one)
        runs += 1
    for one in queue:  # a few of other kinds, to compare with
        if len(kinds) >= SHOWN or not ranked:
            break
        if kind_of(one) not in kinds and runs < RUNS + SHOWN:
            take(one)
            runs += 1
    ranked.sort(key=lambda x: (x.score(ask), x.joules))
    return once(ranked, failed), failed


def once(ranked: list[Confirmed], failed: list) -> list[Confirmed]:
    """Return a service with so many replicas once, and the other batch limits of it as lost."""
    kept: dict[tuple, Confirmed] = {}
    for found in ranked:
        one = found.candidate
        key = (one.option, one.mode, found.replicas)
        if key in kept:
            said = f"as many replicas as with batch {kept[key].candidate.batch}"
            failed.append((one, one.lost("is no better", said)))
        else:
            kept[key] = found
    return list(kept.values())


def same_run(one: Candidate, done: list[Confirmed]) -> Confirmed | None:
    """Return a simulation of the same service whose batch neither limit would have touched."""
    for found in done:
        other = found.candidate
        alike = (one.option, one.mode) == (other.option, other.mode)
        if alike and found.reached < min(one.batch, other.batch):
            return found
    return None


def kind_of(one: Candidate) -> tuple:
    return one.option.hardware, one.option.weights, one.mode


def share_kept(found: Confirmed) -> tuple[str, float]:
    replicas = " + ".join(f"{n:,}" for n in found.replicas if n)
    if found.full:
        said = f"{replicas} would carry {found.load:.1%} of the most they can: no run is that long"
        return said, 1 - found.load
    return f"{found.good:.1%} kept the promise on {replicas}", 1 - found.good


def beaten(ask: Ask, one: Candidate, best: float) -> Candidate:
    """Return a candidate that was not simulated, with what it would take at least."""
    if math.isinf(best):
        return one.lost("was not simulated", "those that looked better failed")
    least = one.score(ask.by, bound=True)
    if least < best:
        return one.lost("was not simulated", f"at least {least:,.2f} {UNITS[ask.by]} an hour")
    if least <= best * (1 + 1e-9):
        return one.lost("is no better", f"at least {least:,.2f} {UNITS[ask.by]} an hour")
    over = least / best - 1
    said = f"at least {least:,.2f} {UNITS[ask.by]} an hour"
    return one.lost("is dearer" if ask.by == "usd" else "takes more", said, over)


def axes(one: Candidate) -> tuple[float, ...]:
    """Return what the frontier compares: a missing figure is worse than any."""
    given = (one.usd(), one.score("kwh"), one.score("kg"), *(one.latency[x] for x in AXES[3:]))
    return tuple(math.inf if math.isnan(x) else x for x in given)


def frontier(able: list[Candidate]) -> list[Candidate]:
    """Return the candidates that no other beats in one figure and equals in all."""
    found: list[tuple[tuple, Candidate]] = []
    for mine, one in sorted(((axes(x), x) for x in able), key=lambda pair: pair[0]):
        # sorted by the first figure, so that nobody later can beat somebody earlier
        if not any(all(a <= b for a, b in zip(other, mine, strict=True)) for other, _ in found):
            found.append((mine, one))
    return [one for _, one in found]


def resized(plan: Plan, ask: Ask, found: Curves | None = None) -> list[Candidate]:
    """Return the candidates of a plan sized for another question, those that keep it."""
    sized = sizing.size(ask, found or plan.curves)
    return [x for x in (outside(ask, one) for one in sized if not one.reason[0]) if not x.reason[0]]
