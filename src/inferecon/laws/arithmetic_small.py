"""What the arithmetic chapter leaves out, and what one document puts in its place.

Rotary positions, norms and softmax run on vectors; counted here to show how
little they are.  An exponential, a root and a division count as one FLOP each.
"""

from sympy import Rational

from .. import symbols as s
from ..law import Derivation, Eq, Law
from . import arithmetic

H, d, L = s.n_heads, s.hidden_size, s.n_layers
one_flop = s.mac * s.element / 2  # a multiply-add is two

ROPE = Law(
    "FLOP-ROPE",
    Eq(
        s.flop_rope,
        3
        * one_flop
        * (
            s.n_full_layers * (H + s.n_kv_heads) * s.head_dim
            + s.n_local_layers * (H + s.local_kv_heads) * s.local_head_dim
            + s.n_mla_layers * (H + 1) * s.qk_rope_head_dim
        ),
    ),
    "two products and a sum for each rotated element of query and key",
    "su2021, sec. 3.4.2",
)
NORM = Law(
    "FLOP-NORM",
    Eq(
        s.flop_norm,
        (3 * s.norm_vectors + 1) * one_flop * d * (L * s.norms_per_layer + 1 + s.embedding_norm),
    ),
    "square, add, scale twice; three more to take off a mean and add a bias",
    "derived",
)
SOFTMAX = Law(
    "FLOP-SOFTMAX",
    Eq(
        s.flop_softmax,
        5
        * one_flop
        / s.one_token
        * H
        * (
            (s.n_full_layers - s.n_indexed_layers) * s.context
            + s.n_indexed_layers * s.attended_block
            + s.n_local_layers * s.attended_window
            + s.n_mla_layers * s.attended_mla
        ),
    ),
    "compare, subtract, exponential, add and divide for each score",
    "derived",
)
ROPE_SHARE = Law(
    "ROPE-SHARE",
    Eq(s.rope_share, s.flop_rope / s.flop_decode),
    "rotary positions over all that a decoded token costs",
    "derived",
)
SMALL_SHARE = Law(
    "SMALL-SHARE",
    Eq(s.small_share, (s.flop_rope + s.flop_norm + s.flop_softmax) / s.flop_decode),
    "positions, norms and softmax over all that is counted",
    "derived",
)
# The second source document gives rotary positions a share of 12 in a hundred.
ROPE_WIDTH = (
    Derivation.begin(ROPE_SHARE.eq, ROPE_SHARE.says)
    .put({s.flop_decode: s.flop_linear}, "beside the matrices alone: the largest share")
    .use(arithmetic.FLOP_LINEAR)
    .put(
        {
            s.params_attention: 4 * s.element * L * d**2,
            s.params_dense: 8 * s.element * L * d**2,
            s.params_router: 0,
            s.flop_rope: ROPE.eq.rhs.xreplace(
                {
                    s.n_full_layers: L,
                    s.n_local_layers: 0,
                    s.n_mla_layers: 0,
                    s.n_kv_heads: H,
                    s.head_dim: d / H,
                }
            ),
        },
        "multi-head attention, and an MLP of twice its weights",
    )
    .put({s.rope_share: Rational(3, 25)}, "the share that the second source document states")
    .solve_for(d, "the width of the model for which it is true")
)

# The third source document, term by term.
DOC3_BASE = Law(
    "DOC3-BASE",
    Eq(
        s.doc3_base,
        s.mac * s.element * (L * (3 * d**2 + 4 * d * s.dense_width) + s.vocab_size * d),
    ),
    "three squares of the width, four dense matrices a layer, and the head",
    "third source document, its formula for base FLOP",
)
DOC3_MOE = Law(
    "DOC3-MOE",
    Eq(s.doc3_moe, s.mac * s.element * L * s.top_k * d * s.expert_width),
    "one matrix for each active expert, in every layer",
    "third source document, its formula for MoE FLOP",
)
DOC3_FLOP = Law(
    "DOC3-FLOP",
    Eq(s.doc3_flop, s.doc3_base + s.doc3_moe),
    "what the third source document counts for a token",
    "third source document, its formula for total FLOP",
)

# MLA: the latent itself, or the heads unfolded from it.
unfold = s.kv_lora_rank * (s.qk_nope_head_dim + s.mla_v_head_dim)
scores = s.qk_nope_head_dim + s.qk_rope_head_dim + s.mla_v_head_dim
latent = 2 * s.kv_lora_rank + s.qk_rope_head_dim
n, S = s.query_tokens, s.context
ABSORBED = Law(
    "MLA-ABSORBED",
    Eq(s.mla_absorbed, s.mac * s.element * H * n * (unfold + latent * S / s.one_token)),
    "projections folded into query and output; each head meets the latent",
    "deepseekv2, app. C",
)
UNFOLDED = Law(
    "MLA-UNFOLDED",
    Eq(s.mla_unfolded, s.mac * s.element * H * (S * unfold + n * scores * S / s.one_token)),
    "keys and values of the whole context unfolded; each head meets its own",
    "deepseekv2, app. C",
)
LENGTH = (
    Derivation.begin(
        Eq(ABSORBED.eq.rhs, UNFOLDED.eq.rhs), "both ways cost the same", laws=(ABSORBED, UNFOLDED)
    )
    .solve_for(S, "the context at which they do; heads cancel")
    .rewrite(
        n * unfold / (unfold - n * (latent - scores) / s.one_token), "over the excess of the latent"
    )
)
ABSORB_CONTEXT = Law(
    "MLA-CONTEXT",
    Eq(s.absorb_context, LENGTH.eq.rhs),
    "context above which the latent is cheaper, for so many tokens in a pass",
    "derived",
    holds=unfold * s.one_token > n * (latent - scores),
)
ABSORB_CHUNK = Law(
    "MLA-CHUNK",
    Eq(s.absorb_chunk, s.one_token * unfold / (latent - scores)),
    "tokens in a pass at which no context is long enough",
    "derived",
    holds=2 * s.kv_lora_rank > s.qk_nope_head_dim + s.mla_v_head_dim,
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
