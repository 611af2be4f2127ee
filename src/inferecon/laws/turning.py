"""At which batch does decode turn compute-bound, and at which context never?

One device.  The ridge batch of a dense model without caches is in the chapter of
latency; here caches and experts are put in, and the equations are solved again.
"""

from .. import symbols as s
from ..law import Derivation, Eq, Law
from . import traffic

one, context, q = s.one_token, s.context, s.kv_bytes_per_token
arithmetic_bytes = one * s.flop_decode * s.hbm_bandwidth / s.peak_linear  # moved meanwhile

TURN = (
    Derivation.begin(Eq(s.t_math_decode, s.t_memory_decode), "both halves last equally long")
    .put(
        {
            s.t_math_decode: one * s.batch * s.flop_decode / s.peak_linear,
            s.t_memory_decode: (s.dense_read_device + s.batch * context * q) / s.hbm_bandwidth,
        },
        "one device, dense, one peak; every layer attends to the whole context",
    )
    .solve_for(s.batch, "weights over what a sequence computes less what it reads")
)
RIDGE_KV = Law(
    "RIDGE-BATCH-KV",
    Eq(s.ridge_batch_kv, TURN.eq.rhs),
    "batch at which dense decode turns compute-bound, caches included",
    "derived",
    holds=arithmetic_bytes > context * q,
)
NEVER = (
    Derivation.begin(
        Eq(arithmetic_bytes, context * q),
        "a sequence reads for as long as it computes: the weights stay on top at any batch",
    )
    .put(
        {s.flop_decode: s.flop_linear + s.flop_head + context * s.core_slope},
        "dense; attention grows with the context",
    )
    .solve_for(context, "the context at which it does")
)
CONTEXT_NEVER = Law(
    "CONTEXT-NEVER",
    Eq(s.context_never, NEVER.eq.rhs),
    "context from which decode is memory-bound at every batch",
    "derived",
    holds=q * s.peak_linear > one * s.core_slope * s.hbm_bandwidth,
)
EVEN = Derivation.begin(
    Eq(s.batch * context * q, s.step_weights),
    "the caches of a step are as many bytes as its weights",
).solve_for(context, "beyond it caches lead")
CONTEXT_KV = Law(
    "CONTEXT-KV",
    Eq(s.context_even, EVEN.eq.rhs),
    "context at which the traffic of caches overtakes that of weights",
    "derived",
)
RIDGE_EXPERTS = traffic.MOE_RIDGE.law(
    "RIDGE-BATCH-EXPERTS",
    "batch at which experts, all of them awake, turn compute-bound",
    name=s.ridge_batch_experts,
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
