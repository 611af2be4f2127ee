"""The mathematics, one module per chapter, imported only downwards."""

from ..law import System
from . import (
    arithmetic,
    cache,
    communication,
    economics,
    latency,
    memory,
    mixers,
    parameters,
    traffic,
    weights,
)

CHAPTERS = {
    "parameters": [*mixers.LAWS, *parameters.LAWS],
    "weights": [*weights.FORMAT_LAWS, *weights.LAWS],
    "cache": cache.LAWS,
    "arithmetic": arithmetic.LAWS,
    "traffic": traffic.LAWS,
    "communication": communication.LAWS,
    "latency": latency.LAWS,
    "memory": memory.LAWS,
    "economics": economics.LAWS,
}
LAWS = [law for chapter in CHAPTERS.values() for law in chapter]
BY_ID = {law.id: law for law in LAWS}
DERIVATIONS = {
    "PARAM-ATTENTION-SQUARE": mixers.ATTENTION_SQUARE,
    "WEIGHT-UNIFORM": weights.UNIFORM,
    "KV-MHA-CASE": cache.KV_MHA_CASE,
    "KV-GQA-RATIO": cache.KV_GQA_RATIO,
    "KV-MLA-RATIO": cache.KV_MLA_RATIO,
    "FLOP-TWO-N": arithmetic.TWO_N,
    "CONTEXT-EQUAL": arithmetic.CONTEXT_EQUAL,
    "WINDOW-TRIANGLE": arithmetic.WINDOW_TRIANGLE,
    "EXPERTS-ALONE": traffic.ALONE,
    "RIDGE-BATCH-MOE": traffic.MOE_RIDGE,
    "ITL-MEMORY-BOUND": latency.MEMORY_BOUND,
    "RIDGE-BATCH-PROOF": latency.RIDGE_BATCH,
    "BATCH-FIT": memory.FIT,
    "ENERGY-STEP-BOUND": economics.STEP_ENERGY,
    "TPOT": latency.TPOT,
    "TTFT-COMPUTE-BOUND": latency.TTFT_COMPUTE_BOUND,
    "MESSAGE-BALANCE": communication.MESSAGE_BALANCE,
    "CONTEXT-FIT": memory.CONTEXT_FIT,
    "POWER-BOUND": economics.POWER_BOUND,
    "COST-FROM-THROUGHPUT": economics.COST_RATE,
}

# A format's width is solved for each of its uses; everything else is one system of a scenario.
SERVICE = System(law for law in LAWS if law not in weights.FORMAT_LAWS)
