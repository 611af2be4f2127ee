"""How many replicas does each option need?  Answered in closed form for all of them at once.

Little's law gives the load of a replica from the sequences in flight, for every number of them:
one that arrives stays for its answer, a step a token, and meets the mean batch and itself.  The
fewest replicas are those at whose load the *means* keep the promise, so no fewer can; the likely
number lets the share of requests keep it that was asked for, and is where a simulation starts.
"""

import math
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np

from .. import symbols as s
from ..law import System
from ..laws import queueing
from .ask import MONTH, Ask
from .curves import FLIGHT, Curves, known
from .space import Option

QUEUE = System([queueing.UTILISATION, queueing.WAIT_FIXED])
# Sequences in flight vary like a Poisson number; over the stay of one request, which it shares
# with others for two thirds on average, its mean varies by this share of that.
STAY = math.sqrt(2 / 3)
SLACK = 0.03  # by which simulated latencies were below predicted ones


@dataclass(frozen=True)
class Candidate:
    """An option with a batch limit and a way to serve; how many, and what they would do.

    ``fewest`` and ``likely`` count replicas, ``prefills`` of them prefill alone (0: together).
    ``latency`` is the mean predicted at the likely number, in seconds.  ``reason`` is why it is
    out: a kind, the numbers, and by how much (a share; 0 where it has no measure).
    """

    option: Option
    mode: str
    batch: int
    fewest: tuple[int, int] = (0, 0)
    likely: tuple[int, int] = (0, 0)
    latency: dict[str, float] = field(default_factory=dict)
    watts: float = math.nan  # of all devices at the likely number
    least_watts: float = math.nan  # at the fewest
    rate: float = 0.0  # requests a second that one replica takes; of those that decode, if apart
    grams: float = math.nan  # a joule of the devices
    wh: float = math.nan
    reason: tuple[str, str, float] = ("", "", 0.0)

    @property
    def name(self) -> str:
        one = self.option
        return (
            f"{one.hardware}/{one.weights} tp {one.tp} ep {one.ep} {self.mode} batch {self.batch}"
        )

    def devices(self, replicas: tuple[int, int] | None = None) -> int:
        return sum(self.likely if replicas is None else replicas) * self.option.devices

    def usd(self, replicas: tuple[int, int] | None = None) -> float:
        """USD an hour; NaN without a price."""
        price = self.option.price
        return math.nan if price is None else price * self.devices(replicas)

    def score(self, by: str, bound: bool = False) -> float:
        """What is to be least, an hour: USD, kWh or kg; at the fewest replicas for a bound."""
        if by == "usd":
            return self.usd(self.fewest if bound else None)
        watts = self.least_watts if bound else self.watts
        return watts * 3600 * (self.wh / 1e3 if by == "kwh" else self.grams / 1e3)

    def lost(self, kind: str, said: str, by: float = 0.0) -> "Candidate":
        return replace(self, reason=(kind, said, by))


@dataclass
class Points:
    """A replica at each number of sequences in flight: arrays (options, FLIGHT)."""

    rate: np.ndarray  # requests a second
    means: dict[str, np.ndarray]
    tails: dict[str, np.ndarray]
    joules: np.ndarray  # a second
    ceiling: np.ndarray  # (options,) requests a second that prefills alone allow


def together(ask: Ask, found: Curves, limit: int) -> Points:
    """Return replicas that prefill and decode, at most ``limit`` sequences each."""
    met = np.minimum(FLIGHT + 1, limit)
    step, decode = found.at(found.step, met), found.at(found.decode, met)
    rate = FLIGHT / (ask.osl * step)
    ceiling = found.groups / found.prefill
    own = found.gap[:, None] + decode + found.prefill[:, None]
    wait, tail = waits(ask, rate, (found.prefill / found.groups)[:, None])
    high = np.minimum(FLIGHT + 1 + _z(ask) * STAY * np.sqrt(FLIGHT), limit)
    slow = found.at(found.step, high)
    longest = decode + (found.interleave * found.prefill)[:, None]
    means = latencies(ask, own + wait, step, longest)
    tails = latencies(ask, own + tail, slow, longest)
    busy = 1 - np.exp(-FLIGHT)
    batch = np.maximum(FLIGHT / busy, 1.0)
    watts = found.at(found.step_energy, batch) / found.at(found.step, batch)
    joules = busy * watts + (1 - busy) * found.idle[:, None]
    return Points(rate, means, tails, joules, ceiling)


def apart(ask: Ask, found: Curves, limit: int) -> Points:
    """Return replicas that only decode; the first token and the queue for it are elsewhere."""
    met = np.minimum(FLIGHT + 1, limit)
    step = found.at(found.decode, met)
    gaps = max(ask.osl - 1, 1)
    rate = FLIGHT / (gaps * step)
    high = np.minimum(FLIGHT + 1 + _z(ask) * STAY * np.sqrt(FLIGHT), limit)
    carried = found.transfer[:, None]
    nothing = np.zeros_like(step)
    longest = carried + 2 * step
    means = latencies(ask, nothing, step + carried / gaps, longest)
    slow = found.at(found.decode, high)
    tails = latencies(ask, nothing, slow + carried / gaps, longest)
    busy = 1 - np.exp(-FLIGHT)
    batch = np.maximum(FLIGHT / busy, 1.0)
    watts = found.at(found.decode_energy, batch) / found.at(found.decode, batch)
    joules = busy * watts + (1 - busy) * found.idle[:, None]
    return Points(rate, means, tails, joules, np.full(len(rate), np.inf))


def _z(ask: Ask) -> float:
    return NormalDist().inv_cdf(ask.share)


def waits(ask: Ask, rate: np.ndarray, service: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean wait of a prompt, and the one that a share of them does not exceed.

    Prefills of one length are a queue of equal services.  Those who wait do so about
    exponentially long, with the mean wait over the chance to wait.
    """
    with np.errstate(all="ignore"):
        got = QUEUE.solve({s.arrival_rate: rate, s.service_time: service})
        rho, wait = got[s.utilisation], got[s.wait_fixed]
        tail = np.maximum(wait / rho * np.log(rho / (1 - ask.share)), 0.0)
    full = ~(rho < 1)
    return np.where(full, np.inf, wait), np.where(full, np.inf, tail)


def latencies(ask: Ask, first: np.ndarray, step: np.ndarray, gap: np.ndarray) -> dict:
    return {"ttft": first, "itl": step, "gap": gap, "e2e": first + (ask.osl - 1) * step}


def size(ask: Ask, found: Curves) -> list[Candidate]:
    """Return a candidate for each option that can run, each way to serve and each batch."""
    lacking = known(found)
    out: list[Candidate] = []
    for mode in ask.modes:
        for batch in ask.batches:
            points = (together if mode == "together" else apart)(ask, found, batch)
            for row, one in enumerate(found.options):
                new = Candidate(one, mode, batch, grams=found.grams[row], wh=found.wh[row])
                if lacking[row][0]:
                    out.append(new.lost(*lacking[row]))
                elif batch > found.most[row]:
                    most = f"batch {batch} does not fit, {found.most[row]:.0f} do"
                    out.append(new.lost("does not fit", most))
                elif mode == "together":
                    out.append(_together(ask, found, row, points, new))
                else:
                    out.append(_apart(ask, found, row, points, new))
    return out


def _rates(ask: Ask, row: int, points: Points, batch: int, latest: dict) -> tuple[float, float]:
    """Return the most requests a second of a replica: by the means, and by their tails."""
    fast = points.rate[row] < points.ceiling[row]
    mean = fast & (FLIGHT <= batch)
    # a place in the batch is free for most of those who come
    tail = fast & (FLIGHT + _z(ask) * np.sqrt(FLIGHT) <= batch)
    for name, seconds in latest.items():
        mean &= points.means[name][row] * (1 - SLACK) <= seconds
        tail &= points.tails[name][row] <= seconds
    rate = points.rate[row]
    return tuple(float(rate[where].max()) if where.any() else 0.0 for where in (mean, tail))


def missed(points: Points, row: int, latest: dict[str, float]) -> tuple[str, str, float] | None:
    """Say which limit even a lone request misses, and by what share; None if it keeps all."""
    worst = max(
        ((points.means[name][row][0] / seconds - 1, name) for name, seconds in latest.items()),
        default=(0.0, ""),
    )
    if worst[0] * (1 - SLACK) <= SLACK:
        return None
    name = worst[1]
    return f"misses {name}", f"{points.means[name][row][0] * 1e3:.4g} ms", worst[0]


def _count(rps: float, rate: float) -> int:
    return max(math.ceil(rps / rate - 1e-9), 1)


def _together(ask: Ask, found: Curves, row: int, points: Points, new: Candidate) -> Candidate:
    latest = {limit.name: limit.seconds for limit in ask.limits}
    most, likely = _rates(ask, row, points, new.batch, latest)
    if not most:
        alone = missed(points, row, latest)
        return new.lost(*(alone or ("saturated", "no load is light enough", 0.0)))
    fewest = _count(ask.rps, most)
    many = max(_count(ask.rps, likely) if likely else 2 * fewest, fewest)
    each = ask.rps / many
    told = {name: _at(points, row, x[row], each) for name, x in points.means.items()}
    return replace(
        new,
        fewest=(0, fewest),
        likely=(0, many),
        latency=told,
        rate=likely or most,
        watts=many * _at(points, row, points.joules[row], each),
        least_watts=fewest * _at(points, row, points.joules[row], ask.rps / fewest),
    )


def _at(points: Points, row: int, values: np.ndarray, rate: float) -> float:
    """Return what a replica does at a load; below the lightest on the curve, as there."""
    return float(np.interp(rate, points.rate[row], values))


def _apart(ask: Ask, found: Curves, row: int, points: Points, new: Candidate) -> Candidate:
    if ask.osl < 2:
        return new.lost("is no better", "one token needs no decoding")
    if not math.isfinite(found.transfer[row]):
        said = f"hardware/{new.option.hardware}.yaml states no link between nodes"
        return new.lost("is not known", said)
    latest = {limit.name: limit.seconds for limit in ask.limits}
    alone = float(found.gap[row] + found.prefill[row])
    service = found.prefill[row] / found.groups[row]
    first = latest.get("ttft", math.inf)
    if "e2e" in latest:  # what a lone decode leaves of it
        rest = (ask.osl - 1) * points.means["itl"][row][0]
        first = min(first, max(latest["e2e"] - rest, 0.0))
    if alone * (1 - SLACK) > first:
        by = "ttft" if first == latest.get("ttft") else "e2e"
        return new.lost(f"misses {by}", f"{alone * 1e3:.4g} ms", alone / max(first, 1e-9) - 1)
    fewest, likely = _prefills(ask, service, first - alone)
    decode = {name: x for name, x in latest.items() if name in ("itl", "gap")}
    if "e2e" in latest:
        decode["e2e"] = latest["e2e"] - alone
    most, often = _rates(ask, row, points, new.batch, decode)
    if not most:
        lone = missed(points, row, decode)
        return new.lost(*(lone or ("saturated", "no load is light enough", 0.0)))
    low = (fewest, _count(ask.rps, most))
    many = max(_count(ask.rps, often) if often else 2 * low[1], low[1])
    high = (max(likely, fewest), many)
    each = ask.rps / many
    told = {name: _at(points, row, x[row], each) for name, x in points.means.items()}
    wait = waits(ask, np.array([ask.rps / high[0]]), np.array([service]))[0][0]
    told["ttft"] = float(alone + wait)
    told["e2e"] = told["ttft"] + (ask.osl - 1) * told["itl"]

    def watts(pair: tuple[int, int]) -> float:
        rho = min(ask.rps / pair[0] * service, 1.0)
        filling = found.prefill_energy[row] / found.prefill[row]
        prefills = pair[0] * (rho * filling + (1 - rho) * found.idle[row])
        return float(prefills + pair[1] * _at(points, row, points.joules[row], ask.rps / pair[1]))

    return replace(
        new,
        fewest=low,
        likely=high,
        latency=told,
        rate=often or most,
        watts=watts(high),
        least_watts=watts(low),
    )


def _prefills(ask: Ask, service: float, spare: float) -> tuple[int, int]:
    """Return how many prefill: by the mean wait that is left, and by its tail."""
    fewest = math.floor(ask.rps * service) + 1
    counts = np.arange(fewest, fewest + 400)
    wait, tail = waits(ask, ask.rps / counts, np.full(len(counts), service))
    by_mean = np.flatnonzero(wait * (1 - SLACK) <= max(spare, 0.0) + SLACK * service)
    by_tail = np.flatnonzero(tail <= max(spare, 0.0) + 1e-9)
    mean = int(counts[by_mean[0]]) if len(by_mean) else int(counts[-1])
    return mean, max(int(counts[by_tail[0]]) if len(by_tail) else mean, mean)


def month(hourly: float) -> float:
    return hourly * MONTH
