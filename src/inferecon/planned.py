"""What the notebook of planning calls: services that keep a promise, and what they trade.

The search is that of ``inferecon plan``: candidates are sized by laws, those that may win are
simulated from a seed, and prices come from records with a date.
"""

import inspect
import math

from IPython.display import Markdown

from . import figures
from .escape import plain
from .figures import Column
from .figures.meaning import device_class
from .lists import pairs, seeded, texts
from .numbers import digits
from .planner import ask as asking
from .planner.candidate import Candidate
from .planner.choose import Plan, plan
from .planner.report import picks, predicted, report
from .planner.words import NAMES, changed, hosts, over, percent, where
from .records import load
from .regions import grid as region
from .service.promise import promise
from .tables import lines

FAR = 10  # times the least of a figure; what takes more is not drawn
MILLION = 1e6
LATE = ("ttft", "itl")
PRICED = {"devices": "devices", "USD/h": "usd_per_hour", "USD/Mtok": "usd_per_million_output"}
TAKEN = {  # for a million output tokens
    "kWh": "kwh_per_million_output",
    "kg CO2e of use": "kg_per_million_output",
    "kg of making": "embodied_kg_per_million_output",
    "litres of water": "litres_per_million_output",
}


def asked(
    model: str,
    rps: float,
    isl: int,
    osl: int,
    slo: list[list[str]],
    share: float,
    hardware: list[str],
    formats: list[str],
    modes: list[str],
    grid: str,
    budget: str,
    devices: int,
    by: str,
    seed: int,
) -> asking.Ask:
    """Return the question of a notebook.  Raises BadInput for what cannot be asked."""
    written = ",".join(f"{name}={limit}".replace(" ", "") for name, limit in pairs("slo", slo, str))
    return asking.Ask(
        model,
        rps,
        isl,
        osl,
        tuple(promise(written)),
        share,
        asking.hardware(",".join(texts("hardware", hardware))),
        asking.formats(",".join(texts("formats", formats))),
        asking.modes(",".join(texts("modes", modes))),
        grid=region(grid),
        budget=asking.budget(budget),
        devices=devices,
        by=by,
        seed=seeded(seed),
    )


ASKED = tuple(inspect.signature(asked).parameters)


def search(*given) -> Plan:
    """Search as ``inferecon plan`` does, for what ``asked`` takes.  Raises BadInput."""
    return plan(asked(*given))


def kept(found: Plan) -> Markdown:
    """Show the services that kept the promise when they were simulated, best first."""
    told = report(found)
    if not told["ranked"]:
        return Markdown("\n".join(["Nothing keeps the promise:", "", *_list(told["infeasible"])]))
    ranked = told["ranked"]
    head = ["service", *PRICED, "TTFT p95, ms", "ITL p95, ms", "load", "kept"]
    body = [
        [where(row), *_cells(row, PRICED), *(_late(row, name) for name in LATE), *_shares(row)]
        for row in ranked
    ]
    taken = [[where(row), *_cells(row, TAKEN)] for row in ranked]
    first = ranked[0]
    paid = first["price"]
    price = "" if paid is None else f", at {digits(paid['usd_per_device_hour'])} USD a device-hour"
    say = (
        f"Of {told['enumerated']:,} candidates {told['predicted']:,} keep the promise by "
        f"prediction, and {len(ranked)} were simulated and keep it. "
        f"The first takes {_amount(first['usd_per_month'])} USD a month{price}, and "
        f"{_amount(first['kwh_per_month'])} kWh with PUE; its step times are {first['known']}."
    )
    beside = f"A million output tokens take ({hosts(first)}):"
    tables = [_table(head, body), beside, _table(["service", *TAKEN], taken)]
    return Markdown("\n\n".join([say, *tables, f"    {first['command']}"]))


def front(found: Plan):
    """Draw what a million tokens take in dollars and in energy, and who is best in what."""
    ask = found.ask
    tokens = ask.rps * ask.osl * 3600 / MILLION  # million an hour
    best: dict[int, list[str]] = {}
    for name, one in picks(found):
        best.setdefault(id(one), []).append(NAMES[name])
    drawn = {id(one): one for one in [*_cheapest(found), *(one for _, one in picks(found))]}
    rows = [
        {
            "name": _called(one),
            "x": one.usd() / tokens,
            "y": one.score("kwh") / tokens,
            "class": device_class(one.option.hardware),
            "label": [_called(one), f"least {', '.join(best[id(one)])}"] if id(one) in best else "",
            "side": "under",
        }
        for one in drawn.values()
        if math.isfinite(one.usd()) and math.isfinite(one.score("kwh"))
    ]
    if not rows:
        return Markdown("Of no candidate are both price and energy known.")
    rows = _near(rows)
    steps = _front(rows)
    least = min(rows, key=lambda row: (row["x"], row["y"]))
    frugal = min(rows, key=lambda row: (row["y"], row["x"]))
    frugal["side"] = "right"  # under the lowest point is the axis
    title = f"{least['name']} is cheapest, and takes the least energy"
    if frugal is not least:
        title = f"Least energy costs {digits(frugal['x'] / least['x'], 2)} times the least price"
    chart = figures.cloud(
        sorted(rows, key=lambda row: (row["x"], row["y"])),
        "USD per million output tokens",
        "kWh per million output tokens",
        title,
        [
            f"{load('models', ask.model).name}, {ask.rps:g} requests/s, as predicted or simulated",
            "the cheapest of each device, format and way to serve that no simulation refuted",
        ],
        front=steps,
    )
    named = {"class": Column("device_class")}
    named |= {"USD per million output tokens": Column("usd_per_million_output", "USD/Mtoken")}
    named |= {"kWh per million output tokens": Column("kwh_per_million_output", "kWh/Mtoken")}
    return figures.renamed(chart, f"plan {ask.model}", named)


def best(found: Plan) -> Markdown:
    """Show who is best in each figure among those that no other beats in all.

    Those that no simulation confirmed are marked, and none that one refuted is among them.
    """
    rows: dict[str, tuple[list[str], dict]] = {}
    for name, one in picks(found):
        rows.setdefault(_called(one), ([], predicted(found.ask, one)))[0].append(NAMES[name])
    head = ["least", "service", "USD/Mtok", "kWh/Mtok", "mean TTFT, ms", "mean ITL, ms"]
    body = [
        [
            ", ".join(names),
            service if row["confirmed"] else f"{service}, by prediction alone",
            _amount(row["usd_per_million_output"]),
            _amount(row["kwh_per_million_output"]),
            *(_amount(row[f"{name}_mean_s"] and row[f"{name}_mean_s"] * 1e3) for name in LATE),
        ]
        for service, (names, row) in rows.items()
    ]
    return Markdown(_table(head, body, 2))


def _cheapest(found: Plan) -> list[Candidate]:
    """Return the cheapest candidate of each device, format and way to serve."""
    kinds: dict[tuple, Candidate] = {}
    for one in found.standing:
        kind = one.option.hardware, one.option.weights, one.mode
        if kind not in kinds or one.usd() < kinds[kind].usd():
            kinds[kind] = one
    return list(kinds.values())


def _near(rows: list[dict]) -> list[dict]:
    """Leave out what takes many times the least: the rest would share a corner."""
    ends = {axis: FAR * min(row[axis] for row in rows) for axis in ("x", "y")}
    return [row for row in rows if all(row[axis] <= end for axis, end in ends.items())]


def _front(rows: list[dict]) -> list[dict]:
    """Return the rows that no other beats in both, from left to right."""
    found: list[dict] = []
    for row in sorted(rows, key=lambda row: (row["x"], row["y"])):
        if not found or row["y"] < found[-1]["y"]:
            found.append(row)
    return found


def _called(one: Candidate) -> str:
    prefills, others = one.likely
    many = f"{prefills} + {others}" if prefills else f"{others}"
    ep = f" ep {one.option.ep}" if one.option.ep > 1 else ""
    return f"{many} × {one.option.hardware}/{one.option.weights} tp {one.option.tp}{ep}"


def lost(found: Plan) -> Markdown:
    """Show why each other candidate lost, by reason."""
    body = []
    for one in report(found)["lost"]:
        by = f", {over(one['by'])}" if one["by"] else ""
        body.append([one["reason"], f"{one['count']:,}", one["nearest"], plain(one["said"]) + by])
    return Markdown(_table(["it", "candidates", "the nearest, or one of them", ""], body, 1, 2))


def moved(found: Plan) -> Markdown:
    """Show who wins if a price, the load or the step times are others."""
    told = report(found)["sensitivity"]
    if not told:
        return Markdown("Nothing keeps the promise, so nothing can be overtaken.")
    return Markdown("\n".join(_list(changed(one).strip() for one in told)))


def _list(lines) -> list[str]:
    return [f"- {plain(line.strip())}" for line in lines]


def _amount(value: float | None) -> str:
    if value is None:
        return "missing"
    return f"{value:,}" if isinstance(value, int) else digits(value)


def _cells(row: dict, columns: dict[str, str]) -> list[str]:
    return [_amount(row[key]) for key in columns.values()]


def _shares(row: dict) -> list[str]:
    return [percent(row["load"]), f"{row['good_share']:.1%}"]


def _late(row: dict, name: str) -> str:
    found = row["latency_s"][name]
    return "missing" if found is None else digits(found["p95"] * 1e3)


def _table(head: list[str], body: list[list[str]], first: int = 1, last: int | None = None) -> str:
    return "\n".join(lines(head, body, first, last))
