"""Page of the simulator: what laws and measured services say of it, and what batching costs."""

import numpy as np
import pandas as pd

from ..calibration.validate import predict
from ..numbers import digits
from ..scenario import opened
from ..simulate import judge
from ..simulate.arrivals import Lengths
from ..simulate.plan import Load, Service
from ..simulate.run import report, simulate
from .marks import percent
from .queue import END, against_laws
from .text import METRICS, boxed, table

CLOSED = 60  # one in so many of the closed loops that were measured
HEAD = """\
# The simulator, judged

May a simulated latency be believed?
`inferecon simulate` lets requests arrive, wait, join a batch and leave it, and every step takes \
as long as {doc}`../calibration` says.
Where a queue has an answer in closed form it must give that answer; where a service was measured \
it can be wrong, and this page says by how much.
"""
OPEN_HEAD = """\
## Against services that were measured

Requests arrive by themselves at a rate that was chosen, 500 of them, with the mean lengths of a \
data set; the simulator draws log-normal ones.
In a closed loop a client sends its next request when it has its answer; of those one in \
{every} is served here again, ten requests a client, with lengths from 0.8 to 1 of the nominal.
The closed form beside it is the calibrated law of the same figure ({doc}`validation`).
It and the times of a step were fitted to rows of closed loops like these; how requests queue was \
fitted to nothing.
"""
MISS = """\
**Where requests come by themselves, first tokens and throughput are right to a few percent; in \
a closed loop first tokens come too early.**
All clients of a closed loop ask at once when it begins, and how an engine works off that burst, \
in which order and in which pieces, is in no record.
"""
DAY_HEAD = """\
## Against a service of two phases

DeepSeek published what a node of its service made in one day, prefill and decode on units of \
their own.
Here a prefill unit is kept busy with prompts of the day's mean, of which the published share \
is in the cache, and a decode unit holds as many sequences as write at the published speed.
"""
DAY = """\
What is simulated never rests.
The published rates are means over nodes that do, and over prompts of every length; so they \
should be lower, and those of prefill are.
"""
BATCHER = """\
## The second document's batcher

Its program takes those requests that have waited less than a bound, and puts the others back.
A request that arrives while a batch is served, and is older than the bound when that ends, is \
never served; with the comparison turned round it is served next.
{model} in bf16 on one H100, {isl} tokens in, {osl} out, two requests a second:
"""


def serving_page() -> str:
    """Return the page; each figure on it is simulated anew, from fixed seeds."""
    rows = judge.judged(judge.measured(CLOSED))
    text = [HEAD, *against_laws(), *against_services(rows), *against_a_day(), *batchers(), "", END]
    return "\n".join([*text, ""])


def against_services(rows: pd.DataFrame) -> list[str]:
    """Return errors by figure, and which services are said to be overloaded."""
    law = predict(rows.drop(columns=["simulated", "saturated", "rate"]))
    rows = rows.assign(law=law.predicted, open=np.isfinite(rows.rate))
    body = []
    for (opened_, metric), part in rows.groupby(["open", "metric"], sort=False):
        told = part[part.simulated.notna()]
        ratio = told.simulated / told.value
        closed_form = (told.law / told.value - 1).abs().median()
        body.append(
            [
                f"{METRICS[metric]}, {'open' if opened_ else 'closed'} loop",
                str(len(part)),
                str(len(told)),
                percent((ratio - 1).abs().median()),
                percent((ratio - 1).abs().quantile(0.9)),
                f"{ratio.median():.2f}",
                percent(closed_form),
            ]
        )
    head = [
        "figure",
        "rows",
        "simulated",
        "median error",
        "nine in ten within",
        "median ratio",
        "closed form, median error",
    ]
    late = rows[rows.open & rows.saturated]
    runs = late.drop_duplicates(judge.KEYS)
    short = sum(_fell_short(notes) for notes in runs.notes)
    sources = "; ".join(sorted(rows.source.unique()))
    return [
        OPEN_HEAD.replace("{every}", str(CLOSED)),
        *table(head, body, 1),
        *boxed(
            f"Of {len(rows[rows.open].drop_duplicates(judge.KEYS))} open loops the simulator says "
            f"of {len(runs)} that more arrives than can be served, and prints no latency; "
            f"{short} of them fell short of their rate when they were measured. "
            f"Sources: {sources}."
        ),
        MISS,
        *by_clients(rows),
    ]


def _fell_short(notes: str) -> bool:
    """Say whether a row states that fewer requests were served than arrived."""
    asked = judge.arrivals.stated(notes)
    achieved = notes.partition("achieved ")[2].split(" ")[0]
    return bool(achieved) and float(achieved) < asked


def by_clients(rows: pd.DataFrame) -> list[str]:
    """Return how far the first token of closed loops is off, by their clients."""
    first = rows[~rows.open & (rows.metric == "ttft_ms") & rows.simulated.notna()]
    ends = [0, 8, 32, 128, 10**6]
    names = ["up to 8", "9 to 32", "33 to 128", "more"]
    groups = pd.cut(first.batch_or_concurrency, ends, labels=names)
    body = []
    for name, part in first.groupby(groups, observed=True):
        ratio = part.simulated / part.value
        body.append([str(name), str(len(part)), f"{ratio.median():.2f}", percent(ratio.std())])
    return table(["clients", "rows", "TTFT, simulated / measured", "deviation"], body, 1)


def against_a_day() -> list[str]:
    """Return DeepSeek's published rates of a node beside the simulated ones."""
    body = [
        [
            "prompt tokens, cached ones counted"
            if row.metric.startswith("prefill")
            else "output tokens",
            digits(row.value),
            digits(row.simulated),
            f"{row.simulated / row.value:.2f}",
        ]
        for row in judge.published().itertuples()
    ]
    head = ["a second and node", "published", "simulated", "simulated / published"]
    return [DAY_HEAD, *table(head, body, 1), DAY]


def batchers() -> list[str]:
    """Return how many requests each of the two comparisons serves."""
    case = opened(model="llama-3.1-8b", hardware="h100-sxm", weights="bf16", isl=512, osl=128)
    body = []
    for delay in (0.02, 0.05, 0.2, 1.0):
        cells = [f"{delay * 1e3:g}"]
        for policy in ("inverted", "dynamic"):
            load = Load(Lengths(512, 128), rate=2.0, count=1000)
            told = report(simulate(Service(case, policy=policy, batch=32, delay=delay), load))
            cells += [
                f"{100 * told['requests']['completed'] / 1000:.1f} %",
                digits(1e3 * told["latency_s"]["ttft"]["p95"]),
            ]
        body.append(cells)
    head = ["bound, ms", "served as written", "TTFT of those, p95, ms", "turned round", "TTFT, ms"]
    said = "**Waiting for a bound helps nobody while the batch is served to its end: with the \
comparison turned round all are served, and wait for the batch before them.**"
    named = BATCHER.format(model="Llama-3.1-8B", isl=case.isl, osl=case.osl)
    return [named, *table(head, body, 1), said]
