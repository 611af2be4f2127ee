"""How a simulated run is told in a terminal."""

import numpy as np

from ..numbers import digits
from ..predictions import HOSTS
from ..service.words import table
from .run import Outcome, report

BARS, WIDE = 8, 32


def as_text(found: Outcome) -> str:
    """Return load, latencies, rates, batches and what it took; no latency if saturated."""
    told, service, load = report(found), found.service, found.load
    lines = [
        f"{told['combination']} on {told['devices']} device{'s' * (told['devices'] > 1)}, "
        f"{service.engine}, {how(found)}",
        f"{counted(told)} in {digits(told['seconds'])} s, seed {load.seed}",
        "",
    ]
    if told["saturated"]:
        return "\n".join([*lines, f"saturated: {told['saturated']}", *told["notes"]])
    lines += table({name: told["latency_s"][name] for name in ("ttft", "itl", "gap", "e2e")})
    lines.append(f"percentiles to {told['percentile_error']:.1%} of their value")
    lines += [
        "",
        f"{'TPS, throughput':<26}{digits(told['tps']):>10} output tokens/s",
        f"{'RPS':<26}{digits(told['rps']):>10} requests/s"
        + (f", at most {digits(told['most_rps'])}" if told["most_rps"] else ""),
    ]
    if load.limits and told["good_share"] is not None:
        limits = ", ".join(limit.written_out for limit in load.limits)
        lines.append(
            f"{'goodput':<26}{digits(told['goodput_rps']):>10} requests/s that kept {limits}, "
            f"{told['good_share']:.1%}"
        )
    if told["most_rps"] and told["load_rps"]:
        of = told["load_rps"] / told["most_rps"]
        lines.append(f"{'load':<26}{of:>10.1%} of the most that can be served")
    lines.append(f"{'a step runs':<26}{told['utilisation']:>10.1%} of the time, whatever its batch")
    lines += bars(told["batch"])
    lines += ["", *costs(told["spent"])]
    return "\n".join([*lines, *(["", *told["notes"]] if told["notes"] else [])])


def how(found: Outcome) -> str:
    """Return in words how a service batches and who arrives."""
    service, load = found.service, found.load
    place = f"{service.policy}, batch at most {service.batch}"
    if service.policy == "chunked":
        place += f", {service.chunk:,} tokens a step"
    if service.speculation.drafts:
        place += f", {service.speculation.drafts} drafted, {service.speculation.acceptance:g} kept"
    if service.prefix:
        place += f", {service.prefix:g} of each prompt in the cache"
    if service.apart:
        place += f", {service.prefill_workers} to prefill and {service.decode_workers} to decode"
    elif service.replicas > 1:
        place += f", {service.replicas} replicas, {service.route}"
    if load.trace is not None:
        return f"{place}; arrivals of {load.trace.name}"
    if load.clients:
        return f"{place}; {load.clients} clients in a closed loop"
    bursts = "" if load.variation == 1 else f" in bursts of variation {load.variation:g}"
    return f"{place}; {load.rate:g} requests/s{bursts}"


def counted(told: dict) -> str:
    """Return how many requests ended how."""
    requests, parts = told["requests"], told["stands_for"]
    beside = ", ".join(
        f"{count:,} {name}" for name, count in requests.items() if count and name != "completed"
    )
    one = f" by one of {parts:,} that do the same, and stands for all" if parts > 1 else ""
    return f"{requests['completed']:,} requests completed{one}" + (f", {beside}" if beside else "")


def bars(batch: dict) -> list[str]:
    """Return the share of the time at each range of batches, as a chart of letters."""
    seconds = {size: time for size, time in batch["seconds"].items() if time}
    whole = sum(seconds.values())
    if not whole:
        return []
    most = max(seconds)
    ends = np.unique(np.ceil(np.linspace(0, most, BARS + 1)).astype(int)) if most else [0]
    lines = ["", f"batch, mean {digits(batch['mean'])} while something runs"]
    for low, high in zip([0, *[end + 1 for end in ends]], ends, strict=False):
        share = sum(time for size, time in seconds.items() if low <= size <= high) / whole
        name = "idle" if high == 0 else f"{low}" if low == high else f"{low} to {high}"
        lines.append(f"{name:>14}{share:>8.1%} {'█' * round(share * WIDE)}".rstrip())
    return lines


def costs(spent: dict) -> list[str]:
    """Return energy, emissions and price of the whole run."""
    rows = [
        ("energy, PUE included", spent["kWh"], f"kWh, {spent['idle_share']:.1%} of it idle"),
        ("emissions", spent["kgCO2e"], "kg CO2e"),
        ("price", spent["USD"], "USD"),
        ("price of a million out", spent["USD_per_million_output"], "USD"),
    ]
    return [
        f"{name:<26}{'missing' if value is None else digits(value):>10}"
        + ("" if value is None else f" {unit}")
        for name, value, unit in rows
    ] + [HOSTS]
