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
    high = np.minimum(FLIGHT + 1 + deviations(ask) * STAY * np.sqrt(FLIGHT), limit)
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
    high = np.minimum(FLIGHT + 1 + deviations(ask) * STAY * np.sqrt(FLIGHT), limit)
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


def deviations(ask: Ask) -> float:
    """Return by how many standard deviations a share of normal numbers is not exceeded."""
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
