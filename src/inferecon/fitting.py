"""Does it fit, and on how many devices?  Answered without solving the whole system.

A sweep asks this of every model, device and format, mostly to hear that it does not.  Memory
needs no fact of the device, so one solution serves all devices.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from . import symbols as s
from .givens import Peak, component_formats, native_format, peaks, width
from .laws import SERVICE
from .laws.memory import AVAILABLE, LARGEST_BATCH
from .records import load

MEMORY = SERVICE.part(LARGEST_BATCH.symbol, s.memory_needed)
ON_DEVICE = LARGEST_BATCH.needs - {s.memory_available} | {s.memory_needed}
POWERS = (1, 2, 4, 8, 16, 32, 64)


class Load(NamedTuple):
    """What is loaded into memory; the fields are those of a scenario."""

    model: str
    weights: str
    activations: str
    kv: str
    batch: int
    isl: int
    osl: int


def experts_over(model: str, devices: int) -> int:
    """Expert parallelism that goes with ``devices`` sharing each matrix."""
    experts = load("models", model).given.get(s.n_experts, 0)
    return devices if experts and experts % devices == 0 else 1


@cache
def shares(model: str) -> tuple[tuple[int, int], ...]:
    """Return the pairs of tensor and expert parallelism to choose from: powers of two."""
    heads = int(load("models", model)["n_heads"])
    return tuple((n, experts_over(model, n)) for n in POWERS if heads % n == 0)


@cache
def domain(hardware: str) -> float:
    """Devices that one scale-up link joins; NaN where there is no such link."""
    return load("hardware", hardware).get("scale_up_size")


@cache
def available(hardware: str) -> float:
    """Bytes of a device that an engine may use; NaN where no record states its memory."""
    fraction = load("assumptions", "memory-fraction")["memory_fraction"]
    capacity = load("hardware", hardware).get("memory_capacity")
    return float(AVAILABLE({s.memory_fraction: fraction, s.memory_capacity: capacity}))


@cache
def rates(hardware: str, weights: str, activations: str, native: str, row: int) -> dict:
    """Return the peak rate of each operator, or why there is none."""
    return peaks(load("hardware", hardware), weights, activations, native, row)


@cache
def _largest(what: Load, hardware: str, tp: int, ep: int) -> float:
    """Return the largest batch that fits, negative if there is no room at all."""
    return float(LARGEST_BATCH({**solved(what, tp, ep), s.memory_available: available(hardware)}))


@cache
def _solved(what: Load, over: tuple[tuple[int, int], ...]) -> list[dict]:
    """Return what memory must hold on each device, for each pair of parallelisms."""
    model = load("models", what.model)
    row = int(model["hidden_size"])
    native = native_format(model, what.activations)
    formats = component_formats(what.weights, what.activations, what.kv, native)
    given = {**load("constants", "counting").given, **model.given}
    given |= {symbol: width(id, row) for symbol, id in formats.items()}
    given |= {s.SYMBOLS[name]: float(getattr(what, name)) for name in ("batch", "isl", "osl")}
    tp, ep = np.float64(over).T
    values = MEMORY.solve({**given, s.tp: tp, s.ep: ep})
    needs = {x: np.broadcast_to(values[x], len(over)) for x in ON_DEVICE}
    return [{x: float(found[i]) for x, found in needs.items()} for i in range(len(over))]


def solved(what: Load, tp: int, ep: int) -> dict:
    """Return what memory must hold on each of the devices."""
    usual = shares(what.model)
    pair = (tp, ep)
    return _solved(what, usual)[usual.index(pair)] if pair in usual else _solved(what, (pair,))[0]


def fewest(what: Load, hardware: str) -> tuple[int, int]:
    """Return tensor and expert parallelism on the fewest devices of one domain that hold it.

    If nothing holds it, those of the largest domain there is.
    """
    largest = 1 if math.isnan(domain(hardware)) else int(domain(hardware))
    room, chosen = available(hardware), (1, 1)
    for pair, needs in zip(shares(what.model), _solved(what, shares(what.model)), strict=True):
        if pair[0] <= largest:
            chosen = pair
            if needs[s.memory_needed] <= room:
                break
    return chosen


def obstacles(what: Load, hardware: str, tp: int, ep: int, rates: dict[object, Peak]) -> list[str]:
    """Say what keeps a combination from running, each with the numbers that clash."""
    native = native_format(load("models", what.model), what.activations)
    device, devices = load("hardware", hardware), max(tp, ep)
    found = []
    for symbol, rate in rates.items():
        if rate.case is None:
            pair = f"{what.weights} weights with {what.activations} activations"
            pair = f"attention in {native}" if symbol is s.peak_native else pair
            found.append(f"{pair} cannot be computed: {rate.reason}")
    joined, room = domain(hardware), available(hardware)
    if devices > (1 if math.isnan(joined) else joined):
        has = "no scale-up link" if math.isnan(joined) else f"a scale-up domain of {joined:.0f}"
        found.append(f"{devices} devices are asked for, {device.name} has {has}")
    needs = solved(what, tp, ep)
    if math.isnan(room):
        found.append(f"hardware/{hardware}.yaml states no memory capacity")
    elif needs[s.memory_needed] > room:
        most = _largest(what, hardware, tp, ep)
        found.append(
            f"{needs[s.memory_needed] / 1e9:,.1f} GB are needed on each of {devices} device"
            f"{'s' if devices > 1 else ''}, {room / 1e9:,.1f} GB are available"
            + (f"; batch {most:,.0f} would fit" if most >= 1 else "")
        )
    return list(dict.fromkeys(found))
