"""How each option answers to its batch: calibrated times and energies, all options at once.

The laws are solved for every option at some batches in one go; between them times are straight
lines in the batch, as in the simulator's tables.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import symbols as s
from ..calibration import inputs as shapes
from ..calibration import rows as measured
from ..calibration.constants import load
from ..calibration.predict import solve
from ..forecast import described
from ..laws import speculation
from ..simulate.plan import Service
from .ask import BATCHES, Ask
from .space import OTHER, Option

SOME = np.unique(np.rint(np.geomspace(1, BATCHES[-1], 24)))  # batches at which laws are solved
# Mean sequences in flight of the curves: near to each other, and every batch limit among them.
FLIGHT = np.union1d(np.geomspace(0.02, BATCHES[-1], 240), np.float64(BATCHES))
ONE = "decode_tok_s"  # one row a workload is enough: the laws give all figures at once


@dataclass
class Curves:
    """Arrays of shape (options, batches at SOME), or (options,) for what no batch changes.

    Times in seconds of a whole replica, energies in joules of all its devices, ``most`` the
    sequences that memory holds.  ``idle`` is in watts, ``groups`` prefill beside each other.
    """

    options: list[Option]
    decode: np.ndarray
    decode_energy: np.ndarray
    step: np.ndarray
    step_energy: np.ndarray
    prefill: np.ndarray
    crowded: np.ndarray  # of a prompt, when as many are prefilled together as a step may take
    prefill_energy: np.ndarray
    gap: np.ndarray
    interleave: np.ndarray
    groups: np.ndarray
    idle: np.ndarray
    most: np.ndarray
    transfer: np.ndarray
    devices: np.ndarray
    price: np.ndarray
    grams: np.ndarray  # a joule
    wh: np.ndarray  # drawn from the grid, a joule of the devices

    def at(self, values: np.ndarray, batch: np.ndarray) -> np.ndarray:
        """Return values at any batches, the same for all options: (options, batches)."""
        above = np.clip(np.searchsorted(SOME, batch), 1, len(SOME) - 1)
        low, high = values[:, above - 1], values[:, above]
        return low + (high - low) * (batch - SOME[above - 1]) / (SOME[above] - SOME[above - 1])

    def of(self, rows: np.ndarray) -> "Curves":
        """Return the curves of some options, by their places."""
        some = {name: x[rows] for name, x in vars(self).items() if name != "options"}
        return Curves([self.options[row] for row in rows], **some)

    def slowed(self, factor: np.ndarray) -> "Curves":
        """Return the same with all times of each option so many times as long."""
        column = factor[:, None]
        longer = {name: getattr(self, name) * column for name in ("decode", "step")}
        longer |= {name: getattr(self, name) * factor for name in ("prefill", "crowded", "gap")}
        energy = {name: getattr(self, name) * column for name in ("decode_energy", "step_energy")}
        energy["prefill_energy"] = self.prefill_energy * factor
        return Curves(**(vars(self) | longer | energy))


def curves(ask: Ask, options: list[Option]) -> Curves:
    """Return the curves of the options that can run, in their order; NaN where a fact lacks."""
    able = [one for one in options if one.case is not None]
    if not able:
        empty = np.empty((0, len(SOME)))
        return Curves([], *[empty] * 4, *[np.empty(0)] * 13)
    same = [described(one.case, ask.engine) for one in able]
    whole = {name: np.repeat(np.array([x[name] for x in same]), len(SOME)) for name in same[0]}
    whole |= {"metric": ONE, "batch_or_concurrency": np.tile(SOME, len(able))}
    rows = measured.prepared(pd.DataFrame(whole).assign(isl=float(ask.isl)))
    found = shapes.inputs(rows)
    groups = load()
    constants = groups["time"].constants(rows)[0] | groups["energy"].constants(rows)[0]
    prompts = max(Service.chunk // ask.isl, 1)
    with np.errstate(all="ignore"):
        got = solve(found, constants)
        full = solve(found, constants, prefilled=prompts * found.values[s.prefilled])
        most = shapes.fitting(rows, found.values, found.isl, found.osl)

    def each(symbol) -> np.ndarray:
        return np.broadcast_to(np.asarray(got[symbol], float), len(rows)).reshape(len(able), -1)

    devices = each(s.n_devices)[:, 0]
    fleet = devices[:, None]
    given = [one.case.given() for one in able]
    pue = np.array([values.get(s.pue, np.nan) for values in given])
    grid = np.array([values.get(s.grid_intensity, np.nan) for values in given])
    price = [np.nan if one.price is None else one.price for one in able]
    return Curves(
        able,
        decode=each(s.decode_time),
        decode_energy=each(s.energy_decode_fit) * fleet,
        step=each(s.served_step),
        step_energy=each(s.energy_served_fit) * fleet,
        prefill=each(s.prefill_time)[:, 0],
        crowded=full[s.prefill_time].reshape(len(able), -1)[:, 0] / prompts,
        prefill_energy=each(s.energy_prefill_fit)[:, 0] * devices,
        gap=each(s.request_gap)[:, 0],
        interleave=each(s.interleave)[:, 0],
        groups=each(s.groups)[:, 0],
        idle=each(s.idle_share)[:, 0] * each(s.board_power)[:, 0] * devices,
        most=most.reshape(len(able), -1)[:, 0],
        transfer=transfers(ask, able),
        devices=devices,
        price=np.array(price, float),
        grams=grid * pue,
        wh=pue / 3600,
    )


def transfers(ask: Ask, able: list[Option]) -> np.ndarray:
    """Return seconds in which a prompt's cache reaches another replica; NaN without a link."""
    if not able:
        return np.empty(0)
    each = able[0].case.value(s.kv_bytes_per_token).m  # a fact of the model and its cache's format
    out = [one.case.device.get("scale_out_bandwidth") * one.devices for one in able]
    given = {
        s.isl: float(ask.isl),
        s.kv_bytes_per_token: float(each),
        s.transfer_bandwidth: np.array(out, float),
    }
    return np.asarray(speculation.KV_TRANSFER(given), float)


def known(curves: Curves) -> list[tuple[str, str, float] | None]:
    """Say of each option which fact it lacks: None for none."""
    whole = np.concatenate([curves.step, curves.step_energy], axis=1)
    good = np.isfinite(whole).all(axis=1) & np.isfinite(curves.prefill)
    return [
        None if fine else (OTHER, f"a record of {one.hardware} lacks a fact the laws need", 0.0)
        for one, fine in zip(curves.options, good, strict=True)
    ]
