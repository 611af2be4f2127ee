"""Rows about a model or a card itself: counts and datasheet facts, exact or wrong."""

import math
from functools import cache

import pandas as pd

from .. import symbols as s
from ..laws import SERVICE
from ..records import Record, load
from ..units import ureg
from .rows import KV_WIDTH

# metric: (symbol, what the row counts in, in base units)
COUNTS = {
    "params_total": (s.params_total, 1.0),
    "params_total_published": (s.params_total, 1e9),
    "params_active_incl_embeddings": (s.params_active, 1.0),
    "kv_bytes_per_token": (s.kv_bytes_per_token, 1.0),
    "kv_kB_per_token": (s.kv_bytes_per_token, 1e3),
}
# metric: (fact of a hardware record, unit of the row)
FACTS = {
    "hw_bfloat16_tc_flops": ("peak_flops@bf16", "TFLOP/s"),
    "hw_peak_bf16_TFLOPS": ("peak_flops@bf16", "TFLOP/s"),
    "hw_fp8_tc_flops": ("peak_flops@fp8", "TFLOP/s"),
    "hw_fp4_tc_flops": ("peak_flops@nvfp4", "TFLOP/s"),
    "hw_mem_bw": ("hbm_bandwidth", "GB/s"),
    "hw_hbm_GB_s": ("hbm_bandwidth", "GB/s"),
    "hw_mem_capacity": ("memory_capacity", "GiB"),
    "hw_hbm_GiB": ("memory_capacity", "GiB"),
    "hw_power": ("board_power", "W"),
    "hw_intra_node_bw": ("link_bandwidth", "GB/s"),
    "hw_inter_node_bw": ("scale_out_bandwidth", "GB/s"),
}
METRICS = (*COUNTS, *FACTS, "params_active_excl_input_embedding")


def figure(row: pd.Series) -> float:
    """Return what the records and laws say; NaN where they say nothing."""
    if row.metric in FACTS:
        fact, unit = FACTS[row.metric]
        if not row.hardware_id:
            return math.nan
        record: Record = load("hardware", row.hardware_id)
        return record.get(fact) / float(ureg.Quantity(1, unit).to_root_units().m)
    if not row.model_id:
        return math.nan
    values = counted(row.model_id, KV_WIDTH.get(row.kv_dtype.lower(), 2.0))
    if row.metric == "params_active_excl_input_embedding":
        table = float(load("models", row.model_id).given[s.vocab_size] * values[s.hidden_size])
        return values[s.params_active] - table
    symbol, unit = COUNTS[row.metric]
    if symbol is s.kv_bytes_per_token:
        return scoped(values, row.notes) / unit
    return values[symbol] / unit


def scoped(values: dict, notes: str) -> float:
    """Return the cache of a token as the row's source counts it, where it says so."""
    width = values[s.kv_width]
    if "indexer key cache excluded" in notes:
        latent = values[s.kv_lora_rank] + values[s.qk_rope_head_dim]
        return values[s.n_mla_layers] * latent * width
    if "counted in full" in notes:
        pair = values[s.head_dim] + values[s.v_head_dim]
        return values[s.n_layers] * values[s.n_kv_heads] * pair * width
    return values[s.kv_bytes_per_token]


@cache
def counted(model: str, kv_width: float) -> dict:
    """Return every count of a model."""
    given = load("constants", "counting").given | load("models", model).given
    return {k: float(v) for k, v in SERVICE.solve(given | {s.kv_width: kv_width}).items()}
