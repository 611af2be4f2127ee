"""What a combination will do on an engine: calibrated times and energy, each with its interval.

The bound of the roofline stands beside each, so that a reader sees what an engine loses.
"""

import math
from typing import NamedTuple

import pandas as pd

from . import symbols as s
from .calibration import rows as measured
from .calibration.validate import predict
from .errors import BadInput, nearest
from .numbers import digits
from .scenario import Scenario

# metric: (what it is, unit, bound of the same scenario, factor from base units)
SHOWN = {
    "ttft_ms": ("time to first token, other requests beside it", "ms", None, 1e3),
    "tpot_ms": ("time per output token, prefills of others included", "ms", s.itl, 1e3),
    "decode_tok_s": ("output tokens a second while decoding", "tok/s", s.decode_throughput, 1.0),
    "output_throughput_tok_s": ("output tokens a second, full batch", "tok/s", s.throughput, 1.0),
    "energy_per_output_token_J": ("energy per output token", "J/tok", s.energy_per_token, 1.0),
    "avg_power_W": ("power of all devices", "W", None, 1.0),
}
ENGINES = {  # how an engine's name is written, so that its family and generation are found
    "vllm": "vLLM 0.12",
    "sglang": "SGLang 0.5",
    "trtllm": "TensorRT-LLM 1.0",
    "llama.cpp": "llama.cpp",
    "transformers": "Transformers",
}
FORMATS = {"fp8-block128": "fp8", "int4-g32": "int4", "int4-awq": "int4", "int4-gptq": "int4"}


class Forecast(NamedTuple):
    """One figure: predicted, 90 % interval, bound of the roofline (NaN if none), how known."""

    metric: str
    says: str
    unit: str
    predicted: float
    low: float
    high: float
    bound: float
    known: str


def forecast(case: Scenario, engine: str) -> list[Forecast]:
    """Return what the constants of an engine give for a scenario.

    Raises BadInput for an unknown engine, a combination that cannot run, or a format whose
    speed nobody measured.
    """
    if engine not in ENGINES:
        raise BadInput(f"no engine {engine!r}{nearest(engine, ENGINES)}")
    if case.obstacles:
        raise BadInput(f"{case.name} cannot run: {case.obstacles[0]}")
    if measured.WEIGHTS.get(weight(case)) is None:
        known = ", ".join(sorted(set(measured.WEIGHTS)))
        raise BadInput(f"no row in {case.weights} was measured; known formats: {known}")
    table = pd.DataFrame([row(case, engine, metric) for metric in SHOWN])
    said = predict(measured.prepared(table))
    found = []
    for (metric, (says, unit, bound, factor)), line in zip(
        SHOWN.items(), said.itertuples(), strict=True
    ):
        limit = float(case.values[bound]) * factor if bound is not None else math.nan
        figures = (*bounded(line, limit, metric), limit)
        found.append(Forecast(metric, says, unit, *figures, str(line.label)))
    return found


def bounded(line, limit: float, metric: str) -> tuple[float, float, float]:
    """Return prediction and interval, none of them beyond the bound of a time or a rate."""
    found = (float(line.predicted), float(line.low), float(line.high))
    if math.isnan(limit) or metric.startswith("energy"):
        return found
    cut = max if metric.endswith("_ms") else min
    return tuple(cut(value, limit) for value in found)


def weight(case: Scenario) -> str:
    return FORMATS.get(case.weights, case.weights)


def row(case: Scenario, engine: str, metric: str) -> dict:
    """Return a scenario as a row of measurements whose value is to be predicted."""
    return {
        "metric": metric,
        "model": case.model,
        "hardware": case.hardware,
        "weight_dtype": weight(case),
        "act_dtype": case.activations,
        "kv_dtype": "fp8" if float(case.values[s.kv_width]) <= 1 else "bf16",
        "n_gpus": max(case.tp, case.ep),
        "tp": case.tp,
        "ep": case.ep,
        "batch_or_concurrency": case.batch,
        "isl": case.isl,
        "osl": case.osl,
        "engine": ENGINES[engine],
        "notes": "closed-loop",
    }


def as_text(case: Scenario, engine: str, found: list[Forecast]) -> str:
    """Return a table for the terminal."""
    devices = max(case.tp, case.ep)
    head = (
        f"{case.name} on {devices} device{'s' if devices > 1 else ''}, {ENGINES[engine]}, "
        f"batch {case.batch}, {case.isl} tokens in, {case.osl} out"
    )
    lines = [head, "", f"{'':<52}{'predicted':>10}{'90 % interval':>20}{'bound':>10}"]
    for one in found:
        if math.isnan(one.predicted):
            lines.append(f"{one.says:<52}{'missing':>10}")
            continue
        between = f"{digits(one.low)} – {digits(one.high)}"
        bound = "–" if math.isnan(one.bound) else digits(one.bound)
        lines.append(
            f"{one.says:<52}{digits(one.predicted):>10}{between:>20}{bound:>10} {one.unit}"
        )
    return "\n".join([*lines, "", f"{found[0].known}: {MEANING[found[0].known]}"])


MEANING = {
    "calibrated": "this model, card and engine were measured together",
    "extrapolated": "they were not measured together; constants come from card and engine apart",
}
