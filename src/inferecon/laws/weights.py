"""Chapter 1b.  How many bytes do the weights take in a number format?

A format is a block: some elements, the scale they share, sometimes a scale of
scales.  Embedding, head, norms and routers keep their own width.
"""

from sympy import ceiling

from .. import symbols as s
from ..law import Derivation, Eq, Law, Max
from .parameters import TOTAL

FORMAT_WIDTH = Law(
    "WIDTH",
    Eq(
        s.format_width,
        s.element_width
        + s.block_overhead / s.block_size
        + s.super_overhead / (s.block_size * s.super_size),
    ),
    "the element, and its share of the block's and super-block's scales",
    "ocpmx2023, sec. 5; dettmers2023, sec. 3",
)

matrices = (s.params_attention + s.params_dense) * s.linear_width
tables = (s.params_embedding + s.params_head) * s.table_width
rest = (s.params_router + s.params_vectors) * s.vector_width
WEIGHT_BYTES = Law(
    "WEIGHT-BYTES",
    Eq(s.weight_bytes, matrices + s.params_experts * s.expert_byte_width + tables + rest),
    "each component in its own width",
    "derived",
)
EFFECTIVE_BITS = Law(
    "WEIGHT-WIDTH-MEAN",
    Eq(s.effective_bits, s.weight_bytes / s.params_total),
    "bytes in memory over weights",
    "derived",
)
N_DEVICES = Law(
    "DEVICES",
    Eq(s.n_devices, Max(s.tp, s.ep)),
    "attention is split tp ways and repeated until every expert rank has a device",
    "deepseekv3, sec. 3.4",
)
# What tensor parallelism cannot split: latents serve all heads, and a device needs a KV head.
beyond_share = 1 - 1 / s.tp
REPEATED = Law(
    "REPEATED",
    Eq(
        s.repeated_elements,
        beyond_share
        * (
            s.n_mla_layers * s.hidden_size * (s.q_lora_rank + s.kv_lora_rank + s.qk_rope_head_dim)
            + (s.n_csa0_layers + s.n_csa4_layers + s.n_csa128_layers)
            * s.hidden_size
            * (s.csa_q_rank + s.csa_head_dim)
        )
        * s.element
        + beyond_share * s.n_index_layers * s.index_matrices
        + s.element
        * s.hidden_size
        * (
            s.n_full_layers
            * (ceiling(s.n_kv_heads / s.tp) - s.n_kv_heads / s.tp)
            * (s.head_dim + s.value_projection * s.v_head_dim)
            + s.n_local_layers
            * (ceiling(s.local_kv_heads / s.tp) - s.local_kv_heads / s.tp)
            * (s.local_head_dim + s.local_value_projection * s.local_v_head_dim)
        ),
    ),
    "projections to the latents and the index, and KV heads beyond one a device",
    "vLLM, deepseek_v2 and linear modules",
)
WEIGHT_BYTES_DEVICE = Law(
    "WEIGHT-BYTES-DEVICE",
    Eq(
        s.weight_bytes_device,
        (matrices + tables) / s.tp
        + s.repeated_elements * s.linear_width
        + s.params_experts * s.expert_byte_width / s.n_devices
        + rest,
    ),
    "matrices split tp ways where they can be, experts over all devices, vectors on each",
    "pope2023, sec. 3.2",
)

FORMAT_LAWS = [FORMAT_WIDTH]
MIX = Law(
    "WIDTH-MIX",
    Eq(s.mix_width, s.mix_share * s.wide_width + (1 - s.mix_share) * s.narrow_width),
    "two formats in one file, each for its share of the weights",
    "derived",
)
LAWS = [WEIGHT_BYTES, EFFECTIVE_BITS, N_DEVICES, REPEATED, WEIGHT_BYTES_DEVICE]

# "Parameters times precision" is the case of one width for everything.
w = s.format_width
parts = TOTAL.eq.rhs - s.params_attention
UNIFORM = (
    Derivation.begin(WEIGHT_BYTES.eq, WEIGHT_BYTES.says)
    .put(
        {s.linear_width: w, s.expert_byte_width: w, s.table_width: w, s.vector_width: w},
        "one width for everything",
    )
    .put({s.params_attention: s.params_total - parts}, "the parts add up to the total")
    .rewrite(s.params_total * w, "parameters times bytes per parameter")
)
