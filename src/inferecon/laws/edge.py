"""What can a phone or a board do with a language model?

One reader, batch one: every token reads its weights anew, so the memory bandwidth
and the size of the weights say nearly everything.
"""

from sympy import Piecewise

from .. import symbols as s
from ..law import Derivation, Eq, Law
from . import latency

READ = Law(
    "EDGE-READ",
    Eq(
        s.token_weights,
        s.dense_read_device
        + Piecewise(
            (0, Eq(s.n_experts, 0)),
            (s.expert_bytes_layer_device * s.top_k / s.n_experts, True),
        ),
    ),
    "all matrices outside the experts, the head, and k experts a layer; one device",
    "derived",
)
ALONE = (
    Derivation.begin(latency.INTERACTIVITY.eq, latency.INTERACTIVITY.says)
    .use(latency.ITL)
    .when(s.t_memory_decode >= s.t_math_decode, "memory is the slower half")
    .put({s.t_comm_decode: 0}, "one device: nothing to exchange")
    .use(latency.T_MEMORY_DECODE)
    .put({s.decode_bytes_device: s.token_weights}, "one reader, cache small beside the weights")
)
EDGE_RATE = Law(
    "EDGE-RATE",
    Eq(s.edge_rate, ALONE.eq.rhs),
    "every token reads its weights anew; memory-bound, one reader, short context",
    "derived",
)
EDGE_PARAMS = Law(
    "EDGE-PARAMS",
    Eq(s.edge_params, s.one_token * s.hbm_bandwidth / (s.rate_wanted * s.format_width)),
    "the same law, solved for the size of the model",
    "derived",
)
HALF = Derivation.begin(
    Eq(s.context * s.kv_bytes_per_token, s.token_weights), "the cache is as large as the weights"
).solve_for(s.context, "twice the bytes, half the rate")
CONTEXT_HALF = Law(
    "EDGE-CONTEXT",
    Eq(s.context_half, HALF.eq.rhs),
    "context at which a token takes twice as long, every layer attending to all of it",
    "derived",
)
LOAD = Law(
    "LOAD-TIME",
    Eq(s.load_time, s.weight_bytes / s.storage_bandwidth),
    "all weights are read once, tables and idle experts included",
    "derived",
)
PER_ENERGY = Law(
    "TOKENS-ENERGY",
    Eq(s.tokens_per_energy, s.edge_rate / s.edge_power),
    "tokens in a second over joules in a second",
    "derived",
)
BATTERY_TIME = Law(
    "BATTERY-TIME",
    Eq(s.battery_time, s.battery_energy / s.edge_power),
    "a full battery at the power of decoding",
    "derived",
)
BATTERY_TOKENS = Law(
    "BATTERY-TOKENS",
    Eq(s.battery_tokens, s.battery_energy * s.tokens_per_energy),
    "all of it spent on tokens",
    "derived",
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
