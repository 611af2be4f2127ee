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
from .files import ROOT
from .numbers import digits
from .service.metrics import latencies, measured
from .service.promise import kept, promise
from .service.read import read_log
from .simulate.arrivals import Lengths
from .simulate.plan import Load, Service
from .simulate.run import Outcome, report, simulate

SHOWN = {
    ("ttft", "p50"): "TTFT, half of all within",
    ("ttft", "p99"): "TTFT, 99 of 100 within",
    ("gap", "p99"): "gap between tokens, 99 of 100 within",
}
CLASSES = (512, 2048)  # ends of the classes of prompts, tokens


def _text(slo: list[list[str]]) -> str:
    """Write a promise of a notebook, pairs of a latency and a limit, as a command has it."""
    return ", ".join(f"{name}={limit}" for name, limit in slo)


def _load(case: Case, count: int, seed: int, slo: list[list[str]] = (), **arrivals) -> Load:
    lengths = Lengths(case.scenario.isl, case.scenario.osl)
    return Load(lengths, count=count, seed=seed, limits=tuple(promise(_text(slo))), **arrivals)


def _subtitle(case: Case, more: str) -> list[str]:
    scenario = case.scenario
    return [
        f"{scenario.isl:,} tokens in, {scenario.osl:,} out; {more}",
        f"{scenario.model} on {scenario.hardware}, {scenario.weights}, as vLLM is predicted",
    ]


def load_curve(case: Case, rates: list[float], requests: int, seed: int):
    """Draw latencies over the rate of arrivals, as far as they exist."""
    if not case.runs:
        return case.fit()
    rows, most = [], 0.0
    for rate in rates:
        told = report(simulate(Service(case.scenario), _load(case, requests, seed, rate=rate)))
        most = told["most_rps"]
        if not told["saturated"]:
            rows += [
                {"x": rate, "y": 1e3 * told["latency_s"][name][what], "group": says}
                for (name, what), says in SHOWN.items()
            ]
    if not rows:
        return HTML("<p>No rate of this figure can be served.</p>")
    title = f"No latency beyond {digits(most)} requests/s"
    chart = figures.lines(
        rows,
        "requests that arrive (1/s)",
        "time (ms)",
        title,
        _subtitle(case, "whole prompts join the step"),
        log=True,
    )
    columns = {
        "group": Column("figure"),
        "x": Column("arrival_rate", "1/s", "arrivals"),
        "y": Column("time", "ms"),
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
    rows = []
    for name, told in policies:
        for rate in rates:
            service = Service(case.scenario, **told)
            found = simulate(service, _load(case, requests, seed, slo, rate=rate))
            good = 0.0 if found.saturated else report(found)["goodput_rps"]
            rows.append({"x": rate, "y": good, "group": name})
    best = max(rows, key=lambda row: row["y"])
    chart = figures.lines(
        rows,
        "requests that arrive (1/s)",
        "requests that keep the promise (1/s)",
        f"At best {digits(best['y'])} requests/s, {best['group']}",
        _subtitle(case, _text(slo)),
    )
    columns = {
        "group": Column("batching"),
        "x": Column("arrival_rate", "1/s", "arrivals"),
        "y": Column("goodput", "1/s"),
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
        words = ("waits", "prefill, with the steps of others", "answer")
        ends = [1e3 * time for time in times]
        spans += [
            {"lane": lane, "begin": begin, "end": end, "what": what}
            for what, begin, end in zip(words, ends, ends[1:], strict=False)
            if end > begin
        ]
    spans.sort(key=lambda span: span["what"], reverse=True)
    title = f"{len(lanes)} requests through {told.get('policy', 'continuous')} batching"
    chart = figures.timeline(
        spans, [], lanes, title, _subtitle(case, f"{rate:g} requests/s arrive")
    )
    name = f"{told.get('policy', 'continuous')} {case.scenario.name}"
    return figures.renamed(chart, f"requests on their way {name}")


# The loop: monitor, find the pattern, change one thing, measure again ----------------------------


def monitor(path: str, slo: list[list[str]]) -> Markdown:
    """Show what a log says as a whole."""
    found = measured(read_log(ROOT / path), promise(_text(slo)))
    kept_ = _text(slo)
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
    log, limits = read_log(ROOT / path), promise(_text(slo))
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


def changes(case: Case, path: str, slo: list[list[str]], tried: list[list]) -> Markdown | None:
    """Show the same requests served again, with one thing changed each time.

    ``tried`` are pairs of a name and what a service is told.
    """
    if not case.runs:
        return case.fit()
    head = ["one change", "devices", "goodput, 1/s", "keep it"]
    head += ["TTFT, p95, ms", "gap, p99, ms", "USD a million kept"]
    rows = []
    for name, told in tried:
        found = again(case, path, slo, told)
        made = report(found)
        if made["saturated"]:
            rows.append(f"| {name} | {made['devices']} | – | – | – | – | – |")
            continue
        dollars = made["spent"]["USD"]
        each = None if dollars is None else dollars / max(found.tally.good, 1) * 1e6
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
        limits=tuple(promise(_text(slo))),
    )
    return simulate(Service(case.scenario, **told), load)
