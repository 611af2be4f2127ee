"""What is predicted of a combination, on which engines, and by which law."""

from typing import NamedTuple

import sympy as sp

from . import symbols as s
from .laws import drawn, operators


class Metric(NamedTuple):
    """A figure of a measured row: in words, its unit, how many base units one of it is.

    ``symbol`` is the quantity of the report that it is a prediction of, if there is one,
    and ``law`` the calibrated law that gives it.
    """

    says: str
    unit: str
    base: float
    symbol: sp.Symbol | None
    law: object = None


METRICS = {
    "ttft_ms": Metric(
        "time to first token of a request, others beside it",
        "ms",
        1e-3,
        s.ttft,
        operators.SERVED_FIRST,
    ),
    "tpot_ms": Metric(
        "time per output token, prefills of others included",
        "ms",
        1e-3,
        s.itl,
        operators.SERVED_STEP,
    ),
    "decode_tok_s": Metric(
        "output tokens a second while decoding", "tok/s", 1.0, s.decode_throughput
    ),
    "output_throughput_tok_s": Metric(
        "output tokens a second, full batch",
        "tok/s",
        1.0,
        s.throughput,
        operators.SERVED_THROUGHPUT,
    ),
    "energy_per_output_token_J": Metric(
        "device energy per output token",
        "J/tok",
        1.0,
        s.energy_per_token,
        drawn.ENERGY_SERVED_TOKEN,
    ),
    "avg_power_W": Metric("power of all devices", "W", 1.0, None),
}
# What follows from those by laws of the report.  Pairs, since whoever asks what code reads takes
# the keys of a dictionary for names of what is written.
IMPLIED = dict(
    [
        (s.throughput_device, "output tokens a second of a device"),
        (s.carbon_per_token, "operational emissions per output token"),
        (s.cost_per_token, "price per output token"),
    ]
)
# What joules of a device leave out, in words.
HOSTS = "energy and emissions are of the devices: hosts, fans and switches are left out"
ENGINES = {  # how an engine's name is written, so that its family and generation are found
    "vllm": "vLLM 0.12",
    "sglang": "SGLang 0.5",
    "trtllm": "TensorRT-LLM 1.0",
    "llama.cpp": "llama.cpp",
    "transformers": "Transformers",
}
# Quantity of the report: what its prediction is, in words, and the law that gives it.
BY_SYMBOL = {m.symbol: m for m in METRICS.values() if m.symbol is not None}
SAYS = {symbol.name: metric.says for symbol, metric in BY_SYMBOL.items()} | {
    symbol.name: says for symbol, says in IMPLIED.items()
}
LAW = {symbol.name: metric.law for symbol, metric in BY_SYMBOL.items() if metric.law}
