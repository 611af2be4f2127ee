"""How a plan is told in a terminal."""

from ..numbers import digits
from ..predictions import ENGINES
from .choose import Plan
from .report import picks, predicted

COLUMNS = (
    ("devices", "devices", 1.0),
    ("USD/h", "usd_per_hour", 1.0),
    ("USD/month", "usd_per_month", 1.0),
    ("USD/Mtok", "usd_per_million_output", 1.0),
    ("kWh/Mtok", "kwh_per_million_output", 1.0),
    ("kg/Mtok", "kg_per_million_output", 1.0),
)
LATENCIES = (("TTFT p50", "ttft", "p50"), ("p95", "ttft", "p95"), ("ITL p50", "itl", "p50"))
LATENCIES += (("p95", "itl", "p95"),)
NAMES = {"usd": "USD", "kwh": "kWh", "kg": "kg CO2e", "ttft": "mean TTFT", "itl": "mean ITL"}


def as_text(plan: Plan, told: dict) -> str:
    """Return the question, the table, the frontier, who lost, and what would change it."""
    ask = plan.ask
    slo = ", ".join(told["question"]["slo"]) or "no limit"
    lines = [
        f"{ask.model}, {ask.rps:g} requests/s of {ask.isl:,} tokens in and {ask.osl:,} out, "
        f"{ask.share:.0%} within {slo}, {ENGINES[ask.engine]}, grid {ask.grid}"
        + "".join(f", at most {cap}" for cap in ask.caps),
        f"{told['enumerated']:,} candidates, {told['predicted']:,} keep it by prediction, "
        f"{len(told['ranked'])} when simulated",
        "",
    ]
    if told["ranked"]:
        lines += table(told["ranked"])
        lines += front(plan)
    else:
        lines += told["infeasible"]
    lines += losers(told["lost"])
    if told["sensitivity"]:
        lines += ["", "would another win, by prediction?"]
        lines += [changed(one) for one in told["sensitivity"]]
    if told.get("advice"):
        lines += ["", *told["advice"]]
    if told["ranked"]:
        lines += ["", f"simulate the first: {told['ranked'][0]['command']}"]
    return "\n".join(lines)


def table(rows: list[dict]) -> list[str]:
    """Return a line a plan; a star stands for one that no other simulated beats in all."""
    wide = max(len(where(row)) for row in rows) + 5
    heads = [name for name, _, _ in COLUMNS] + [name for name, _, _ in LATENCIES]
    lines = [" " * wide + "".join(f"{name:>11}" for name in heads) + f"{'load':>8}{'kept':>8}"]
    for place, row in enumerate(rows, 1):
        cells = [cell(row[key]) for _, key, _ in COLUMNS]
        for _, name, share in LATENCIES:
            found = row["latency_s"][name]
            cells.append("missing" if found is None else f"{digits(found[share] * 1e3)} ms")
        star = "*" if row["best_on"] else " "
        lines.append(
            f"{place:>2}{star} {where(row):<{wide - 4}}"
            + "".join(f"{x:>11}" for x in cells)
            + f"{percent(row['load']):>8}{row['good_share']:>8.1%}"
        )
    first = rows[0]
    price = first["price"]
    paid = "no price" if price is None else f"{price['of']}, {price['date']}"
    lines += [
        "* no other in the table is better in USD, kWh, kg, TTFT and ITL at once; load: what "
        "arrives over the most that can be served",
        f"the first a month: {amount(first, 'usd', 'USD')}, {amount(first, 'kwh', 'kWh')} with "
        f"PUE, {amount(first, 'kg', 'kg CO2e')}; price: {paid}; step times {first['known']}",
        hosts(first),
        f"beside it a month: making of the devices: {amount(first, 'embodied_kg', 'kg CO2e')}; "
        f"water of site and grid: {amount(first, 'litres', 'L')}",
    ]
    return lines


def hosts(row: dict) -> str:
    """Say whether kWh, kg and water count the hosts of the devices, and what those take if not."""
    told = row["hosts"]
    if told["counted"]:
        watts = f"{digits(told['watts_per_device'])} W of host"
        return f"kWh, kg and water count {watts} with each device; its rent has its host in it"
    head = "kWh, kg and water are of the devices; their rent has the hosts in it, whose own "
    if told["watts_per_device"] is None:
        return (
            f"{head}draw no record states for {row['hardware']}: missing, and --host-power W "
            "counts it for all"
        )
    month = {
        unit: "missing" if told[key] is None else digits(told[key])
        for unit, key in (("kWh", "kwh_per_month"), ("kg CO2e", "kg_per_month"))
    }
    beside = " and ".join(f"{value} {unit}" for unit, value in month.items())
    return (
        f"{head}draw for the first is {digits(told['watts_per_device'])} W a device "
        f"({digits(told['low'])} to {digits(told['high'])}, {told['from']}): {beside} a month "
        "beside it; --host-power W counts it for all"
    )


def where(row: dict) -> str:
    if row["prefill_workers"]:
        many = f"{row['prefill_workers']} prefill + {row['decode_workers']} decode"
    else:
        many = f"{row['replicas']:,} ×"
    ep = f" ep {row['ep']}" if row["ep"] > 1 else ""
    return f"{many} {row['hardware']}/{row['weights']} tp {row['tp']}{ep} batch {row['batch']}"


def cell(value: float | None) -> str:
    if value is None:
        return "missing"
    return f"{value:,}" if isinstance(value, int) else digits(value)


def percent(share: float | None) -> str:
    return "missing" if share is None else f"{share:.0%}"


def amount(row: dict, name: str, unit: str) -> str:
    value = row[f"{name}_per_month"]
    return f"{unit} missing" if value is None else f"{digits(value)} {unit}"


def front(plan: Plan) -> list[str]:
    """Return who is best in each figure among those that no other beats; ~ is not simulated."""
    lines = ["", frontier(plan)]
    seen: dict[str, list[str]] = {}
    rows = {}
    for name, one in picks(plan):
        seen.setdefault(one.name, []).append(NAMES[name])
        rows[one.name] = predicted(plan.ask, one)
    for key, names in seen.items():
        row = rows[key]
        usd = cell(row["usd_per_million_output"])
        lines.append(
            f"{' ' if row['confirmed'] else '~'} least {', '.join(names)}: {where(row)}: "
            f"{usd} USD/Mtok, "
            f"{cell(row['kwh_per_million_output'])} kWh/Mtok, mean TTFT "
            f"{digits(row['ttft_mean_s'] * 1e3)} ms, ITL {digits(row['itl_mean_s'] * 1e3)} ms"
        )
    return lines


def frontier(plan: Plan) -> str:
    """Say how many are on the frontier, and how many of them a simulation confirmed."""
    sure = sum(one.confirmed for one in plan.frontier)
    return (
        f"frontier: {len(plan.frontier):,} that no other beats in all figures and no simulation "
        f"refuted; {sure:,} as simulated, the others (~) by prediction alone"
    )


def over(share: float) -> str:
    """Write by what share something is beyond what is asked; far beyond it, how many times it."""
    if share >= 10:
        return f"{1 + share:,.0f} times that"
    return f"by {share:.0%}" if share >= 0.01 else "by < 1%"


def losers(groups: list[dict]) -> list[str]:
    lines = ["", "why the others lost"]
    for one in groups:
        by = f", {over(one['by'])}" if one["by"] else ""
        word = "nearest" if one["by"] else "such as"
        lines.append(
            f"{one['count']:>7,}  {one['reason']:<25} {word} {one['nearest']}: {one['said']}{by}"
        )
    return lines


def changed(one: dict) -> str:
    """Return what becomes of the winner after a change."""
    if one["winner"] is None and "turns" in one:
        return f"  {one['what']}: no other device competes"
    if one["winner"] is None:
        return f"  {one['what']}: nothing keeps the promise"
    turns = one.get("turns")
    at = "" if turns is None else f" (it turns at {turns:+.0%})"
    if one["changes"]:
        return f"  {one['what']}: yes, {one['winner']}{at}"
    return f"  {one['what']}: no{at}"
