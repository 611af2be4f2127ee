"""A bill as data, and as text for a terminal."""

import math

from ..numbers import digits
from ..regions import MONTH
from .reckon import ITEMS, Bill, Quantity


def as_data(bill: Bill, told: dict) -> dict:
    """Return a bill as JSON has it.

    A total that lacks a part is null, and ``known_part`` has what is known of it.
    """
    case, work = bill.case, bill.work
    return {
        "model": case.model,
        "hardware": case.hardware,
        "weights": case.weights,
        "devices_per_replica": int(work.devices),
        "replicas": work.replicas,
        "devices": int(work.devices * work.replicas),
        "grid": case.grid,
        "hold": bill.hold,
        "rps": work.rps,
        "tokens_in": work.isl,
        "tokens_out": work.osl,
        "utilisation": work.busy,
        "prefill_share": work.seconds[0] / sum(work.seconds),
        "requests_per_month": work.rps * MONTH * 3600,
        "sized_for_promise": told.get("sized", False),
        "good_share": told["good_share"],
        "latency_s": told["latency_s"],
        "known": told["known"] or None,
        "usd_per_device_hour": bill.device_hour,
        "lost_share": bill.lost_share,
        "owning_pays_from": None if bill.even in (None, math.inf) else bill.even,
        "owning_never_pays": None if bill.even is None else bill.even == math.inf,
        "per": {
            item: {name: one.total(item) for name, one in bill.quantities.items()} for item in ITEMS
        },
        "known_part": {
            item: {name: one.known(item) for name, one in bill.quantities.items()} for item in ITEMS
        },
        "parts_of_an_hour": {name: one.parts for name, one in bill.quantities.items()},
        "missing": [
            {"what": one.says, "lacking_in": list(one.touches), "why": one.why}
            for one in bill.lacking
        ],
        "facts": [
            {
                "what": fact.says,
                "value": fact.value / fact.unit.base,
                "low": fact.low / fact.unit.base,
                "high": fact.high / fact.unit.base,
                "unit": fact.unit.name,
                "from": fact.source,
                "date": fact.date,
            }
            for fact in bill.facts
        ],
    }


SHOWN = {
    "an hour": ("hour", 1),
    "a month": ("month", 1),
    "1k requests": ("request", 1000),
    "1M tok in": ("million_input_tokens", 1),
    "1M tok out": ("million_output_tokens", 1),
}


def as_text(bill: Bill, told: dict) -> str:
    """Return the bill for a terminal: what each item takes, an hour by parts, what it rests on."""
    case, work = bill.case, bill.work
    kept = "" if told["good_share"] is None else f", {told['good_share']:.1%} keep the promise"
    ttft = told["latency_s"]["ttft"]["p95"] * 1e3
    lines = [
        f"{case.model}, {case.weights} weights, {work.replicas:,} × {work.devices:.0f} "
        f"{case.hardware}, {bill.hold}",
        f"{work.rps:g} requests/s of {work.isl:,.0f} tokens in and {work.osl:,.0f} out, at most "
        f"{digits(told['most_rps'] * work.replicas)}; TTFT p95 {digits(ttft)} ms{kept}",
        f"steps run {work.busy:.1%} of the time, {work.seconds[0] / sum(work.seconds):.1%} of that "
        f"prefill; step times {told['known'] or 'predicted'}",
        *_promised(told["good_share"], told.get("sized", False)),
        "",
    ]
    rows = [[cell(one, x, n) for x, n in SHOWN.values()] for one in bill.quantities.values()]
    wide = [max(12, *(len(x) + 2 for x in column)) for column in zip(SHOWN, *rows, strict=True)]
    for unit, cells in [("", [*SHOWN]), *zip(_units(bill), rows, strict=True)]:
        lines.append(f"{unit:<10}" + "".join(f"{x:>{n}}" for x, n in zip(cells, wide, strict=True)))
    lines += ["", "an hour by parts"]
    for quantity in bill.quantities.values():
        parts = ", ".join(f"{name} {digits(x)}" for name, x in quantity.parts.items())
        lines.append(f"{quantity.unit:<10}{parts or '–'}")
    if bill.device_hour is not None:
        lines.append(f"a device costs {digits(bill.device_hour)} USD an hour {_way(bill)}")
    if bill.even is not None:
        lines.append(_even(bill.even))
    if bill.lacking:
        lines += ["", "missing, and so not in a sum (≥)"]
        lines += [f"  {one.why} ({', '.join(one.touches)})" for one in bill.lacking]
    lines += [
        "",
        "it rests on",
        *(f"  {fact.says}: {fact.quantity}, {fact.origin}" for fact in bill.facts),
    ]
    return "\n".join(lines)


def cell(quantity: Quantity, item: str, times: float = 1.0) -> str:
    """Return an amount: at least what is known of it, missing without the price of a device."""
    known = quantity.known(item)
    if known is None:
        return "missing"
    return ("≥ " if quantity.missing else "") + digits(known * times)


def _units(bill: Bill) -> list[str]:
    return [quantity.unit for quantity in bill.quantities.values()]


def _promised(share: float | None, sized: bool) -> list[str]:
    """Say whether a bill is sized for a promise, and what becomes of it."""
    if share is None:
        return []
    if sized:
        return [
            f"as few replicas as keep the promise, which {share:.1%} of the requests keep here; "
            "inferecon plan compares with other devices"
        ]
    kept = "every request keeps it" if share == 1 else f"{1 - share:.1%} of the requests break it"
    if share == 0:
        kept = "no request keeps it"
    return [f"so many replicas were asked for, and {kept}; without --replicas as few as keep it"]


def _way(bill: Bill) -> str:
    if bill.hold == "spot":
        return f"that is kept: {bill.lost_share:.2%} of the time paid is lost to interruptions"
    return "in service" if bill.hold == "owned" else "of rent"


def _even(share: float) -> str:
    if share == math.inf:
        return "an own device costs more than renting one all the time"
    return f"an own device costs less than one rented by need from {share:.0%} of the time on"
