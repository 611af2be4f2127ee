"""What a plan found, as data: in rates, per million output tokens and per month."""

import math
from collections import defaultdict

from .. import symbols as s
from ..costing.facts import dated, recorded
from ..forecast import outlook
from ..laws import footprint
from ..regions import MONTH
from .ask import Ask
from .candidate import Candidate
from .choose import AXES, Plan, axes
from .infeasible import nearest_change
from .sensitivity import sensitivity
from .trial import WARM, Confirmed


def report(plan: Plan) -> dict:
    """Return the ranked table, the frontier, who lost and why, and what would change it."""
    ask = plan.ask
    return {
        "question": asked(ask),
        "enumerated": plan.enumerated,
        "predicted": len(plan.sized),
        "ranked": [ranked(plan, x) for x in plan.ranked],
        "frontier": [predicted(ask, one) for one in plan.frontier],
        "lost": lost(plan.lost),
        "not_simulated": plan.open,
        "sensitivity": sensitivity(plan),
        "infeasible": [] if plan.ranked else nearest_change(plan),
    }


def asked(ask: Ask) -> dict:
    return {
        "model": ask.model,
        "rps": ask.rps,
        "isl": ask.isl,
        "osl": ask.osl,
        "slo": [x.written_out for x in ask.limits],
        "share": ask.share,
        "engine": ask.engine,
        "kv": ask.kv,
        "grid": ask.grid,
        "by": ask.by,
        "budget_usd_per_hour": ask.budget or None,
        "budget_kg_per_month": ask.carbon * MONTH or None,
        "host_power_w": ask.host or None,
        "most_devices": ask.devices or None,
        "hardware": list(ask.hardware),
        "formats": list(ask.formats),
        "seed": ask.seed,
    }


def number(value: float) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def amounts(ask: Ask, **each: float) -> dict:
    """Return what is given by the hour, the same per million output tokens, and per month."""
    tokens = ask.million_an_hour
    found = {}
    for name, hourly in each.items():
        found[f"{name}_per_hour"] = number(hourly)
        found[f"{name}_per_million_output"] = number(hourly / tokens)
        found[f"{name}_per_month"] = number(hourly * MONTH)
    return found


def placed(one: Candidate, replicas: tuple[int, int]) -> dict:
    case = one.option.case
    return {
        "service": one.name,
        "hardware": one.option.hardware,
        "weights": one.option.weights,
        "activations": case.activations,
        "tp": one.option.tp,
        "ep": one.option.ep,
        "mode": one.mode,
        "batch": one.batch,
        "replicas": replicas[1] if not replicas[0] else None,
        "prefill_workers": replicas[0] or None,
        "decode_workers": replicas[1] if replicas[0] else None,
        "devices": one.devices(replicas),
    }


def predicted(ask: Ask, one: Candidate) -> dict:
    """Return a candidate with its mean latencies: simulated if it is confirmed, else predicted."""
    found = placed(one, one.likely) | {"confirmed": one.confirmed}
    found |= amounts(ask, usd=one.usd(), kwh=one.score("kwh"), kg=one.score("kg"))
    return found | {f"{name}_mean_s": number(one.latency[name]) for name in ("ttft", "itl")}


def ranked(plan: Plan, found: Confirmed) -> dict:
    """Return a plan that kept its promise, with what its simulation told."""
    ask, one, told = plan.ask, found.candidate, found.told
    kwh, kg = found.hourly(ask, one.wh), found.hourly(ask, one.grams)
    case = one.option.case
    said = outlook(case, ask.engine, [one.batch], [case.isl])
    offer = case.offer
    return {
        **placed(one, found.replicas),
        **amounts(ask, usd=found.usd, kwh=kwh, kg=kg, **beside(ask, found)),
        "latency_s": {name: told["latency_s"][name] for name in ("ttft", "itl", "gap", "e2e")},
        "good_share": found.good,
        "seeds": found.seeds,
        "hosts": hosts(ask, found),
        "goodput_rps": ask.rps * found.good,
        "load": number(found.load),
        "utilisation": told["utilisation"],
        "mean_batch": told["batch"]["mean"],
        "known": str(said.known[0]),
        "price": None
        if offer is None
        else {"usd_per_device_hour": one.option.price, "of": offer.provider, "date": dated(offer)},
        "best_on": best_on(plan, found),
        "replicas_tried": {str(count): good for count, good in found.tried.items()},
        "command": command(ask, found),
    }


def beside(ask: Ask, found: Confirmed) -> dict[str, float]:
    """Return what stands beside the use of devices, an hour: making them in kg, water in litres.

    NaN where no record says what making one emitted, or what water its grid takes.
    """
    one = found.candidate

    def taken(symbol) -> float:
        fact = recorded(symbol, one.option.hardware, ask.grid)
        return math.nan if fact is None else fact.value

    made = {x: taken(x) for x in (s.embodied_carbon, s.lifetime)}
    wet = {x: taken(x) for x in (s.pue, s.wue, s.grid_water)}
    grams = footprint.EMBODIED_RATE(made) * found.devices
    litres = footprint.WATER(wet | {s.energy_per_token: found.watts(ask)})  # of a second
    return {"embodied_kg": float(grams) * 3.6, "litres": float(litres) * 3600}


def hosts(ask: Ask, found: Confirmed) -> dict:
    """Return what hosts take: counted with the devices if stated, else beside them if recorded."""
    one = found.candidate
    fact = None if ask.host else recorded(s.host_power, one.option.hardware, ask.grid)
    each = ask.host or (math.nan if fact is None else fact.value)
    watts = each * found.devices
    return {
        "counted": bool(ask.host),
        "watts_per_device": number(each),
        "low": None if fact is None else fact.low,
        "high": None if fact is None else fact.high,
        "from": "as stated" if ask.host else None if fact is None else fact.source,
        "kwh_per_month": number(watts * 3600 * one.wh / 1e3 * MONTH),
        "kg_per_month": number(watts * 3600 * one.grams / 1e3 * MONTH),
    }


def best_on(plan: Plan, found: Confirmed) -> bool:
    """Say whether no other that was simulated is as good in all figures and better in one."""
    mine = simulated(plan.ask, found)
    others = [simulated(plan.ask, x) for x in plan.ranked if x is not found]
    return not any(
        all(a <= b for a, b in zip(other, mine, strict=True)) and other != mine for other in others
    )


def simulated(ask: Ask, found: Confirmed) -> tuple[float, ...]:
    """Return the figures of the frontier as a simulation has them, the latencies at p95."""
    latency = found.told["latency_s"]
    itl = latency["itl"]["p95"] if latency["itl"] else 0.0
    one = found.candidate
    given = (found.usd, found.hourly(ask, one.wh), found.hourly(ask, one.grams))
    given = (*given, latency["ttft"]["p95"], itl)
    return tuple(math.inf if math.isnan(x) else x for x in given)


def command(ask: Ask, found: Confirmed) -> str:
    """Return the command that makes the run which a plan reports, to the last digit.

    It serves with one of the parts that do the same, as the plan did; without `--alike` all serve.
    """
    one = found.candidate
    slo = ",".join(x.written_out for x in ask.limits)
    words = [
        f"inferecon simulate {ask.model} {one.option.hardware} {one.option.weights}",
        f"--tp {one.option.tp} --ep {one.option.ep} --batch {one.batch} --rate {ask.rps:g}",
        f"--isl {ask.isl} --osl {ask.osl} --engine {ask.engine} --kv {ask.kv} --grid {ask.grid}",
    ]
    if ask.burst != 1:
        words.append(f"--burst {ask.burst:g}")
    if slo:
        words.append(f"--slo {slo}")
    prefills, others = found.replicas
    if prefills:
        words.append(f"--prefill-workers {prefills} --decode-workers {others}")
    else:
        words.append(f"--replicas {others}")
    if found.served(ask).parts > 1:
        words.append("--alike")
    words.append(f"--requests {found.count} --warm {WARM:g} --seed {ask.seed}")
    return " ".join(words)


def lost(candidates: list[Candidate]) -> list[dict]:
    """Return reasons with their counts, and the one that came nearest, most frequent first."""
    groups: dict[str, list[Candidate]] = defaultdict(list)
    for one in candidates:
        groups[one.reason[0]].append(one)
    found = []
    for kind, some in sorted(groups.items(), key=lambda pair: -len(pair[1])):
        near = min(some, key=lambda one: (one.reason[2], one.name))
        devices = sorted({one.option.hardware for one in some})
        found.append(
            {
                "reason": kind,
                "count": len(some),
                "hardware": devices,
                "nearest": near.name,
                "said": near.reason[1],
                "by": near.reason[2] or None,
            }
        )
    return found


def rank(one: Candidate, place: int) -> tuple:
    return axes(one)[place], not one.confirmed, axes(one)


def picks(plan: Plan) -> list[tuple[str, Candidate]]:
    """Return who of the frontier is best in each figure that is known; of equals, the confirmed."""
    found = []
    for place, name in enumerate(AXES):
        known = [one for one in plan.frontier if math.isfinite(axes(one)[place])]
        if known:
            found.append((name, min(known, key=lambda one: rank(one, place))))
    return found
