"""From constants to the figure a row reports: times of a step, then the metric.

Static rows start together and end together.  Served rows come and go: each
step shares the prefill of those who take the place of others.  A batch that
does not fit in memory runs in waves, and waits for them.
"""

import numpy as np
import pandas as pd
import sympy as sp

from .. import symbols as s
from .constants import outer
from .inputs import CALIBRATED, Inputs

STEP_MS = ("tpot_ms", "tpot_mean_ms", "itl_mean_ms", "decode_step_ms")
FIRST_MS = ("ttft_ms", "ttft_mean_ms", "prefill_latency_ms")
TIMES = (*STEP_MS, "itl_median_ms", *FIRST_MS, "e2e_latency_s", "decode_phase_latency_s")
RATES = {  # metric: (devices it is stated for; 0 for all, what is counted)
    "output_throughput_tok_s": (0, "output"),
    "output_throughput_tok_s_per_gpu": (1, "output"),
    "decode_tok_s": (0, "decode"),
    "decode_throughput_tok_s_per_gpu": (1, "decode"),
    "decode_throughput_tok_s_per_node": (8, "decode"),
    "prefill_throughput_tok_s_per_gpu": (1, "prefill"),
    "prefill_throughput_tok_s_per_node": (8, "prefill"),
}
ENERGIES = (
    "energy_per_output_token_J",
    "energy_per_request_J",
    "energy_per_step_J",
    "prefill_energy_J",
    "avg_power_W",
    "avg_power_fraction_of_tdp",
)
TIME_METRICS = (*TIMES, *RATES, "achieved_bandwidth_GB_s")


def solve(found: Inputs, constants: dict[sp.Symbol, np.ndarray], **change) -> dict:
    """Return every calibrated time and energy; ``change`` sets inputs, such as ``prefilled``."""
    values = dict(found.values)
    values |= {symbol: outer(symbol, x) for symbol, x in constants.items()}
    values |= {s.SYMBOLS[name]: value for name, value in change.items()}
    return CALIBRATED.solve(values)


def times(rows: pd.DataFrame, found: Inputs, constants: dict) -> np.ndarray:
    """Return the figure of each row whose metric is a time or a rate; NaN for the others."""
    static = rows.static.to_numpy(bool)
    batch = found.values[s.batch]
    prefilled = np.where(static, batch, found.values[s.prefilled])
    got = solve(found, constants, prefilled=prefilled)
    metric, count = rows.metric.to_numpy(str), len(rows)
    answer = np.maximum(found.osl, 1.0)
    waves = np.maximum(found.asked / found.batch - 1, 0.0)

    step = np.where(static, got[s.decode_time], got[s.served_step])
    median = np.where(static, got[s.decode_time], got[s.served_step_median])
    first = np.where(static, got[s.static_first], got[s.served_first])
    served = first + (answer - 1) * step
    whole = served * (1 + waves)
    first = first + np.where(static, waves / 2, waves) * served
    total = rows.total.to_numpy(float)

    alike = found.batch / batch  # pipeline stages and replicas beside each other
    output = np.where(static, found.asked * answer / whole, got[s.served_throughput] * alike)
    decoded = found.batch / got[s.decode_time]
    reused = 1 - rows.hits.to_numpy(float)  # a prompt that is in a cache needs no prefill
    prompts = found.isl * prefilled / got[s.prefill_time] * alike / reused
    counted = {"output": output, "decode": decoded, "prefill": prompts}

    figure = np.full(count, np.nan)
    figure = np.where(np.isin(metric, STEP_MS), step * 1e3, figure)
    figure = np.where(metric == "itl_median_ms", median * 1e3, figure)
    figure = np.where(np.isin(metric, FIRST_MS), first * 1e3, figure)
    figure = np.where(metric == "e2e_latency_s", whole, figure)
    figure = np.where(metric == "decode_phase_latency_s", answer * step, figure)
    bandwidth = found.values[s.weight_bytes_device] * decoded / found.batch / 1e9
    figure = np.where(metric == "achieved_bandwidth_GB_s", bandwidth, figure)
    for name, (devices, kind) in RATES.items():
        rate = counted[kind] * (devices / total if devices else 1.0)
        figure = np.where(metric == name, rate, figure)
    return figure


def energies(rows: pd.DataFrame, found: Inputs, constants: dict) -> np.ndarray:
    """Return the figure of each row whose metric is an energy or a power; NaN for the others."""
    static = rows.static.to_numpy(bool)
    batch = found.values[s.batch]
    prefilled = np.where(static, batch, found.values[s.prefilled])
    got = solve(found, constants, prefilled=prefilled)
    metric, total = rows.metric.to_numpy(str), rows.total.to_numpy(float)
    answer = np.maximum(found.osl, 1.0)
    steps = np.where(found.osl > 0, answer - 1, 0.0)

    step, prefill = got[s.energy_decode_fit], got[s.energy_prefill_fit]
    whole = np.where(static, prefill + steps * step, answer * got[s.energy_served_fit])
    lasting = np.where(
        static, got[s.prefill_time] + steps * got[s.decode_time], answer * got[s.served_step]
    )
    cached = np.isfinite(rows.context.to_numpy(float))
    power = np.where(cached, step / got[s.decode_time], whole / lasting)
    token = np.where(static, whole * total / (found.batch * answer), got[s.energy_served_token])

    figure = np.full(len(rows), np.nan)
    figure = np.where(metric == "energy_per_output_token_J", token, figure)
    figure = np.where(metric == "energy_per_request_J", token * answer, figure)
    figure = np.where(metric == "energy_per_step_J", step * total, figure)
    figure = np.where(metric == "prefill_energy_J", prefill * total, figure)
    figure = np.where(metric == "avg_power_W", power * total, figure)
    limit = found.values[s.board_power]
    return np.where(metric == "avg_power_fraction_of_tdp", power / limit, figure)
