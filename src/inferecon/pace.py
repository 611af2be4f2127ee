"""Which bound wins for each operator of a step?

A bound of a phase is a sum over operators, so what one operator adds to it is what the same laws
say when all others do nothing.  No equation is written for that: the laws of the phases are
solved again, with the work and the traffic of the others at zero.
"""

import sympy as sp

from . import symbols as s
from .law import System
from .laws import communication, latency, traffic

PACE = System(
    [
        traffic.DENSE_READ,
        traffic.DECODE_BYTES,
        traffic.PREFILL_BYTES,
        latency.T_MATH_DECODE,
        latency.T_MEMORY_DECODE,
        latency.T_MATH_PREFILL,
        latency.T_MEMORY_PREFILL,
        communication.T_COMM_DECODE,
        communication.T_COMM_PREFILL,
    ]
)
PHASES = ("decode", "prefill")
PARTS = ("math", "memory", "comm")  # arithmetic, traffic of the memory, communication
# What belongs to an operator alone: its FLOP, what it reads and writes, how often it talks.
OPERATORS = {
    "matrices of all layers": (
        s.flop_linear,
        s.repeated_elements,
        s.params_attention,
        s.params_dense,
        s.params_router,
        s.params_vectors,
    ),
    "attention, its cache and its state": (
        s.flop_core_decode,
        s.flop_core_prefill,
        s.flop_state,
        s.kv_read_device,
        s.kv_device_growing,
        s.kv_device_local,
    ),
    "routed experts": (s.flop_experts, s.expert_bytes_layer_device),
    "LM head": (s.flop_head, s.head_elements),
    "all-reduces in a group": (s.allreduces,),
    "all-to-alls between groups": (s.exchanges,),
}


def by_operator(values: dict[sp.Symbol, float]) -> dict[str, dict[sp.Symbol, float]]:
    """Return what each operator adds to each bound of each phase, in seconds.

    ``values`` are those of a scenario, intermediate ones included.
    """
    bounds = [s.SYMBOLS[f"t_{part}_{phase}"] for phase in PHASES for part in PARTS]
    found = {}
    for name, own in OPERATORS.items():
        idle = {x: 0.0 for others in OPERATORS.values() for x in others if x not in own}
        given = {x: values[x] for x in PACE.inputs if x in values}
        solved = PACE.solve(given | {x: 0.0 for x in idle if x in given})
        found[name] = {bound: float(solved[bound]) for bound in bounds}
    return found
