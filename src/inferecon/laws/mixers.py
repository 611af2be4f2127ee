"""Chapter 1a.  How many weights does one sequence mixer have?

Every count splits into *matrices*, which a number format may shrink and which
cost one multiply-add per token, and *vectors* (norms, biases, decays), which
stay in the model's own width.  Layers are multiplied out in ``parameters``.
"""

from sympy import Piecewise, Rational

from .. import symbols as s
from ..law import Derivation, Eq, Law

d, H = s.hidden_size, s.n_heads


def count(id, symbol, expression, says, source):
    return Law(id, Eq(symbol, expression), says, source, counts="elem")


GQA_MATRICES = count(
    "PARAM-GQA",
    s.gqa_matrices,
    d * H * s.head_dim
    + d * s.n_kv_heads * (s.head_dim + s.value_projection * s.v_head_dim)
    + H * s.v_head_dim * d
    + s.output_gate * d * H * s.head_dim,
    "query, key, value and output projections, and the output gate",
    "ainslie2023, sec. 2",
)
GQA_VECTORS = count(
    "PARAM-GQA-VECTORS",
    s.gqa_vectors,
    s.qkv_bias * (H * s.head_dim + s.n_kv_heads * (s.head_dim + s.value_projection * s.v_head_dim))
    + s.o_bias * d
    + s.qk_norm_per_head * 2 * s.head_dim
    + s.qk_norm_full * (H + s.n_kv_heads) * s.head_dim
    + s.sinks * H,
    "biases of the projections, norms of queries and keys, one sink a head",
    "transformers, attention modules of each family",
)
BLOCK_INDEX_MATRICES = count(
    "PARAM-BLOCK-INDEX",
    s.block_index_matrices,
    d * s.block_index_heads * s.block_index_dim + d * s.block_index_dim,
    "query heads and one shared key of the block index",
    "transformers, minimax_m3 module",
)
BLOCK_INDEX_VECTORS = count(
    "PARAM-BLOCK-INDEX-VECTORS",
    s.block_index_vectors,
    2 * s.block_index_dim,
    "norms of index query and key",
    "transformers, minimax_m3 module",
)

# A local layer is the same module with its own heads: the law is reused, not restated.
LOCAL = {
    s.n_kv_heads: s.local_kv_heads,
    s.head_dim: s.local_head_dim,
    s.v_head_dim: s.local_v_head_dim,
    s.value_projection: s.local_value_projection,
    s.sinks: s.local_sinks,
}
LOCAL_MATRICES = count(
    "PARAM-LOCAL",
    s.local_matrices,
    GQA_MATRICES.eq.rhs.xreplace(LOCAL),
    "the attention module with the heads of a local layer",
    "derived",
)
LOCAL_VECTORS = count(
    "PARAM-LOCAL-VECTORS",
    s.local_vectors,
    GQA_VECTORS.eq.rhs.xreplace(LOCAL),
    "the attention module with the heads of a local layer",
    "derived",
)

query_width = H * (s.qk_nope_head_dim + s.qk_rope_head_dim)
MLA_MATRICES = count(
    "PARAM-MLA",
    s.mla_matrices,
    Piecewise(
        (d * query_width, Eq(s.q_lora_rank, 0)),
        (s.q_lora_rank * (d + query_width), True),
    )
    + d * (s.kv_lora_rank + s.qk_rope_head_dim)
    + s.kv_lora_rank * H * (s.qk_nope_head_dim + s.mla_v_head_dim)
    + H * s.mla_v_head_dim * d * (1 + s.mla_output_gate),
    "down to the latents, up to the heads, and out",
    "deepseekv2, sec. 2.1",
)
MLA_VECTORS = count(
    "PARAM-MLA-VECTORS",
    s.mla_vectors,
    s.q_lora_rank + s.kv_lora_rank,
    "one norm a latent",
    "deepseekv2, sec. 2.1",
)
INDEX_MATRICES = count(
    "PARAM-INDEX",
    s.index_matrices,
    s.q_lora_rank * s.index_heads * s.index_dim + d * (s.index_dim + s.index_heads),
    "index queries from the query latent, one key, one weight a head",
    "dsv32, sec. 2.1",
)
INDEX_VECTORS = count(
    "PARAM-INDEX-VECTORS",
    s.index_vectors,
    2 * s.index_dim,
    "layer norm of the index key",
    "dsv32, inference code",
)

CSA0_MATRICES = count(
    "PARAM-CSA",
    s.csa0_matrices,
    s.csa_q_rank * (d + H * s.csa_head_dim)
    + d * s.csa_head_dim
    + s.csa_o_rank * H * s.csa_head_dim
    + s.csa_o_groups * s.csa_o_rank * d,
    "query latent, one shared key-value head, grouped low-rank output",
    "transformers, deepseek_v4 module",
)
CSA0_VECTORS = count(
    "PARAM-CSA-VECTORS",
    s.csa0_vectors,
    s.csa_q_rank + s.csa_head_dim + H,
    "norms of query latent and key, one sink a head",
    "transformers, deepseek_v4 module",
)
CSA4_MATRICES = count(
    "PARAM-CSA-4",
    s.csa4_matrices,
    4 * d * (s.csa_head_dim + s.csa_index_dim)
    + s.csa_q_rank * s.csa_index_heads * s.csa_index_dim
    + d * s.csa_index_heads,
    "overlapping compressors of cache and index, and the index heads",
    "transformers, deepseek_v4 module",
)
CSA4_VECTORS = count(
    "PARAM-CSA-4-VECTORS",
    s.csa4_vectors,
    9 * (s.csa_head_dim + s.csa_index_dim),
    "eight position vectors and a norm, for cache and index",
    "transformers, deepseek_v4 module",
)
CSA128_MATRICES = count(
    "PARAM-CSA-128",
    s.csa128_matrices,
    2 * d * s.csa_head_dim,
    "compressor of 128 tokens into one entry",
    "transformers, deepseek_v4 module",
)
CSA128_VECTORS = count(
    "PARAM-CSA-128-VECTORS",
    s.csa128_vectors,
    129 * s.csa_head_dim,
    "128 position vectors and a norm",
    "transformers, deepseek_v4 module",
)

gdn_keys = s.gdn_key_heads * s.gdn_key_dim
gdn_values = s.gdn_value_heads * s.gdn_value_dim
GDN_MATRICES = count(
    "PARAM-GDN",
    s.gdn_matrices,
    d * (2 * gdn_keys + 2 * gdn_values + 2 * s.gdn_value_heads)
    + (2 * gdn_keys + gdn_values) * s.gdn_conv
    + gdn_values * d,
    "q, k, v, gate, decay and step projections, convolution, output",
    "yang2024, sec. 3",
)
GDN_VECTORS = count(
    "PARAM-GDN-VECTORS",
    s.gdn_vectors,
    2 * s.gdn_value_heads + s.gdn_value_dim,
    "decay and step bias a head, output norm",
    "yang2024, sec. 3",
)
kda_inner = s.kda_heads * s.kda_dim
low_rank_gate = s.kda_dim * (d + kda_inner)
KDA_MATRICES = count(
    "PARAM-KDA",
    s.kda_matrices,
    3 * d * kda_inner
    + 3 * kda_inner * s.kda_conv
    + d * s.kda_heads
    + low_rank_gate
    + kda_inner * d
    + s.kda_full_gate * d * kda_inner
    + (1 - s.kda_full_gate) * low_rank_gate,
    "q, k, v with convolutions, step, low-rank decay, gate, output",
    "kimilinear2025, sec. 3",
)
KDA_VECTORS = count(
    "PARAM-KDA-VECTORS",
    s.kda_vectors,
    kda_inner + s.kda_heads + s.kda_dim,
    "decay bias a channel, decay rate a head, output norm",
    "kimilinear2025, sec. 3",
)
lightning_inner = s.lightning_heads * s.lightning_dim
LIGHTNING_MATRICES = count(
    "PARAM-LIGHTNING",
    s.lightning_matrices,
    5 * d * lightning_inner,
    "q, k, v, output gate and output",
    "minimax2025, sec. 2.2",
)
LIGHTNING_VECTORS = count(
    "PARAM-LIGHTNING-VECTORS",
    s.lightning_vectors,
    lightning_inner,
    "output norm",
    "minimax2025, sec. 2.2",
)
mamba_inner = s.mamba_heads * s.mamba_head_dim
mamba_conv_channels = mamba_inner + 2 * s.mamba_groups * s.mamba_state
MAMBA_MATRICES = count(
    "PARAM-MAMBA",
    s.mamba_matrices,
    d * (mamba_inner + mamba_conv_channels + s.mamba_heads)
    + mamba_conv_channels * s.mamba_conv
    + mamba_inner * d,
    "gate, x, B, C and step projections, convolution, output",
    "dao2024, sec. 7",
)
MAMBA_VECTORS = count(
    "PARAM-MAMBA-VECTORS",
    s.mamba_vectors,
    mamba_conv_channels + 3 * s.mamba_heads + mamba_inner,
    "conv bias, decay, step bias and skip a head, output norm",
    "dao2024, sec. 7",
)

# State that a recurrent mixer keeps for one sequence, whatever the context.
GDN_STATE = s.gdn_value_heads * s.gdn_key_dim * s.gdn_value_dim
KDA_STATE = s.kda_heads * s.kda_dim**2
LIGHTNING_STATE = s.lightning_heads * s.lightning_dim**2
MAMBA_STATE = mamba_inner * s.mamba_state
STATE = count(
    "STATE",
    s.state_elements,
    s.n_gdn_layers * (GDN_STATE + (s.gdn_conv - 1) * (2 * gdn_keys + gdn_values))
    + s.n_kda_layers * (KDA_STATE + (s.kda_conv - 1) * 3 * kda_inner)
    + s.n_lightning_layers * LIGHTNING_STATE
    + s.n_mamba_layers * (MAMBA_STATE + (s.mamba_conv - 1) * mamba_conv_channels),
    "a matrix a head and the tail of the convolution, whatever the context",
    "yang2024, sec. 2; dao2024, sec. 6",
)
# Decay, read with k, rank-one write, read with q: 1 + 2 + 2 + 2 FLOP an element with the delta
# rule, 1 + 2 + 2 without; 2 FLOP are one multiply-add.
STATE_FLOP = Law(
    "FLOP-STATE",
    Eq(
        s.flop_state,
        s.mac
        * s.element
        * (
            Rational(7, 2) * (s.n_gdn_layers * GDN_STATE + s.n_kda_layers * KDA_STATE)
            + Rational(5, 2)
            * (s.n_lightning_layers * LIGHTNING_STATE + s.n_mamba_layers * MAMBA_STATE)
        ),
    ),
    "decay, read and write each state element once a token",
    "yang2024, sec. 3.1; dao2024, sec. 6",
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]

# The rule 4 d^2 an attention layer, often quoted without the condition that every head is its own.
ATTENTION_SQUARE = (
    Derivation.begin(GQA_MATRICES.eq, GQA_MATRICES.says, counts="elem")
    .put({s.value_projection: 1, s.output_gate: 0}, "values of their own, no output gate")
    .put({s.v_head_dim: s.head_dim, s.n_kv_heads: H}, "multi-head, equal widths")
    .put({s.head_dim: d / H}, "heads share the width of the stream")
)
