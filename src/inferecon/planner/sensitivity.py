"""Would another plan win if prices, the load or the efficiency of a device were others?

Candidates are sized again in closed form.  Those that were simulated keep the ratio of what a
simulation needed to what was predicted.
"""

import math
from dataclasses import replace

import numpy as np

from ..forecast import outlook
from .ask import Ask
from .candidate import Candidate
from .choose import Plan, resized

PRICE, LOADS = 0.2, (0.5, 1.5)
RIVALS = 6  # whose intervals are asked for


def same(one: Candidate, other: Candidate) -> bool:
    """Say whether two candidates are the same service, whatever the batch limit."""
    return (one.option, one.mode) == (other.option, other.mode)


def scores(plan: Plan, ask: Ask, able: list[Candidate]) -> list[tuple[float, Candidate]]:
    """Return what each candidate takes, best first; corrected where it was simulated."""
    exact, alike = corrections(plan)
    found = []
    for one in able:
        service = (one.option, one.mode)
        ratio = exact.get((*service, one.batch), alike.get(service, 1.0))
        if math.isfinite(ratio):
            found.append((one.score(ask.by) * ratio, one))
    return sorted(found, key=lambda pair: (pair[0], pair[1].score("kwh")))


def corrections(plan: Plan) -> tuple[dict, dict]:
    """Return what a simulation needed over what was predicted, by candidate and by service.

    Infinite for one that kept no promise; a service has the largest of its batch limits.
    """
    exact = {
        (x.candidate.option, x.candidate.mode, x.candidate.batch): x.score(plan.ask)
        / x.candidate.score(plan.ask.by)
        for x in plan.ranked
    }
    exact |= {
        (one.option, one.mode, one.batch): math.inf
        for one in plan.lost
        if one.reason[0] == "missed in simulation"
    }
    alike: dict[tuple, float] = {}
    for (*service, _), ratio in exact.items():
        key = tuple(service)
        alike[key] = max(alike.get(key, 0.0), ratio)
    return exact, alike


def leading(plan: Plan, ask: Ask, able: list[Candidate]) -> dict:
    """Return who wins among candidates, and whether it is the winner of the plan."""
    ordered = scores(plan, ask, able)
    if not ordered:
        return {"changes": True, "winner": None, "score": None}
    best, one = ordered[0]
    won = plan.winner.candidate
    own = min((x for x, other in ordered if same(won, other)), default=math.inf)
    stays = own <= best * (1 + 1e-9)
    return {
        "changes": not stays,
        "winner": won.name if stays else one.name,
        "score": own if stays else best,
    }


def prices(plan: Plan) -> list[dict]:
    """Return what becomes of the winner when its device is dearer, or a rival's cheaper.

    ``turns`` is the change of price at which another device wins, None where there is none.
    """
    won = plan.winner
    if plan.ask.by != "usd":
        return []
    rivals = [
        pair
        for pair in scores(plan, plan.ask, plan.sized)
        if pair[1].option.hardware != won.candidate.option.hardware
    ]
    if not rivals:
        return [
            {"what": "price of its device", "changes": False, "turns": None, "winner": None},
        ]
    best, one = rivals[0]
    dearer, cheaper = best / won.usd - 1, won.usd / best - 1
    return [
        {
            "what": f"price of {won.candidate.option.hardware} {PRICE:+.0%}",
            "changes": won.usd * (1 + PRICE) > best,
            "turns": dearer,
            "winner": one.name,
        },
        {
            "what": f"price of {one.option.hardware} {-PRICE:+.0%}",
            "changes": best * (1 - PRICE) < won.usd,
            "turns": cheaper,
            "winner": one.name,
        },
    ]


def loads(plan: Plan) -> list[dict]:
    found = []
    for factor in LOADS:
        ask = replace(plan.ask, rps=plan.ask.rps * factor)
        what = f"load {factor - 1:+.0%}"
        found.append({"what": what, **leading(plan, ask, resized(plan, ask))})
    return found


def ends(plan: Plan, one: Candidate) -> tuple[float, float]:
    """Return how much faster and slower a step may be: ends of its 90 % interval over it."""
    case, flight = one.option.case, min(one.batch, one.rate * one.latency["e2e"] + 1)
    said = outlook(case, plan.ask.engine, [flight], [case.isl]).metrics["tpot_ms"]
    return float(said.low[0] / said.value[0]), float(said.high[0] / said.value[0])


def efficiency(plan: Plan) -> list[dict]:
    """Return who wins if the winner is as slow as it may be, or a rival as fast as it may be."""
    won = plan.winner.candidate
    found = []
    slow = ends(plan, won)[1]
    able = with_factors(plan, {won.option.hardware: slow})
    what = f"{won.option.hardware} {slow:.2f} times as slow, the end of its interval"
    found.append({"what": what, **leading(plan, plan.ask, able)})
    rivals: dict[str, Candidate] = {}
    for _, one in scores(plan, plan.ask, plan.sized):
        if one.option.hardware != won.option.hardware:
            rivals.setdefault(one.option.hardware, one)
    upset = []
    for hardware, one in list(rivals.items())[:RIVALS]:
        fast = ends(plan, one)[0]
        told = leading(plan, plan.ask, with_factors(plan, {hardware: fast}))
        upset.append({"what": f"{hardware} at the fast end, {fast:.2f} of its time", **told})
    return found + ([x for x in upset if x["changes"]] or upset[:1])


def with_factors(plan: Plan, factors: dict[str, float]) -> list[Candidate]:
    """Return the candidates of a plan if devices were so many times as slow.

    Only theirs are sized again: no option's size depends on another's.
    """
    others = [one for one in plan.sized if one.option.hardware not in factors]
    places = [i for i, one in enumerate(plan.curves.options) if one.hardware in factors]
    some = plan.curves.of(np.array(places, int))
    each = np.array([factors[one.hardware] for one in some.options])
    return others + resized(plan, plan.ask, some.slowed(each))


def sensitivity(plan: Plan) -> list[dict]:
    """Return all changes that were tried; none without a winner."""
    if plan.winner is None:
        return []
    return [*prices(plan), *loads(plan), *efficiency(plan)]
