"""The mathematics, one module per chapter, imported only downwards."""

from ..law import System
from . import (
    arithmetic,
    arithmetic_small,
    cache,
    communication,
    economics,
    edge,
    latency,
    memory,
    mixers,
    parameters,
    quantisation,
    queueing,
    speculation,
    traffic,
    weights,
)

CHAPTERS = {
    "parameters": [*mixers.LAWS, *parameters.LAWS],
    "weights": [*weights.FORMAT_LAWS, *weights.LAWS],
    "cache": cache.LAWS,
    "arithmetic": [*arithmetic.LAWS, *arithmetic_small.LAWS],
    "traffic": traffic.LAWS,
    "communication": [*communication.LAWS, *communication.COLLECTIVES],
    "latency": latency.LAWS,
    "memory": memory.LAWS,
    "load": queueing.LAWS,
    "speculation": speculation.LAWS,
    "quantisation": quantisation.LAWS,
    "edge": edge.LAWS,
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
    "WAIT-PROOF": queueing.POLLACZEK,
    "WAIT-PERCENTILE": queueing.PERCENTILE,
    "UTILISATION-SLO-PROOF": queueing.PROMISE,
    "ITL-LINE": queueing.LINE,
    "BATCH-LOADED-PROOF": queueing.IN_FLIGHT,
    "ITL-LOADED-PROOF": queueing.UNDER_LOAD,
    "BATCH-SLO-PROOF": queueing.BATCH_LIMIT,
    "SPEC-ONE-DRAFT": speculation.ONE_DRAFT,
    "SPEC-EVEN-PROOF": speculation.BREAK_EVEN,
    "SPEC-BATCH-PROOF": speculation.TOO_MANY,
    "WORKER-BALANCE": speculation.BALANCE,
    "SPLIT-EVEN-PROOF": speculation.SPLIT,
    "QUANT-AMDAHL": quantisation.AMDAHL,
    "QUANT-LIMIT-PROOF": quantisation.LIMIT,
    "QUANT-WEIGHT-ONLY": quantisation.WEIGHT_ONLY,
    "QUANT-EIGHTH": quantisation.EIGHTH,
    "EDGE-ALONE": edge.ALONE,
    "EDGE-HALF": edge.HALF,
    "ROPE-WIDTH": arithmetic_small.ROPE_WIDTH,
    "MLA-LENGTH": arithmetic_small.LENGTH,
    "TREE-EVEN": communication.TREE_EVEN,
}

# A format's width is solved for each of its uses, and some questions need what no scenario
# states: an arrival rate, an acceptance, a battery.  Everything else is one system of a scenario.
BESIDE = [
    *weights.FORMAT_LAWS,
    *arithmetic_small.LAWS,
    *communication.COLLECTIVES,
    *queueing.LAWS,
    *speculation.LAWS,
    *quantisation.LAWS,
    *edge.LAWS,
]
SERVICE = System(law for law in LAWS if law not in BESIDE)
