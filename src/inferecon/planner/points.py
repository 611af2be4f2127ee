"""A replica of each option at every number of sequences in flight.

Little's law gives its load: one that arrives stays for its answer, a step a token, and meets the
mean batch and itself.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from .. import symbols as s
from ..law import System
from ..laws import queueing
from .ask import Ask
from .curves import FLIGHT, Curves

QUEUE = System([queueing.UTILISATION, queueing.WAIT_FIXED])
# Sequences in flight vary like a Poisson number; over the stay of one request, which it shares
# with others for two thirds on average, its mean varies by this share of that.
STAY = math.sqrt(2 / 3)


@dataclass
class Points:
    """A replica at each number of sequences in flight: arrays (options, FLIGHT).

    ``rate`` is in requests a second, ``joules`` is a second's.  ``means`` and ``tails`` are what
    is expected; ``best`` latencies at a ``most`` rate are those of arrivals that never disturb
    each other, of which no simulation makes more, as `sizing` shows.  ``ceiling`` (options,) is
    what prefills alone allow, and ``top`` what they do when each pass is full; apart, what the
    link into one carries.
    """

    rate: np.ndarray
    most: np.ndarray
    best: dict[str, np.ndarray]
    means: dict[str, np.ndarray]
    tails: dict[str, np.ndarray]
    joules: np.ndarray
    ceiling: np.ndarray
    top: np.ndarray


def together(ask: Ask, found: Curves, limit: int) -> Points:
    """Return replicas that prefill and decode, at most ``limit`` sequences each."""
    prefill, gap = found.prefill[:, None], found.gap[:, None]
    met = np.minimum(FLIGHT + 1, limit)
    step, decode = found.at(found.step, met), found.at(found.decode, met)
    rate = FLIGHT / (ask.osl * step)
    wait, tail = waits(ask, rate, prefill / found.groups[:, None])
    high = np.minimum(FLIGHT + 1 + deviations(ask) * STAY * np.sqrt(FLIGHT), limit)
    longest = decode + found.interleave[:, None] * prefill
    means = latencies(ask, gap + decode + prefill + wait, step, longest)
    tails = latencies(ask, gap + decode + prefill + tail, found.at(found.step, high), longest)

    alone = np.clip(FLIGHT, 1, limit)
    quiet = found.at(found.decode, alone)
    full = quiet + (found.at(found.step, alone) - quiet) * (found.crowded / found.prefill)[:, None]
    mixed = quiet + found.interleave[:, None] * prefill
    best = latencies(ask, gap + np.minimum(prefill, mixed), full, np.minimum(quiet, mixed))
    share = np.minimum(found.interleave, 1.0)
    return Points(
        rate,
        FLIGHT / (max(ask.osl - 1, 1) * full),  # a prefill makes the first token
        best,
        means,
        tails,
        drawn(found, found.step, found.step_energy),
        found.groups / found.prefill,
        found.groups / (share * found.crowded),
    )


def apart(ask: Ask, found: Curves, limit: int) -> Points:
    """Return replicas that only decode; the first token and the queue for it are elsewhere."""
    gaps, carried = max(ask.osl - 1, 1), found.transfer[:, None]

    def of(batch: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        step = found.at(found.decode, np.clip(batch, 1, limit))
        told = latencies(ask, np.zeros_like(step), step + carried / gaps, carried + 2 * step)
        return FLIGHT / (gaps * step), told

    rate, means = of(FLIGHT + 1)
    most, best = of(FLIGHT)
    _, tails = of(FLIGHT + 1 + deviations(ask) * STAY * np.sqrt(FLIGHT))
    joules = drawn(found, found.decode, found.decode_energy)
    endless = np.full(len(rate), np.inf)
    with np.errstate(divide="ignore"):
        links = 1 / np.nan_to_num(found.transfer)  # a link into each carries so many caches
    return Points(rate, most, best, means, tails, joules, endless, links)


def drawn(found: Curves, step: np.ndarray, energy: np.ndarray) -> np.ndarray:
    """Return watts: of a batch while there is one, idle else; those in flight are Poisson."""
    busy = 1 - np.exp(-FLIGHT)
    batch = np.maximum(FLIGHT / busy, 1.0)
    watts = found.at(energy, batch) / found.at(step, batch)
    return busy * watts + (1 - busy) * found.idle[:, None]


def deviations(ask: Ask) -> float:
    """Return by how many standard deviations a share of normal numbers is not exceeded."""
    return NormalDist().inv_cdf(ask.share)


def waits(ask: Ask, rate: np.ndarray, service: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean wait of a prompt, and the one that a share of them does not exceed.

    Prefills of one length are a queue of equal services.  Where n replicas take turns the gaps
    of each are n of the stream's, which vary less, and waits shrink as that variation squared.
    Those who wait do so about exponentially long, with the mean wait over the chance to wait.
    """
    replicas = np.maximum(ask.rps / np.maximum(rate, 1e-300), 1.0)
    with np.errstate(all="ignore"):
        got = QUEUE.solve({s.arrival_rate: rate, s.service_time: service})
        rho, wait = got[s.utilisation], got[s.wait_fixed] * ask.burst**2 / replicas
        tail = np.maximum(wait / rho * np.log(rho / (1 - ask.share)), 0.0)
    full = ~(rho < 1)
    return np.where(full, np.inf, wait), np.where(full, np.inf, tail)


def latencies(ask: Ask, first: np.ndarray, step: np.ndarray, gap: np.ndarray) -> dict:
    return {"ttft": first, "itl": step, "gap": gap, "e2e": first + (ask.osl - 1) * step}
