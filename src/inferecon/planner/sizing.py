"""How many replicas does each option need?  Answered in closed form for all of them at once.

The fewest replicas are those at whose load the promise would be kept if no request ever waited for
another, so no fewer can; the likely number lets the share of requests keep it that was asked for,
and is where a simulation starts.
"""

import math
from dataclasses import dataclass

import numpy as np

from .ask import Ask
from .candidate import Candidate
from .curves import FLIGHT, Curves, known
from .points import Points, apart, deviations, together, waits

SLACK = 0.03  # by which simulated latencies were below predicted ones
WORKERS = 200  # how many more workers than the fewest are looked at


@dataclass
class Replicas:
    """How many replicas each option needs, and what they do; arrays (options,).

    ``rate`` is what one takes, by the means (``most``) and likely; NaN where no load is light
    enough.
    """

    most: np.ndarray
    rate: np.ndarray
    fewest: np.ndarray
    likely: np.ndarray
    latency: dict[str, np.ndarray]
    watts: np.ndarray
    least_watts: np.ndarray


def size(ask: Ask, found: Curves) -> list[Candidate]:
    """Return a candidate for each option that can run, each way to serve and each batch."""
    if not found.options:
        return []
    out: list[Candidate] = []
    latest = {limit.name: limit.seconds for limit in ask.limits}
    for mode in ask.modes:
        if mode == "together":
            for batch in ask.batches:
                points = together(ask, found, batch)
                out += _together(ask, found, batch, latest, points)
        else:
            first = prefills(ask, found, latest)
            for batch in ask.batches:
                out += _apart(ask, found, batch, latest, apart(ask, found, batch), first)
    return out


def replicas(ask: Ask, points: Points, batch: int, latest: dict[str, float]) -> Replicas:
    """Return how many replicas carry the load so that latencies keep their limits."""
    best = np.ones(points.most.shape, bool)
    # a place in the batch is free for most of those who come
    tail = (points.rate < points.ceiling[:, None]) & (
        FLIGHT + deviations(ask) * np.sqrt(FLIGHT) <= batch
    )
    for name, seconds in latest.items():
        best &= points.best[name] * (1 - SLACK) <= seconds
        tail &= points.tails[name] <= seconds
    best[:, 1:] |= best[:, :-1]  # a limit is met somewhere before the next point
    most = np.where(best & (FLIGHT <= batch), points.most, 0.0).max(axis=1)
    most = np.minimum(most, points.top)
    often = np.where(tail, points.rate, 0.0).max(axis=1)
    most[most == 0] = np.nan
    fewest = np.maximum(np.ceil(ask.rps / most - 1e-9), 1.0)
    with np.errstate(divide="ignore"):
        likely = np.ceil(ask.rps / often - 1e-9)
    likely = np.maximum(np.where(often > 0, likely, 2 * fewest), fewest)
    at, least = Places(points, ask.rps / likely), Places(points, ask.rps / fewest)
    return Replicas(
        most,
        np.where(often > 0, often, most),
        fewest,
        likely,
        {name: at.of(values) for name, values in points.means.items()},
        likely * at.of(points.joules),
        fewest * least.of(points.joules),
    )


class Places:
    """Where on its curve each option is at a load; below the lightest, as there."""

    def __init__(self, points: Points, rate: np.ndarray):
        last = points.rate.shape[1] - 1
        above = np.clip((points.rate < rate[:, None]).sum(axis=1), 1, last)[:, None]
        low, high = (np.take_along_axis(points.rate, x, 1)[:, 0] for x in (above - 1, above))
        self.above, self.share = above, np.clip((rate - low) / (high - low), 0.0, 1.0)

    def of(self, values: np.ndarray) -> np.ndarray:
        low, high = (np.take_along_axis(values, x, 1)[:, 0] for x in (self.above - 1, self.above))
        with np.errstate(invalid="ignore"):
            return np.where(self.share == 0, low, low + (high - low) * self.share)


def missed(points: Points, row: int, latest: dict[str, float]) -> tuple[str, str, float]:
    """Say which limit even a lone request misses, and by what share."""
    worst = max(
        ((points.best[name][row][0] / seconds - 1, name) for name, seconds in latest.items()),
        default=(0.0, ""),
    )
    if worst[0] * (1 - SLACK) <= SLACK:
        return "saturated", "no load is light enough", 0.0
    name = worst[1]
    return f"misses {name}", f"{points.best[name][row][0] * 1e3:.4g} ms", float(worst[0])


def unable(found: Curves, row: int, batch: int) -> tuple[str, str, float] | None:
    """Say what keeps an option from running at all at a batch; None if nothing does."""
    if batch > found.most[row]:
        return "does not fit", f"batch {batch} does not fit, {found.most[row]:.0f} do", 0.0
    return None


def _together(ask: Ask, found: Curves, batch: int, latest: dict, points: Points) -> list[Candidate]:
    need = replicas(ask, points, batch, latest)
    out = []
    for row, (one, lacking) in enumerate(zip(found.options, known(found), strict=True)):
        about = dict(grams=found.grams[row], wh=found.wh[row])
        reason = lacking or unable(found, row, batch)
        if not reason and math.isnan(need.most[row]):
            reason = missed(points, row, latest)
        if reason:
            out.append(Candidate(one, "together", batch, **about, reason=reason))
            continue
        out.append(
            Candidate(
                one,
                "together",
                batch,
                fewest=(0, int(need.fewest[row])),
                likely=(0, int(need.likely[row])),
                latency={name: float(x[row]) for name, x in need.latency.items()},
                watts=float(need.watts[row]),
                least_watts=float(need.least_watts[row]),
                rate=float(need.rate[row]),
                **about,
            )
        )
    return out


# Prefill and decode apart -------------------------------------------------------------------------


@dataclass
class Prefills:
    """Workers that only prefill, option by option: how long a prompt takes, how many they are.

    ``limit`` is what a first token may take; ``name`` of the limit that says so.
    """

    alone: np.ndarray
    service: np.ndarray
    limit: np.ndarray
    name: str
    fewest: np.ndarray
    likely: np.ndarray

    def late(self, row: int) -> tuple[str, str, float]:
        """Say by what share even a lone prompt misses its limit."""
        over = self.alone[row] / max(self.limit[row], 1e-9) - 1
        return f"misses {self.name}", f"{self.alone[row] * 1e3:.4g} ms", float(over)

    def wait(self, ask: Ask, count: np.ndarray) -> np.ndarray:
        return waits(ask, ask.rps / count, self.service)[0]


def prefills(ask: Ask, found: Curves, latest: dict[str, float]) -> Prefills:
    """Return how many workers prefill: those that full passes need, and likely."""
    alone, service = found.gap + found.prefill, found.prefill / found.groups
    limit = np.full(len(alone), latest.get("ttft", math.inf))
    name = "ttft"
    if "e2e" in latest:  # what a lone decode leaves of it
        rest = latest["e2e"] - (ask.osl - 1) * found.decode[:, 0]
        if (rest < limit).any():
            limit, name = np.minimum(limit, rest), "e2e"
    spare = np.maximum(limit - alone, 0.0)[:, None]
    usable = np.where(np.isfinite(service), service, 1.0)
    crowded = np.where(np.isfinite(found.crowded), found.crowded, 1.0) / found.groups
    fewest = np.floor(ask.rps * np.minimum(crowded, usable)) + 1
    counts = (np.floor(ask.rps * usable) + 1)[:, None] + np.arange(WORKERS)
    keeps = waits(ask, ask.rps / counts, usable[:, None])[1] <= spare + 1e-9
    first = np.where(keeps.any(axis=1), keeps.argmax(axis=1), WORKERS - 1)
    return Prefills(alone, service, limit, name, fewest, counts[:, 0] + first)


def _apart(
    ask: Ask, found: Curves, batch: int, latest: dict, points: Points, first: Prefills
) -> list[Candidate]:
    decode = {name: x for name, x in latest.items() if name in ("itl", "gap")}
    if "e2e" in latest:  # the longest first token that is left to the others
        for told in (points.best, points.means, points.tails):
            told["e2e"] = told["e2e"] + first.alone[:, None]
        decode["e2e"] = latest["e2e"]
    need = replicas(ask, points, batch, decode)
    itl = need.latency["itl"]
    ttft = first.alone + first.wait(ask, first.likely)
    watts = need.watts + _filling(ask, found, first, first.likely)
    least = need.least_watts + _filling(ask, found, first, first.fewest)
    out = []
    for row, (one, lacking) in enumerate(zip(found.options, known(found), strict=True)):
        about = dict(grams=found.grams[row], wh=found.wh[row])
        reason = lacking or unable(found, row, batch)
        if not reason and ask.osl < 2:
            reason = ("is no better", "one token needs no decoding", 0.0)
        elif not reason and not math.isfinite(found.transfer[row]):
            said = f"hardware/{one.hardware}.yaml states no link between nodes"
            reason = ("is not known", said, 0.0)
        elif not reason:
            late = first.late(row) if first.alone[row] * (1 - SLACK) > first.limit[row] else None
            slow = missed(points, row, decode) if math.isnan(need.most[row]) else None
            reason = max(filter(None, (late, slow)), key=lambda x: x[2], default=None)
        if reason:
            out.append(Candidate(one, "apart", batch, **about, reason=reason))
            continue
        told = {name: float(x[row]) for name, x in need.latency.items()}
        told["ttft"] = float(ttft[row])
        told["e2e"] = told["ttft"] + (ask.osl - 1) * float(itl[row])
        out.append(
            Candidate(
                one,
                "apart",
                batch,
                fewest=(int(first.fewest[row]), int(need.fewest[row])),
                likely=(int(first.likely[row]), int(need.likely[row])),
                latency=told,
                watts=float(watts[row]),
                least_watts=float(least[row]),
                rate=float(need.rate[row]),
                **about,
            )
        )
    return out


def _filling(ask: Ask, found: Curves, first: Prefills, count: np.ndarray) -> np.ndarray:
    """Return the watts of workers that prefill, and idle between prompts."""
    rho = np.minimum(ask.rps / count * first.service, 1.0)
    busy = found.prefill_energy / found.prefill
    return count * (rho * busy + (1 - rho) * found.idle)
