"""Nothing keeps the promise: what is nearest to it, in words."""

import math
from collections import Counter
from dataclasses import replace

from ..numbers import digits
from ..regions import MONTH
from .ask import Ask
from .candidate import Candidate
from .choose import Plan, resized

STRIDE, HALVINGS = 100.0, 9  # the least limit is looked for between powers of it, to 1 %


def nearest_change(plan: Plan) -> list[str]:
    """Return sentences: what keeps all out, and the smallest change that lets one in."""
    ask = plan.ask
    missed = [one for one in plan.lost if one.reason[0].startswith("misses ")]
    failed = [one for one in plan.lost if one.reason[0] == "missed in simulation"]
    said: list[str] = []
    if ask.budget or ask.carbon or ask.devices:
        said += within(plan)
    if not said and failed:
        best = min(failed, key=lambda one: one.reason[2])
        said.append(
            f"By prediction {best.name} would do, but in simulation {best.reason[1]}; "
            "a looser --share, or a limit on fewer latencies, would hold."
        )
    elif not said and missed:
        said += looser(plan, missed)
    if not said:
        said += never(plan)
    return said


def looser(plan: Plan, missed: list[Candidate]) -> list[str]:
    """Say which limit keeps the nearest candidate out, and which would hold at this load."""
    ask = plan.ask
    near = min(missed, key=lambda one: (one.reason[2], one.name))
    name = near.reason[0].removeprefix("misses ")
    limit = next(x for x in ask.limits if x.name == name)
    said = [
        f"No option keeps {', '.join(x.written_out for x in ask.limits)}: the nearest, "
        f"{near.name}, takes {near.reason[1]} where {name}={limit.written} is promised, even if "
        f"nobody else disturbs: {more(near.reason[2])}."
    ]
    held = [
        sentence(plan, factor, {one.name})
        for one in ask.limits
        if (factor := least_factor(plan, {one.name}))
    ]
    if not held and (factor := least_factor(plan, {one.name for one in ask.limits})):
        held = [sentence(plan, factor, {one.name for one in ask.limits})]
    return said + (held or ["No limits would do at this load, however loose."])


def more(share: float) -> str:
    return f"{share:.0%} more" if share < 10 else f"{1 + share:,.0f} times as long"


def loosened(plan: Plan, factor: float, names: set[str]) -> list[Candidate]:
    """Return who keeps a promise of which some limits are so many times as long."""
    limits = tuple(
        x._replace(seconds=x.seconds * factor) if x.name in names else x for x in plan.ask.limits
    )
    return resized(plan, replace(plan.ask, limits=limits))


def least_factor(plan: Plan, names: set[str]) -> float | None:
    """Return how much longer some limits must be for one candidate to keep all; None for never."""
    if not loosened(plan, math.inf, names):
        return None
    low, high = 0.0, math.log(STRIDE)
    while not loosened(plan, math.exp(high), names):
        low, high = high, high + math.log(STRIDE)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if loosened(plan, math.exp(middle), names) else (middle, high)
    return math.exp(high)


def rounded_up(value: float) -> str:
    """Write a number to three digits, none less than it is: what is written would hold."""
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return f"{float(f'{math.ceil(value / step - 1e-9) * step:.3g}'):.12g}"


def sentence(plan: Plan, factor: float, names: set[str]) -> str:
    able = loosened(plan, factor, names)
    best = min(able, key=lambda one: (one.score(plan.ask.by), one.score("kwh")))
    written = ", ".join(
        f"{x.name}={rounded_up(x.seconds * factor * 1e3)}ms"
        for x in plan.ask.limits
        if x.name in names
    )
    return f"{written} would hold by prediction, on {best.devices():,} devices: {best.name}."


def within(plan: Plan) -> list[str]:
    """Say what the least takes that is asked for, and the load that fits into what is allowed."""
    ask = plan.ask
    able = resized(plan, replace(ask, budget=0.0, carbon=0.0, devices=0))
    known = [one for one in able if not math.isnan(short(ask, one))]
    if not known:
        return []
    least = min(known, key=lambda x: (short(ask, x), x.name))
    said = [
        f"Nothing keeps the promise at {ask.rps:g} requests/s within {' and '.join(ask.caps)}: by "
        f"prediction {taken(ask, least)} would, {least.name}."
    ]
    if fits(ask, least):
        said = [f"{said[0][:-1]}, but in simulation it takes more."]
    if len(ask.caps) > 1:
        said += alone(plan)
    carried = max(
        ((replicas(plan, one) * one.rate, one) for one in known if one.mode == "together"),
        key=lambda pair: pair[0],
        default=(0.0, None),
    )
    if carried[0] > 0:
        said.append(
            f"Within them at most {carried[0]:.3g} requests/s are carried, by "
            f"{replicas(plan, carried[1]):,} × {carried[1].name}; one of it takes "
            f"{carried[1].rate:.3g} requests/s."
        )
    else:
        single = min(known, key=lambda x: (short(ask, x, smallest(x)), -x.rate, x.name))
        said.append(
            f"Not even one replica fits into them: the least, {single.name}, is "
            f"{taken(ask, single, smallest(single))} and takes {single.rate:.3g} requests/s."
        )
    return said


CAPS = {"budget": "USD", "carbon": "kg CO2e", "devices": "devices"}


def alone(plan: Plan) -> list[str]:
    """Say of each cap what the least would take within the others, without it."""
    said = []
    for name, what in CAPS.items():
        if not getattr(plan.ask, name):
            continue
        free = replace(plan.ask, **{name: 0})
        able = [one for one in resized(plan, free) if fits(free, one)]
        only = replace(plan.ask, **({x: 0 for x in CAPS} | {name: 1}))
        able = [one for one in able if not math.isnan(short(only, one))]
        if able:
            one = min(able, key=lambda x: (short(only, x), x.name))
            said.append(f"Without the limit on {what} {taken(plan.ask, one)} would: {one.name}.")
    return said


def fits(ask: Ask, one: Candidate) -> bool:
    """Say whether the likely replicas are within all caps."""
    dear = ask.budget and not one.usd() <= ask.budget
    dirty = ask.carbon and not one.score("kg") <= ask.carbon
    return not dear and not dirty and not (ask.devices and one.devices() > ask.devices)


def short(ask: Ask, one: Candidate, devices: int | None = None) -> float:
    """Return what so many devices take of what is short: USD, else kg an hour, else devices."""
    share = 1.0 if devices is None else devices / one.devices()
    if ask.budget:
        return one.usd() * share
    return (one.score("kg") if ask.carbon else one.devices()) * share


def smallest(one: Candidate) -> int:
    """Return the devices of the smallest service: a replica, or one of each kind if apart."""
    return one.option.devices * (2 if one.likely[0] else 1)


def taken(ask: Ask, one: Candidate, devices: int | None = None) -> str:
    """Write the devices of the likely replicas, or so many, and what they take an hour or month."""
    count = one.devices() if devices is None else devices
    share, cost = count / one.devices(), []
    if not math.isnan(one.usd()):
        cost.append(f"{one.usd() * share:,.2f} USD/h")
    if ask.carbon and not math.isnan(one.score("kg")):
        cost.append(f"{digits(one.score('kg') * share * MONTH)} kg CO2e/month")
    paid = f" for {' and '.join(cost)}" if cost else ""
    return f"{count:,} device{'s' * (count != 1)}{paid}"


def replicas(plan: Plan, one: Candidate) -> int:
    """Return how many replicas the caps allow, each as it is at the likely number."""
    ask, most = plan.ask, 10**6
    if ask.devices:
        most = min(most, ask.devices // one.option.devices)
    if ask.budget:
        most = min(most, int(ask.budget / (one.usd() / sum(one.likely)) + 1e-9))
    if ask.carbon:
        most = min(most, int(ask.carbon / (one.score("kg") / sum(one.likely)) + 1e-9))
    return most


def never(plan: Plan) -> list[str]:
    """Say what keeps most options out, whatever is promised."""
    count = Counter(one.reason[0] for one in plan.lost)
    kind, most = count.most_common(1)[0]
    said = [f"Nothing of {plan.enumerated:,} can serve it: {most:,} times, {kind}."]
    for one in plan.lost:
        if one.reason[0] in ("does not fit", "was never measured", "has no price", "is not known"):
            said.append(f"Such as {one.name}: {one.reason[1]}.")
            break
    if count.get("has no price"):
        said.append("Without a price, --by kwh or --by kg still ranks.")
    return said
