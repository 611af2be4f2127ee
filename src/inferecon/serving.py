"""What the notebook of serving calls: curves over the load, requests on their way, and the loop.

Everything is simulated anew from a seed; times of a step are those of the calibrated laws.
"""

from dataclasses import replace

import numpy as np
from IPython.display import HTML, Markdown

from . import figures
from .book import Case
from .errors import BadInput
from .figures import Column
from .figures.meaning import PHASES
from .files import ROOT
from .forecast import outlook
from .numbers import digits
from .service.metrics import latencies, measured
from .service.promise import kept, promise
from .service.read import read_log
from .simulate.arrivals import Lengths
from .simulate.plan import Load, Service
from .simulate.run import Outcome, report, simulate, tables_of

SHOWN = {
    ("ttft", "p50"): "TTFT, half of all within",
    ("ttft", "p99"): "TTFT, 99 of 100 within",
    ("gap", "p99"): "gap between tokens, 99 of 100 within",
}
WORDS = ("waits", "prefill, with the steps of others", "answer")
COLOURS = dict(zip(WORDS, ("#B9B9B9", *PHASES.values()), strict=True))
BAND = "band: steps as short and as long as the 90 % interval of their prediction"
TYPICAL = 16  # sequences of the step whose interval is taken
CLASSES = (512, 2048)  # ends of the classes of prompts, tokens


def written(slo: list[list[str]]) -> str:
    """Write a promise of a notebook, pairs of a latency and a limit, as a command has it."""
    return ", ".join(f"{name}={limit}" for name, limit in slo)


def _load(case: Case, count: int, seed: int, slo: list[list[str]] = (), **arrivals) -> Load:
    lengths = Lengths(case.scenario.isl, case.scenario.osl)
    return Load(lengths, count=count, seed=seed, limits=tuple(promise(written(slo))), **arrivals)


def _subtitle(case: Case, more: str) -> list[str]:
    scenario = case.scenario
    return [
        f"{scenario.isl:,} tokens in, {scenario.osl:,} out; {more}",
        f"{scenario.model} on {scenario.hardware}, {scenario.weights}, as vLLM is predicted",
    ]


def _ends(case: Case) -> tuple[float, float]:
    """Return the ends of the 90 % interval of a step's time, over the time itself."""
    isl = case.scenario.isl
    said = outlook(case.scenario, "vllm", [TYPICAL], [isl]).metrics["tpot_ms"]
    return float(said.low[0] / said.value[0]), float(said.high[0] / said.value[0])


def _served(service: Service, load: Load, ends: tuple[float, float]) -> list[dict]:
    """Return what becomes of a load if steps are as long as predicted, as short and as long as
    the interval of the prediction allows."""
    tables = tables_of(service, load)
    paces = (1.0, *ends)
    return [report(simulate(service, load, tables=tables.slowed(pace))) for pace in paces]


def load_curve(case: Case, rates: list[float], requests: int, seed: int):
    """Draw latencies over the rate of arrivals, as far as they exist."""
    if not case.runs:
        return case.fit()
    rows, most, ends = [], [], _ends(case)
    for rate in rates:
        all_ = _served(Service(case.scenario), _load(case, requests, seed, rate=rate), ends)
        most = [told["most_rps"] for told in all_]
        for (name, what), says in SHOWN.items():
            found = [
                None if told["saturated"] else 1e3 * told["latency_s"][name][what] for told in all_
            ]
            row = {"x": rate, "y": found[0], "group": says}
            if None not in found:  # the slow end may be served no more where the middle is
                row |= {"low": min(found), "high": max(found)}
            rows += [row] if found[0] is not None else []
    rows.sort(key=lambda row: [*SHOWN.values()].index(row["group"]))
    if not rows:
        return HTML("<p>No rate of this figure can be served.</p>")
    title = f"No latency beyond {digits(most[0])} requests/s"
    title += f" ({digits(min(most))} to {digits(max(most))})"
    chart = figures.lines(
        rows,
        "requests that arrive (1/s)",
        "time (ms)",
        title,
        [*_subtitle(case, "whole prompts join the step"), BAND],
        log=True,
    )
    columns = {
        "group": Column("figure"),
        "x": Column("arrival_rate", "1/s", "arrivals"),
        "y": Column("time", "ms"),
        "low": Column("time, short steps", "ms"),
        "high": Column("time, long steps", "ms"),
    }
    return figures.renamed(chart, f"load curve {case.scenario.name}", columns)


def goodput_curve(
    case: Case,
    rates: list[float],
    policies: list[list],
    slo: list[list[str]],
    requests: int,
    seed: int,
):
    """Draw requests that keep a promise over requests that arrive, one line a way to batch.

    ``policies`` are pairs of a name and what a service is told.
    """
    if not case.runs:
        return case.fit()
    rows, ends = [], _ends(case)
    for name, told in policies:
        for rate in rates:
            service = Service(case.scenario, **told)
            all_ = _served(service, _load(case, requests, seed, slo, rate=rate), ends)
            good = [0.0 if made["saturated"] else made["goodput_rps"] for made in all_]
            row = {"x": rate, "y": good[0], "low": min(good), "high": max(good), "group": name}
            rows.append(row)
    best = max(rows, key=lambda row: row["y"])
    chart = figures.lines(
        rows,
        "requests that arrive (1/s)",
        "requests that keep the promise (1/s)",
        f"At best {digits(best['y'])} requests/s, {best['group']}",
        [*_subtitle(case, written(slo)), BAND],
    )
    columns = {
        "group": Column("batching"),
        "x": Column("arrival_rate", "1/s", "arrivals"),
        "y": Column("goodput", "1/s"),
        "low": Column("goodput, least", "1/s"),
        "high": Column("goodput, most", "1/s"),
    }
    return figures.renamed(chart, f"goodput curve {case.scenario.name}", columns)


def on_their_way(case: Case, told: dict, rate: float, shown: int, seed: int):
    """Draw the first requests of a run: each waits, is prefilled, and is answered."""
    if not case.runs:
        return case.fit()
    load = _load(case, max(shown, 2), seed, rate=rate)
    found = simulate(Service(case.scenario, **told), replace(load, warm=0.0), watch=shown)
    spans, lanes = [], []
    for number, *times in sorted(found.tally.seen):
        lane = f"request {number + 1}"
        lanes.append(lane)
        ends = [1e3 * time for time in times]
        spans += [
            {"lane": lane, "begin": begin, "end": end, "what": what}
            for what, begin, end in zip(WORDS, ends, ends[1:], strict=False)
            if end > begin
        ]
    begun = {span["lane"]: span["begin"] for span in reversed(spans)}
    first = [span["end"] - begun[span["lane"]] for span in spans if span["what"] == WORDS[1]]
    title = f"{told.get('policy', 'continuous').capitalize()} batching: the first token takes "
    title += f"{digits(min(first))} to {digits(max(first))} ms"
    subtitle = _subtitle(case, f"{rate:g} requests/s arrive")
    chart = figures.timeline(spans, [], lanes, title, subtitle, COLOURS)
    name = f"{told.get('policy', 'continuous')} {case.scenario.name}"
    return figures.renamed(chart, f"requests on their way {name}")


# The loop: monitor, find the pattern, change one thing, measure again ----------------------------


def monitor(path: str, slo: list[list[str]]) -> Markdown:
    """Show what a log says as a whole."""
    found = measured(read_log(ROOT / path), promise(written(slo)))
    kept_ = written(slo)
    rows = [
        f"| requests a second | {digits(found['rps'])} |",
        f"| output tokens a second | {digits(found['tps'])} |",
        f"| requests a second that keep {kept_} | {digits(found['goodput_rps'])} |",
    ]
    for name, says in (("ttft", "TTFT"), ("itl", "ITL, mean of a request"), ("e2e", "E2EL")):
        spread = found["latency_s"][name]
        cells = ", ".join(digits(1e3 * spread[what]) for what in ("p50", "p95", "p99"))
        rows.append(f"| {says}, ms: half, 95 and 99 of 100 within | {cells} |")
    rows += [
        f"| requests that keep {limit} | {count:,} of {found['requests']:,} |"
        for limit, count in found["met"].items()
    ]
    return Markdown("\n".join(["| figure | value |", "|---|---:|", *rows]))


def pattern(path: str, slo: list[list[str]]) -> Markdown:
    """Show who arrives, who breaks the promise, and what is prefilled, by length of the prompt."""
    log, limits = read_log(ROOT / path), promise(written(slo))
    each = latencies(log)
    good = kept(limits, each)
    places = np.digitize(log.isl, CLASSES)
    names = [
        f"up to {CLASSES[0]:,}",
        *(f"{a + 1:,} to {b:,}" for a, b in zip(CLASSES, CLASSES[1:], strict=False)),
        f"more than {CLASSES[-1]:,}",
    ]
    head = ["prompt, tokens", "requests", "prompt tokens", "keep it"]
    head += [f"{limit.name.upper()}, p95, ms" for limit in limits]
    rows = []
    for place, name in enumerate(names):
        some = places == place
        if some.any():
            cells = [
                f"{some.sum() / len(some):.0%}",
                f"{log.isl[some].sum() / log.isl.sum():.0%}",
                f"{good[some].mean():.0%}",
                *(digits(1e3 * np.nanpercentile(each[x.name][some], 95)) for x in limits),
            ]
            rows.append(f"| {name} | {' | '.join(cells)} |")
    rule = "|---|" + "---:|" * (len(head) - 1)
    return Markdown("\n".join([f"| {' | '.join(head)} |", rule, *rows]))


def served_again(case: Case, path: str, slo: list[list[str]], tried: list[list]) -> dict:
    """Serve the requests of a log again, with one thing changed each time; none if none runs.

    ``tried`` are pairs of a name and what a service is told; returned are outcomes by name.
    """
    return {name: again(case, path, slo, told) for name, told in tried} if case.runs else {}


def changes(case: Case, found: dict[str, Outcome]) -> Markdown | None:
    """Show what became of the requests that were served again."""
    if not found:
        return case.fit()
    head = ["one change", "devices", "goodput, 1/s", "keep it"]
    head += ["TTFT, p95, ms", "gap, p99, ms", "USD a million kept"]
    rows = []
    for name, one in found.items():
        made = report(one)
        if made["saturated"]:
            rows.append(f"| {name} | {made['devices']} | – | – | – | – | – |")
            continue
        dollars = made["spent"]["USD"]
        each = None if dollars is None else dollars / max(one.tally.good, 1) * 1e6
        cells = [
            f"{made['devices']}",
            digits(made["goodput_rps"]),
            f"{made['good_share']:.0%}",
            digits(1e3 * made["latency_s"]["ttft"]["p95"]),
            digits(1e3 * made["latency_s"]["gap"]["p99"]),
            digits(each),
        ]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    rule = "|---|" + "---:|" * (len(head) - 1)
    return Markdown("\n".join([f"| {' | '.join(head)} |", rule, *rows]))


def kept_by_change(case: Case, found: dict[str, Outcome]):
    """Draw the share of requests that keep the promise after each change."""
    if not found:
        return case.fit()
    made = {name: report(one) for name, one in found.items()}
    rows = [
        {"name": name, "group": "", "value": 0.0 if one["saturated"] else 100 * one["good_share"]}
        for name, one in made.items()
    ]
    best = max(rows, key=lambda row: row["value"])
    devices = made[best["name"]]["devices"]
    said = f"{best['name'].capitalize()}: {best['value']:.0f} % of the requests keep the promise"
    chart = figures.bars(
        rows,
        "% of requests that keep the promise",
        f"{said}, on {devices} {'device' if devices == 1 else 'devices'}",
        [f"{case.scenario.model} on {case.scenario.hardware}; one change each"],
    )
    columns = {"name": Column("change"), "value": Column("good_share", "%", "kept")}
    return figures.renamed(chart, f"kept by change {case.scenario.name}", columns)


def again(case: Case, path: str, slo: list[list[str]], told: dict) -> Outcome:
    """Serve the requests of a log again."""
    trace = ROOT / path
    if not trace.is_file():
        raise BadInput(f"no file {path!r}")
    log = read_log(trace)
    most = int((log.isl + log.osl).max())
    load = Load(
        Lengths(most=most),
        count=len(log.ttft),
        trace=trace,
        warm=0.0,
        limits=tuple(promise(written(slo))),
    )
    return simulate(Service(case.scenario, **told), load)
