"""How many replicas does each option need?  Answered in closed form for all of them at once.

The fewest replicas are those at whose load the promise would be kept if no request ever waited for
another, so no fewer can; the likely number lets the share of requests keep it that was asked for,
and is where a simulation starts.

Why no fewer can, so that nobody who could win is out before a simulation.  Let n replicas keep a
promise that half of the requests or more must keep.  They take turns, so each has 1/n of the load.

1. *Prompts.*  A prompt takes its replica at least as long as its tokens take in the fullest pass,
   less what decode steps hide of it.  A second holds no more than a second of that: ``top``.
2. *Tokens.*  A step of b sequences takes t(b), prefills of others in it, and makes b tokens.  Over
   many steps a replica makes E[b] / E[t(b)] tokens a second, and a token sees E[b t(b)] / E[b] on
   the mean.  That is no less than E[t(b)], since b and t(b) grow together (Chebyshev), which is no
   less than t(E[b]), since t bends upwards where it bends (Jensen).  So of all ways to reach a rate
   the one whose batch is always F = E[b] has the least gap, and its rate F / t(F) grows with F.
3. *The share.*  Who arrives meets F others on the mean, and itself.  The median of a Poisson number
   is above its mean less ln 2, so more than half of the requests meet a batch of F or more, and no
   first token comes before its own prompt is through.  If the even batch misses a limit, more than
   half of the requests do: F is at most where it meets them all, and the rate at most ``most``.
4. *The grid.*  The last of the numbers in flight that meets them all is between two points, and the
   later one is taken.

So n is at least the load over ``most`` and ``top``, and dollars grow with n.  Watts do not follow
from n: their least is that of each token in the batch that makes it for the fewest joules, and of
devices that idle (``least_watts``).  Times of the simulator are those of other tables, which are
closer knit; ``SLACK`` is for that, and for a t that bends the other way.  Burstier arrivals than
Poisson are beyond step 3.  `tests/test_planner.py` searches for a counterexample.
"""

import math
from dataclasses import dataclass

import numpy as np

from .ask import Ask
from .candidate import Candidate
from .curves import FLIGHT, SOME, Curves, known
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


def size(ask: Ask, found: Curves) -> list[Candidate]:
    """Return a candidate for each option that can run, each way to serve and each batch."""
    if not found.options:
        return []
    out: list[Candidate] = []
    latest = {limit.name: limit.seconds for limit in ask.limits}
    lacking = known(found)
    for mode in ask.modes:
        if mode == "together":
            for batch in ask.batches:
                points = together(ask, found, batch)
                out += _together(ask, found, batch, latest, points, lacking)
        else:
            first = prefills(ask, found, latest)
            for batch in ask.batches:
                points = apart(ask, found, batch)
                out += _apart(ask, found, batch, latest, points, first, lacking)
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
    at = Places(points, ask.rps / likely)
    return Replicas(
        most,
        np.where(often > 0, often, most),
        fewest,
        likely,
        {name: at.of(values) for name, values in points.means.items()},
        likely * at.of(points.joules),
    )


def least_watts(
    ask: Ask, found: Curves, batch: int, hidden: np.ndarray | float, fewest: np.ndarray
) -> np.ndarray:
    """Return watts that no way to serve goes below: the least work of each request, or all idle.

    ``hidden`` is the share of a prompt's time that counts beside steps that decode.
    """
    sizes = np.union1d(SOME[SOME <= batch], np.float64(batch))
    token = (found.at(found.decode_energy, sizes) / sizes).min(axis=1)
    full = np.minimum(found.crowded, found.prefill) / found.prefill
    request = max(ask.osl - 1, 0) * token + hidden * full * found.prefill_energy
    return np.maximum(ask.rps * request, fewest * found.idle) * (1 - SLACK)


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


def made(
    ask: Ask,
    found: Curves,
    mode: str,
    batch: int,
    reasons: list,
    fewest: tuple[np.ndarray, np.ndarray],
    likely: tuple[np.ndarray, np.ndarray],
    told: dict[str, np.ndarray],
    **each: np.ndarray,
) -> list[Candidate]:
    """Return a candidate of each option: with its reason where it has one, else with its size."""
    names = list(told)
    able = np.array([not reason for reason in reasons])
    counts = [np.where(able, x, 0).astype(int).tolist() for x in (*fewest, *likely)]
    late = [np.broadcast_to(x, len(able)).tolist() for x in told.values()]
    sizes = [x.tolist() for x in each.values()]
    out = []
    for row, (one, reason) in enumerate(zip(found.options, reasons, strict=True)):
        about = dict(grams=found.grams[row], wh=found.wh[row], host=ask.host)
        if reason:
            out.append(Candidate(one, mode, batch, **about, reason=reason))
            continue
        first, others, prefills, decodes = (x[row] for x in counts)
        out.append(
            Candidate(
                one,
                mode,
                batch,
                fewest=(first, others),
                likely=(prefills, decodes),
                latency={name: x[row] for name, x in zip(names, late, strict=True)},
                **{name: x[row] for name, x in zip(each, sizes, strict=True)},
                **about,
            )
        )
    return out


def _together(
    ask: Ask, found: Curves, batch: int, latest: dict, points: Points, lacking: list
) -> list[Candidate]:
    need = replicas(ask, points, batch, latest)
    reasons = [reason or unable(found, row, batch) for row, reason in enumerate(lacking)]
    for row in np.flatnonzero(np.isnan(need.most)):
        reasons[row] = reasons[row] or missed(points, row, latest)
    none = np.zeros(len(reasons))
    return made(
        ask,
        found,
        "together",
        batch,
        reasons,
        (none, need.fewest),
        (none, need.likely),
        need.latency,
        watts=need.watts,
        least_watts=least_watts(ask, found, batch, np.minimum(found.interleave, 1.0), need.fewest),
        rate=need.rate,
    )


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
    fewest = np.maximum(fewest, np.ceil(ask.rps * np.nan_to_num(found.transfer)))  # each has a link
    counts = (np.floor(ask.rps * usable) + 1)[:, None] + np.arange(WORKERS)
    keeps = waits(ask, ask.rps / counts, usable[:, None])[1] <= spare + 1e-9
    first = np.where(keeps.any(axis=1), keeps.argmax(axis=1), WORKERS - 1)
    likely = np.maximum(counts[:, 0] + first, fewest)
    return Prefills(alone, service, limit, name, fewest, likely)


def _apart(
    ask: Ask,
    found: Curves,
    batch: int,
    latest: dict,
    points: Points,
    first: Prefills,
    lacking: list,
) -> list[Candidate]:
    decode = {name: x for name, x in latest.items() if name in ("itl", "gap")}
    if "e2e" in latest:  # the longest first token that is left to the others
        for told in (points.best, points.means, points.tails):
            told["e2e"] = told["e2e"] + first.alone[:, None]
        decode["e2e"] = latest["e2e"]
    need = replicas(ask, points, batch, decode)
    reasons = list(lacking)
    for row, one in enumerate(found.options):
        reason = lacking[row] or unable(found, row, batch)
        if not reason and ask.osl < 2:
            reason = ("is no better", "one token needs no decoding", 0.0)
        elif not reason and not math.isfinite(found.transfer[row]):
            said = f"hardware/{one.hardware}.yaml states no link between nodes"
            reason = ("is not known", said, 0.0)
        elif not reason:
            late = first.late(row) if first.alone[row] * (1 - SLACK) > first.limit[row] else None
            slow = missed(points, row, decode) if math.isnan(need.most[row]) else None
            reason = max(filter(None, (late, slow)), key=lambda x: x[2], default=None)
        reasons[row] = reason
    ttft = first.alone + first.wait(ask, first.likely)
    return made(
        ask,
        found,
        "apart",
        batch,
        reasons,
        (first.fewest, need.fewest),
        (first.likely, need.likely),
        need.latency | {"ttft": ttft, "e2e": ttft + (ask.osl - 1) * need.latency["itl"]},
        watts=need.watts + _filling(ask, found, first, first.likely),
        least_watts=least_watts(ask, found, batch, 1.0, first.fewest + need.fewest),
        rate=need.rate,
    )


def _filling(ask: Ask, found: Curves, first: Prefills, count: np.ndarray) -> np.ndarray:
    """Return the watts of workers that prefill, and idle between prompts."""
    rho = np.minimum(ask.rps / count * first.service, 1.0)
    busy = found.prefill_energy / found.prefill
    return count * (rho * busy + (1 - rho) * found.idle)
