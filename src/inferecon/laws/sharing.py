"""Which caches are copied, which are split, and when is fixed state the larger part?

Tensor parallelism splits a cache by its KV heads and repeats what it cannot split;
data-parallel attention deals out whole sequences instead.
"""

from sympy import ceiling

from .. import symbols as s
from ..law import Derivation, Eq, Law

n = s.n_devices

CHUNK_MEAN = Law(
    "CHUNK-MEAN",
    Eq(s.chunk_mean, (s.window + s.one_token) / 2),
    "a chunk fills from one token to all of them and is dropped, each length as often",
    "derived",
)
STATE_EVEN = Derivation.begin(
    Eq(s.context * s.kv_bytes_per_token, s.state_elements * s.state_width),
    "the growing cache is as many bytes as the state",
).solve_for(s.context, "below it the state is the larger part")
STATE_CONTEXT = Law(
    "STATE-CONTEXT",
    Eq(s.state_context, STATE_EVEN.eq.rhs),
    "bytes of the state over bytes a token of the layers that keep all",
    "derived",
)
INDEX_SHARE = Law(
    "INDEX-SHARE",
    Eq(
        s.index_share,
        s.n_index_layers
        * s.index_dim
        / (s.n_index_layers * s.index_dim + s.n_mla_layers * (s.kv_lora_rank + s.qk_rope_head_dim)),
    ),
    "index keys beside latents, all in one width",
    "dsv32, sec. 2.1",
)
HEAD_COPIES = Law(
    "HEAD-COPIES",
    Eq(s.head_copies, s.tp * ceiling(s.n_kv_heads / s.tp) / s.n_kv_heads),
    "room for whole heads on each device, over the heads there are",
    "pope2023, sec. 3.3",
)
CACHES_TP = Law(
    "CACHES-TP",
    Eq(s.caches_tp, s.batch * s.kv_bytes_device),
    "each device keeps its share of every sequence",
    "pope2023, sec. 3.3",
)
CACHES_DP = Law(
    "CACHES-DP",
    Eq(s.caches_dp, ceiling(s.batch / n) * s.kv_bytes),
    "each device keeps the whole of its own sequences",
    "deepseekv3, sec. 3.4",
)
DP_GAIN = Law(
    "DP-GAIN",
    Eq(s.dp_gain, s.caches_tp / s.caches_dp),
    "caches with tensor parallelism over caches with data parallelism",
    "derived",
)
DEALT = (
    Derivation.begin(DP_GAIN.eq, DP_GAIN.says)
    .use(CACHES_TP)
    .use(CACHES_DP)
    .put({ceiling(s.batch / n): s.batch / n}, "as many sequences on each device")
)
DP_LATENT = DEALT.put({s.kv_bytes_device: s.kv_bytes}, "a latent: every device keeps all of it")
DP_HEADS = DEALT.put(
    {s.kv_bytes_device: s.kv_bytes * ceiling(s.n_kv_heads / n) / s.n_kv_heads},
    "KV heads: every device of one group keeps whole ones",
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
