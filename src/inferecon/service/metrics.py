"""What a log says, by the laws of the report: latencies with percentiles, rates, goodput."""

import math

import numpy as np

from .. import symbols as s
from ..law import System
from ..laws import logged, stopwatch
from .log import Log, violations
from .promise import Limit, kept

PERCENTILES = (50, 90, 95, 99)
RATES = System([*logged.LAWS])
TPOT = System([stopwatch.TIMED])
LATENCIES = {
    "ttft": "TTFT",
    "itl": "ITL, mean of a request",
    "gap": "ITL, gap by gap",
    "e2e": "E2EL",
}


def latencies(log: Log) -> dict[str, np.ndarray]:
    """Return each latency of each request in seconds; ``gap`` is its longest gap.

    A request of one token has no inter-token latency: NaN.
    """
    ends = log.ends()
    timed = TPOT.solve({s.ttft: log.ttft, s.e2e: ends, s.osl: log.osl, s.one_token: 1.0})
    itl = np.where(log.osl > 1, timed[s.tpot], math.nan)
    return {"ttft": log.ttft, "itl": itl, "gap": log.longest(), "e2e": ends}


def window(log: Log) -> float:
    """Return the seconds that a log covers: as its tool says, else those that its requests do.

    These are the first arrival to the last token, or to the last arrival of one that failed.
    """
    if math.isfinite(log.window):
        return log.window
    others = log.others[np.isfinite(log.others)]
    begin = np.concatenate([log.arrival, others]).min()
    return float(np.concatenate([log.arrival + log.ends(), others]).max() - begin)


def spread(values: np.ndarray) -> dict[str, float] | None:
    """Return mean, percentiles (linear between two values) and maximum; None for no value."""
    values = values[np.isfinite(values)]
    if not len(values):
        return None
    found = np.percentile(values, PERCENTILES)
    named = {f"p{p}": float(x) for p, x in zip(PERCENTILES, found, strict=True)}
    return {"mean": float(values.mean()), **named, "max": float(values.max())}


def remarks(log: Log) -> list[str]:
    """Return in sentences what a reader of these metrics must know of their log."""
    said, span = [], window(log)
    if math.isnan(span):
        said.append("no rates: the log has neither a duration nor arrivals")
    elif span <= 0:
        said.append("no rates: all that the log has happens at one instant")
    elif not math.isfinite(log.window) and log.kind not in ("CSV", "AIPerf"):
        said.append("no duration is stated: it is taken from the first arrival to the last event")
    if log.opening:
        said.append(
            "as many gaps as tokens: the first chunk of an answer has its role and no token, and "
            "the tool counts it as the first token; TTFT is too short by the first gap"
        )
    return said


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def measured(log: Log, limits: list[Limit]) -> dict:
    """Return every metric of a log, in seconds and tokens; None where the log lacks what it needs.

    A request that failed is neither completed nor good.
    """
    each = latencies(log)
    unknown = any(np.isnan(each[limit.name]).all() for limit in limits if limit.name == "gap")
    good = None if unknown or not limits else int(kept(limits, each).sum())
    span = window(log)
    counts = {
        s.logged_time: span if span > 0 else math.nan,
        s.tokens_counted: float(log.osl.sum()),
        s.requests_done: float(len(log.ttft)),
        s.requests_kept: math.nan if good is None else float(good),
    }
    rates = RATES.solve(counts)
    shown = {name: spread(log.gaps if name == "gap" else values) for name, values in each.items()}
    met = {
        limit.written_out: None
        if limit.name == "gap" and unknown
        else int(kept([limit], each).sum())
        for limit in limits
    }
    return {
        "log": log.kind,
        "window_s": _known(span),
        "requests": len(log.ttft),
        "failed": log.failed,
        "input_tokens": int(log.isl.sum()),
        "output_tokens": int(log.osl.sum()),
        "tps": _known(rates[s.tps]),
        "rps": _known(rates[s.rps_logged]),
        "goodput_rps": None if good is None else _known(rates[s.goodput_logged]),
        "good_requests": good,
        "met": met,
        "latency_s": shown,
        "remarks": remarks(log),
        "violations": violations(log),
    }
