"""Chapter 2.  How many bytes must be kept for each sequence in flight?

Some layers keep an entry for every token, some only for a window, some a state
of fixed size.  A cache counted as 2 x layers x width x tokens, as for
multi-head attention, overstates all but the oldest models.
"""

from sympy import ceiling

from .. import symbols as s
from ..law import Derivation, Eq, Law, Min

full_head_pair = s.head_dim + s.v_head_dim
local_head_pair = s.local_head_dim + s.local_v_head_dim
csa_layers = s.n_csa0_layers + s.n_csa4_layers + s.n_csa128_layers
# The latent and the index keys serve all heads, so every device of a group keeps them whole.
unsplit = (
    s.n_mla_layers * (s.kv_lora_rank + s.qk_rope_head_dim)
    + s.n_index_layers * s.index_dim
    + s.n_indexed_layers * s.block_index_dim
    + s.n_csa4_layers * (s.csa_head_dim + s.csa_index_dim) / 4
    + s.n_csa128_layers * s.csa_head_dim / 128
)


def per_token(id, symbol, expression, says, source):
    return Law(id, Eq(symbol, expression), says, source, counts="elem/token")


KV_GROWING = per_token(
    "KV-GROWING",
    s.kv_growing,
    s.n_full_layers * s.n_kv_heads * full_head_pair + unsplit,
    "key and value a KV head, or one latent, a layer and token",
    "shazeer2019, sec. 2; deepseekv2, sec. 2.1",
)
KV_LOCAL = per_token(
    "KV-LOCAL",
    s.kv_local,
    s.n_local_layers * s.local_kv_heads * local_head_pair,
    "kept for the last tokens only",
    "beltagy2020, sec. 3.1",
)
KV_CSA = per_token(
    "KV-CSA",
    s.kv_csa,
    csa_layers * s.csa_head_dim,
    "uncompressed entries inside the window",
    "transformers, deepseek_v4 module",
)
KV_BYTES_PER_TOKEN = Law(
    "KV-BYTES-PER-TOKEN",
    Eq(s.kv_bytes_per_token, s.kv_growing * s.kv_width),
    "what one more token of context adds for good",
    "derived",
)
last = s.isl + s.osl
KV_BYTES = Law(
    "KV-BYTES",
    Eq(
        s.kv_bytes,
        (
            s.kv_growing * last
            + s.kv_local * Min(last, s.window)
            + s.kv_csa * Min(last, s.csa_window)
        )
        * s.kv_width
        + s.state_elements * s.state_width,
    ),
    "growing part, windows and fixed state at the last token",
    "derived",
)
KV_DEVICE_GROWING = per_token(
    "KV-DEVICE-GROWING",
    s.kv_device_growing,
    s.n_full_layers * ceiling(s.n_kv_heads / s.tp) * full_head_pair + unsplit,
    "KV heads split tp ways and repeated beyond; latents on each device",
    "pope2023, sec. 3.3",
)
KV_DEVICE_LOCAL = per_token(
    "KV-DEVICE-LOCAL",
    s.kv_device_local,
    s.n_local_layers * ceiling(s.local_kv_heads / s.tp) * local_head_pair,
    "KV heads split tp ways and repeated beyond",
    "pope2023, sec. 3.3",
)
KV_BYTES_DEVICE = Law(
    "KV-BYTES-DEVICE",
    Eq(
        s.kv_bytes_device,
        (
            s.kv_device_growing * last
            + s.kv_device_local * Min(last, s.window)
            + s.kv_csa * Min(last, s.csa_window)
        )
        * s.kv_width
        + s.state_elements * s.state_width / s.tp,
    ),
    "a device's share of one full sequence",
    "derived",
)

# The source documents count every head and the full width: true for MHA alone.
MHA_KV = per_token(
    "KV-MHA",
    s.mha_kv_growing,
    2 * s.n_layers * s.hidden_size,
    "key and value of every head, if each layer were multi-head",
    "first source document, sec. 1.2",
)
KV_OVERSTATEMENT = Law(
    "KV-OVERSTATEMENT",
    Eq(s.kv_overstatement, s.mha_kv_growing / s.kv_growing),
    "how far the multi-head formula overstates the cache",
    "derived",
)

GQA_ONLY = {
    s.n_mla_layers: 0,
    s.n_index_layers: 0,
    s.n_indexed_layers: 0,
    s.n_csa4_layers: 0,
    s.n_csa128_layers: 0,
}
KV_MHA_CASE = (
    Derivation.begin(KV_GROWING.eq, KV_GROWING.says, counts="elem/token")
    .put(GQA_ONLY, "grouped-query attention in every layer")
    .put({s.n_full_layers: s.n_layers, s.v_head_dim: s.head_dim}, "equal widths, all layers")
    .put({s.n_kv_heads: s.n_heads}, "each query head has its own keys and values")
    .put({s.n_heads: s.hidden_size / s.head_dim}, "heads share the width of the stream")
)
MLA_ONLY = {
    s.n_full_layers: 0,
    s.n_index_layers: 0,
    s.n_indexed_layers: 0,
    s.n_csa4_layers: 0,
    s.n_csa128_layers: 0,
    s.n_mla_layers: s.n_layers,
}
LATENT = {x: 0 for x in MLA_ONLY if x is not s.n_mla_layers}
KV_MLA = (
    Derivation.begin(KV_GROWING.eq, KV_GROWING.says, counts="elem/token")
    .put(LATENT, "no layer keeps keys and values of its heads, and none an index")
    .put({s.n_mla_layers: s.n_layers}, "every layer keeps one latent and one rotary key")
)
KV_MLA_RATIO = Derivation.begin(KV_OVERSTATEMENT.eq, KV_OVERSTATEMENT.says).put(
    {
        s.mha_kv_growing: MHA_KV.eq.rhs,
        s.kv_growing: KV_GROWING.eq.rhs.xreplace(MLA_ONLY),
    },
    "multi-head above, one latent and one rotary key a layer below",
    MHA_KV,
    KV_GROWING,
)
KV_GQA_RATIO = (
    Derivation.begin(KV_OVERSTATEMENT.eq, KV_OVERSTATEMENT.says)
    .put(
        {
            s.mha_kv_growing: MHA_KV.eq.rhs,
            s.kv_growing: KV_GROWING.eq.rhs.xreplace({**GQA_ONLY, s.n_full_layers: s.n_layers}),
        },
        "multi-head above, K pairs of key and value a layer below",
        MHA_KV,
        KV_GROWING,
    )
    .put({s.v_head_dim: s.head_dim}, "equal widths")
    .put({s.hidden_size: s.n_heads * s.head_dim}, "heads share the width of the stream")
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
