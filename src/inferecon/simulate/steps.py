"""How long each step of a replica takes: tables made once from the calibrated laws.

A decode step depends on the sequences in it and on their mean context, a prefill on its tokens
and on what each new token looks back at.  Between the points of a table times are straight lines;
they are smooth, and the laws are nearly straight themselves.
"""

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import symbols as s
from ..calibration import inputs as shapes
from ..calibration import rows as measured
from ..calibration.constants import load
from ..calibration.predict import solve
from ..errors import BadInput
from ..forecast import table
from ..scenario import Scenario

KNOTS = 32  # contexts of the decode table
DENSE = 128  # batches that each have a row of their own in the laws; larger ones in steps of 5 %
GRAIN = 64  # tokens between two points of the prefill table


@dataclass(frozen=True)
class Speculation:
    """Drafts checked in one step: how many, how often each is kept, what one costs of a step."""

    drafts: int = 0
    acceptance: float = 0.0
    draft_cost: float = 0.0


class Steps:
    """Times in seconds and powers in watts of one replica, all its devices together."""

    def __init__(
        self,
        contexts: np.ndarray,
        decode: np.ndarray,
        decode_power: np.ndarray,
        prefill: np.ndarray,
        attention: np.ndarray,
        prefill_power: np.ndarray,
        *,
        idle_power: float = 0.0,
        room: float = math.inf,
        token_bytes: float = 0.0,
        sequence_bytes: float = 0.0,
        groups: float = 1.0,
        interleave: float = 1.0,
        request_gap: float = 0.0,
        devices: float = 1.0,
    ):
        """Take tables: decode[batch - 1, knot], prefill[multiple of GRAIN] without attention.

        ``attention[k]`` is the time in which a prompt of so many tokens looks at itself.
        """
        self.contexts = [float(x) for x in contexts]
        self.decodes, self.powers = decode.tolist(), decode_power.tolist()
        self.prefills, self.attentions = prefill.tolist(), attention.tolist()
        self.prefill_powers = prefill_power.tolist()
        self.most_batch, self.most_context = len(decode), self.contexts[-1]
        self.idle_power, self.room = idle_power, room
        self.token_bytes, self.sequence_bytes = token_bytes, sequence_bytes
        self.groups, self.interleave, self.request_gap = groups, interleave, request_gap
        self.devices = devices
        self._low = math.log(self.contexts[0])
        self._per = (len(self.contexts) - 1) / (math.log(self.contexts[-1]) - self._low)

    def slowed(self, factor: float) -> "Steps":
        """Return the same replica if each step took so many times as long, at the same powers."""
        slow = copy(self)
        slow.decodes = [[time * factor for time in row] for row in self.decodes]
        slow.prefills = [time * factor for time in self.prefills]
        slow.attentions = [time * factor for time in self.attentions]
        slow.request_gap = self.request_gap * factor
        return slow

    def _between(self, row: list[float], context: float) -> float:
        last = len(row) - 2
        place = min(int((math.log(context) - self._low) * self._per), last) if context > 1 else 0
        below = self.contexts[place]
        if context < below and place:  # a rounded logarithm
            place -= 1
            below = self.contexts[place]
        share = (context - below) / (self.contexts[place + 1] - below)
        return row[place] + (row[place + 1] - row[place]) * share

    def decode(self, batch: int, context: float) -> float:
        """Seconds of a step of so many sequences at a mean context."""
        return self._between(self.decodes[batch - 1], context)

    def decode_power(self, batch: int, context: float) -> float:
        return self._between(self.powers[batch - 1], context)

    def prefill(self, pieces: list[tuple[float, float]]) -> float:
        """Seconds of a pass over pieces of prompts: (new tokens, tokens before them in cache).

        The pieces are dealt out to the groups of a replica, and a piece is never divided.
        """
        tokens = attention = longest = slowest = 0.0
        for new, before in pieces:
            looking = _at(self.attentions, before + new) - _at(self.attentions, before)
            tokens, longest = tokens + new, max(longest, new)
            attention, slowest = attention + looking, max(slowest, looking)
        groups = self.groups
        return _at(self.prefills, max(tokens / groups, longest)) + max(attention / groups, slowest)

    def prefill_power(self, tokens: float) -> float:
        return _at(self.prefill_powers, tokens / self.groups)

    def bytes(self, context: float) -> float:
        """Cache of a sequence of so many tokens."""
        return self.sequence_bytes + self.token_bytes * context


def _at(table: list[float], tokens: float) -> float:
    place = tokens / GRAIN
    below = int(place)
    if below >= len(table) - 1:  # a batch of prompts beyond the table: as its last stretch
        below = len(table) - 2
    return table[below] + (table[below + 1] - table[below]) * (place - below)


Rows = Callable[[np.ndarray, np.ndarray], pd.DataFrame]  # batches, contexts: rows to predict


def steps(
    case: Scenario, engine: str, batch: int, context: int, spec: Speculation | None = None
) -> Steps:
    """Return the tables of a combination, up to a batch and a context.

    Raises BadInput for a combination that cannot run or whose speed nobody measured.
    """
    if case.obstacles:
        raise BadInput(f"{case.name} cannot run: {case.obstacles[0]}")
    if case.weights not in measured.WEIGHTS:
        raise BadInput(f"no row with weights in {case.weights} was measured, so no step is known")

    def rows(batches: np.ndarray, contexts: np.ndarray) -> pd.DataFrame:
        found = table(case, engine, batches, contexts)
        found = found[found.metric == "decode_tok_s"].assign(context=contexts)
        return measured.prepared(found.reset_index(drop=True))

    return tabled(case.name, rows, batch, context, spec)


def tabled(
    name: str, rows: Rows, batch: int, context: int, spec: Speculation | None = None
) -> Steps:
    """Return the tables of whatever some rows describe.

    Raises BadInput where a record lacks a fact.
    """
    knots = np.geomspace(1.0, max(context, 2), KNOTS)
    batches = np.arange(1.0, batch + 1)
    some = np.unique(np.rint(np.geomspace(DENSE, max(batch, DENSE), 96)))
    some = np.concatenate([batches[:DENSE], some[some > DENSE]])
    at = np.meshgrid(some, knots, indexing="ij")
    decoded = _solved(rows, at[0].ravel(), at[1].ravel())
    lengths = np.arange(0.0, max(context, GRAIN) + 2 * GRAIN, GRAIN)
    filled = _solved(rows, np.ones_like(lengths), np.maximum(lengths, 1.0))
    for symbol in (s.decode_time, s.energy_decode_fit, s.memory_available):
        if not np.isfinite(decoded[symbol]).all():
            raise BadInput(f"{name}: a record lacks a fact that the laws of a step need")
    time, power = (
        np.stack([np.interp(batches, some, column) for column in table.T], axis=1)
        for table in _decodes(rows, decoded, at, spec or Speculation())
    )
    first = {symbol: float(np.ravel(value)[0]) for symbol, value in decoded.items()}
    devices = first[s.n_devices]
    whole, attention = filled[s.prefill_time], filled[s.op_attention_prefill].copy()
    attention[0] = 0.0
    each, beside = _cache(rows, context)
    return Steps(
        knots,
        time,
        power * devices,
        np.maximum(whole - attention, 0.0),
        attention,
        filled[s.energy_prefill_fit] / whole * devices,
        idle_power=first[s.idle_share] * first[s.board_power] * devices,
        room=(first[s.memory_available] - first[s.weight_bytes_device]) * first[s.groups],
        token_bytes=each,
        sequence_bytes=beside,
        groups=first[s.groups],
        interleave=first[s.interleave],
        request_gap=first[s.request_gap],
        devices=devices,
    )


def _solved(make: Rows, batch: np.ndarray, context: np.ndarray) -> dict:
    """Return every calibrated time at some batches and contexts, however much memory they need."""
    rows = make(batch, context)
    groups = load()
    constants = groups["time"].constants(rows)[0] | groups["energy"].constants(rows)[0]
    isl, osl = shapes.lengths(rows)
    values = shapes.solved(rows, batch, isl, osl)
    values[s.prefilled] = values[s.n_devices] / values[s.tp]
    nothing = np.empty(0)
    with np.errstate(all="ignore"):
        return solve(shapes.Inputs(values, *[nothing] * 6), constants)


def _decodes(rows: Rows, plain: dict, at, spec: Speculation) -> tuple[np.ndarray, np.ndarray]:
    """Return times and powers of decode steps, with drafts if there are any.

    A step that checks drafts runs more tokens through the matrices, reads each cache once, and
    drafts before.
    """
    shape = at[0].shape
    time = plain[s.decode_time].reshape(shape)
    energy = plain[s.energy_decode_fit].reshape(shape)
    if spec.drafts:
        wide = _solved(rows, (at[0] * (1 + spec.drafts)).ravel(), at[1].ravel())
        caches = wide[s.op_attention_decode] - plain[s.op_attention_decode]
        hosts = at[0].ravel() * spec.drafts / wide[s.nodes] * wide[s.sequence_gap]
        checked = (wide[s.decode_time] - caches - hosts).reshape(shape)
        drafted = spec.drafts * spec.draft_cost * time
        energy = energy * (np.maximum(checked, time) + drafted) / time
        time = np.maximum(checked, time) + drafted
    return time, energy / time


def _cache(rows: Rows, context: int) -> tuple[float, float]:
    """Return bytes of cache on a device: for each token, and for each sequence beside them."""
    ends = np.array([context / 2, float(context)])
    held = _solved(rows, np.ones(2), ends)[s.kv_bytes_device]
    each = float((held[1] - held[0]) / (ends[1] - ends[0]))
    return each, max(float(held[0] - each * ends[0]), 0.0)


def line(
    floor: float,
    slope: float = 0.0,
    prefill: float = 0.0,
    batch: int = 256,
    context: int = 4096,
    **more,
) -> Steps:
    """Return a replica of straight lines: a step of a floor and a slope a sequence.

    ``prefill`` is the time of a token of a prompt; for what laws say in closed form.
    """
    knots = np.geomspace(1.0, context, KNOTS)
    rows = np.repeat((floor + slope * np.arange(1.0, batch + 1))[:, None], KNOTS, axis=1)
    lengths = np.arange(0.0, context + 2 * GRAIN, GRAIN)
    flat = np.zeros_like(lengths)
    return Steps(knots, rows, np.zeros_like(rows), prefill * lengths, flat, flat, **more)
