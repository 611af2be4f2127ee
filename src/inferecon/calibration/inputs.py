"""What the laws need to know of a row: shapes, formats, devices, batch, lengths.

Rows of one model, device and formats are solved together, as arrays.  What a
row leaves unsaid and a law must have is listed in ``UNSAID``, so that nothing
is assumed in silence.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from .. import symbols as s
from ..errors import BadInput
from ..givens import component_formats, native_format, peaks, width
from ..law import System
from ..laws import SERVICE, dispersal, operators
from ..records import load
from .rows import ACTIVATIONS, BLOCK_SCALED, KV_WIDTH, LAYERS, NARROW, WEIGHTS, each

CALIBRATED = System([*dispersal.LAWS, *operators.LAWS])
# Most sequences an engine is built for, where a row says "as many as possible".
ENGINE_BATCH = 2048.0
NODE = 8.0  # devices of a node
# Prompt lengths of benchmark tasks whose rows do not state one: nearest to their rows among
# 100 to 3,000 tokens, and a wide choice.
TASK_ISL = {
    "lm-arena-chat": 200.0,
    "gpqa": 300.0,
    "sourcegraph-fim": 1500.0,
    "v2-chat": 300.0,
    "v2-code": 130.0,
}
UNSAID = {
    "isl": 512.0,
    "osl": 256.0,
}


@dataclass
class Inputs:
    """Arrays, one value a row: what CALIBRATED needs but for the constants, and the batch.

    ``batch`` runs together; ``asked`` was asked for; more than fits runs in waves.
    """

    values: dict
    batch: np.ndarray
    asked: np.ndarray
    isl: np.ndarray
    osl: np.ndarray
    known: np.ndarray
    said_batch: np.ndarray

    def take(self, where) -> "Inputs":
        """Return some of the rows."""
        values = {symbol: value[where] for symbol, value in self.values.items()}
        return Inputs(
            values,
            *(
                getattr(self, name)[where]
                for name in ("batch", "asked", "isl", "osl", "known", "said_batch")
            ),
        )


def inputs(rows: pd.DataFrame) -> Inputs:
    """Return the arrays of some rows; ``known`` is false where a record lacks a fact."""
    isl, osl = lengths(rows)
    asked = rows.batch_or_concurrency.to_numpy(float)
    said = np.isfinite(asked) & (asked > 0)
    first = solved(rows, np.where(said, asked, 1.0), isl, osl)
    most = fitting(rows, first, isl, osl)
    ranks = rows.total.to_numpy(float) / first[s.tp]  # each with a scheduler of its own
    far = first[s.n_devices] > first[s.scale_up_size]
    sent = load("assumptions", "dispersal").get("most_dispatched")
    built = np.where(far & (first[s.tp] < first[s.n_devices]), sent, ENGINE_BATCH)
    asked = np.where(said, asked, np.minimum(most, built * np.maximum(ranks, 1.0)))
    held = np.isfinite(most) & (most >= 1)
    batch = np.where(held, np.minimum(asked, np.maximum(most, 1.0)), asked)
    values = solved(rows, batch, isl, osl)
    shortened(rows, values)
    known = np.isfinite(values[s.flop_linear]) & np.isfinite(values[s.hbm_bandwidth])
    values[s.prefilled] = values[s.n_devices] / values[s.tp]
    return Inputs(values, batch, asked, isl, osl, known, said)


def lengths(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return prompt and answer lengths; a row with a context has that many tokens cached."""
    context = rows.context.to_numpy(float)
    task = np.array([TASK_ISL.get(name, UNSAID["isl"]) for name in rows.task])
    isl = np.where(np.isfinite(context), context, rows.isl.to_numpy(float))
    isl = np.where(np.isfinite(isl), isl, task)
    osl = np.where(np.isfinite(context), 0.0, rows.osl.to_numpy(float))
    osl = np.where(np.isfinite(osl), osl, UNSAID["osl"])
    return np.maximum(isl, 1.0), np.maximum(osl, 0.0)


def fitting(rows, values, isl, osl) -> np.ndarray:
    """Sequences that memory holds at their mean length, all groups; NaN where unknown."""
    mean = (isl + osl / 2) / np.maximum(isl + osl, 1.0)
    mean = np.where(rows.family == "trtllm", 1.0, mean)  # it admits what fits to the last token
    room = values[s.memory_available] - values[s.weight_bytes_device]
    with np.errstate(all="ignore"):
        each = np.floor(room / (values[s.kv_bytes_device] * mean))
    replicas = np.maximum(1.0, rows.devices.to_numpy(float) / values[s.n_devices])
    return each * values[s.n_devices] / values[s.tp] * replicas


# What a model of fewer layers has less of; the LM head and the step stay whole.
PER_LAYER = (
    s.flop_linear,
    s.flop_core_decode,
    s.flop_core_prefill,
    s.flop_state,
    s.flop_experts,
    s.repeated_elements,
    s.expert_bytes_layer_device,
    s.kv_read_device,
    s.allreduces,
    s.exchanges,
    s.n_layers,
    s.n_moe_layers,
    s.n_full_layers,
    s.n_mla_layers,
    s.n_local_layers,
)


def timed_layers(part: str) -> float:
    """Return how many layers a row timed, NaN for all of them or for another part."""
    found = LAYERS.search(part)
    return float(found[1]) if found else math.nan


def shortened(rows: pd.DataFrame, values: dict) -> None:
    """Give rows that timed some of the layers their share of everything a layer has."""
    timed = each(rows.part, timed_layers).astype(float)
    share = np.where(np.isfinite(timed), timed / values[s.n_layers], 1.0)
    kept = np.where(each(rows.part, lambda part: "no head" in part).astype(bool), 0.0, 1.0)
    head = values[s.head_elements] * values[s.table_width] / values[s.tp]
    read = values[s.dense_read_device] - head
    flop = values[s.flop_head] * values[s.group_batch] / values[s.tp]
    traffic, arithmetic = values[s.decode_bytes_device], values[s.decode_flop_device]
    values[s.decode_bytes_device] = (traffic - head) * share + head * kept
    values[s.decode_flop_device] = (arithmetic - flop) * share + flop * kept
    values[s.dense_read_device] = read * share + head * kept
    for symbol in (s.head_elements, s.flop_head):
        values[symbol] = values[symbol] * kept
    for symbol in PER_LAYER:
        values[symbol] = values[symbol] * share


NEEDED = sorted(
    set(CALIBRATED.inputs)
    | {s.memory_available, s.weight_bytes_device, s.kv_bytes_device}
    | {s.t_math_decode, s.t_memory_decode, s.t_comm_decode},
    key=str,
)


def solved(rows, batch, isl, osl) -> dict:
    """Solve the laws of a scenario for all rows, kind by kind."""
    found = {symbol: np.full(len(rows), math.nan) for symbol in NEEDED}
    found[s.board_power] = np.full(len(rows), math.nan)
    place = np.arange(len(rows))
    kinds = ["model_id", "hardware_id", "weight_dtype", "act_dtype", "kv_dtype"]
    for key, group in rows.groupby(kinds, sort=True):
        if not key[0] or not key[1]:
            continue
        where = place[rows.index.get_indexer(group.index)]
        try:
            given = givens(*key)
        except (BadInput, KeyError):
            continue  # a record that lacks what the laws need: not known
        given = given | workload(
            group, load("models", key[0]), batch[where], isl[where], osl[where]
        )
        given[s.memory_capacity] = given[s.memory_capacity] * group.stages.to_numpy(float)
        _devices(given, load("hardware", key[1]))
        values = SERVICE.solve(given)
        for symbol in found:
            if symbol in values:
                found[symbol][where] = values[symbol]
    return found


@lru_cache(maxsize=4096)
def givens(model: str, hardware: str, weights: str, activations: str, kv: str) -> dict:
    """Return facts of the records and widths of the formats; formats not stated are native."""
    record, device = load("models", model), load("hardware", hardware)
    said = weights.lower()
    narrow, weights = said in NARROW, WEIGHTS.get(said, "bf16")
    if weights == "fp8" and model in BLOCK_SCALED:
        weights = "fp8-block128"
    if said == "int4" and not record.given.get(s.n_experts):
        weights = "int4-awq"  # the scheme of a dense model; the other narrows experts alone
    if activations.lower() in ACTIVATIONS:
        activations = activations.lower()
    else:
        activations = weights if narrow else "bf16"
    native, row = native_format(record, activations), int(record["hidden_size"])
    given = dict(load("constants", "counting").given)
    for source in (record, device):
        given |= source.given
    for assumed in ("collective", "memory-fraction"):
        given |= load("assumptions", assumed).given
    for symbol, format in component_formats(weights, activations, "bf16", native).items():
        given[symbol] = width(format, row)
    given[s.kv_width] = KV_WIDTH.get(kv.lower(), 1.0 if narrow else 2.0)
    rates = peaks(device, weights, activations, native, row)
    for symbol, found in rates.items():
        given[symbol] = found.rate or _sixteen(device)  # unpacked, multiplied in sixteen bits
    return given


def _sixteen(device) -> float:
    """Return the rate of the sixteen-bit format a card has, whichever a row names."""
    rates = (device.get(f"peak_flops@{format}") for format in ("bf16", "fp16"))
    return next((rate for rate in rates if not math.isnan(rate)), math.nan)


def workload(group, record, batch, isl, osl) -> dict:
    """Return devices and lengths of some rows of one model; a pipeline stage sees its share."""
    stages, devices = group.stages.to_numpy(float), group.devices.to_numpy(float)
    tp = np.minimum(group.group.to_numpy(float), devices)
    # experts that are dealt out beyond a node stay within their unit, however many units there are
    unit = np.where(group.ep.to_numpy(float) > NODE, group.ep.to_numpy(float), devices)
    ep = np.maximum(unit, tp) if record.given.get(s.n_experts) else np.ones_like(tp)
    replicas = np.maximum(1.0, devices / np.maximum(tp, ep))
    return {
        s.tp: tp,
        s.ep: ep,
        s.batch: batch / stages / replicas,
        s.isl: isl,
        s.osl: osl,
    }


def _devices(given: dict, device) -> None:
    """Give the rows their links: scale-up or the host's inside a domain, the network beyond.

    A tensor-parallel group larger than a domain has the network for all its links.
    """
    up, host = device.get("link_bandwidth"), device.get("host_bandwidth")
    domain, out = device.get("scale_up_size"), device.get("scale_out_bandwidth")
    inside = up if not math.isnan(up) else host
    out = out if not math.isnan(out) else inside
    domain = domain if not math.isnan(domain) else math.inf
    alone = np.maximum(given[s.tp], given[s.ep]) <= 1
    given[s.link_bandwidth] = np.where(given[s.tp] > domain, out, inside)
    given[s.link_bandwidth] = np.where(alone, 1.0, given[s.link_bandwidth])
    given[s.scale_up_size] = np.full_like(given[s.tp], domain)
    given[s.scale_out_bandwidth] = np.where(alone, 1.0, out)
