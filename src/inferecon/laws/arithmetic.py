"""Chapter 3.  How many FLOP does a token cost, in prefill and in decode?

Every matrix weight a token meets costs one multiply-add.  Attention adds a
multiply-add per attended element, and there prefill and decode differ: prefill
averages over the causal triangle, decode pays for the whole context.  MLA
attends with full heads in prefill and with the latent itself in decode.
"""

from sympy import Piecewise

from .. import symbols as s
from ..law import Derivation, Eq, Law, Min
from .cache import full_head_pair, local_head_pair

H = s.n_heads
per_token_elem = s.element / s.one_token  # elements attended to, a token of context

MATRICES_PER_TOKEN = Law(
    "MATRICES-PER-TOKEN",
    Eq(
        s.matrices_per_token,
        s.params_attention
        + s.params_dense
        + s.params_router
        + s.n_moe_layers * s.top_k * s.expert_matrices,
    ),
    "all matrices outside the experts, and k experts a layer",
    "derived",
)
FLOP_LINEAR = Law(
    "FLOP-LINEAR",
    Eq(s.flop_linear, s.mac * (s.params_attention + s.params_dense + s.params_router)),
    "every token meets every matrix weight once",
    "kaplan2020, sec. 2.1",
)
FLOP_EXPERTS = Law(
    "FLOP-EXPERTS",
    Eq(s.flop_experts, s.mac * s.n_moe_layers * s.top_k * s.expert_matrices),
    "a token meets k experts in each MoE layer",
    "shazeer2017, sec. 2",
)
HEAD_ELEMENTS = Law(
    "HEAD-ELEMENTS",
    Eq(s.head_elements, s.vocab_size * s.hidden_size),
    "the output projection, tied or not",
    "derived",
    counts="elem",
)
FLOP_HEAD = Law(
    "FLOP-HEAD",
    Eq(s.flop_head, s.mac * s.head_elements),
    "one score a vocabulary entry",
    "kaplan2020, sec. 2.1",
)

# Decode: one new token attends to the mean context S of its answer.
CONTEXT = Law(
    "CONTEXT",
    Eq(s.context, s.isl + s.osl / 2),
    "step j of the answer attends to the prompt and j tokens; the mean over the answer",
    "derived",
)
ATTENDED_WINDOW = Law(
    "ATTENDED-WINDOW",
    Eq(s.attended_window, Min(s.context, s.window)),
    "no further back than the window",
    "beltagy2020, sec. 3.1",
)


def selected(everything, most):
    """Tokens attended to when an index selects at most ``most`` of them (0: no index)."""
    return Piecewise((everything, Eq(most, 0)), (Min(everything, most), True))


def triangle(most):
    """Mean causal context of a prompt token that attends to at most ``most`` tokens."""
    whole = (s.isl + s.one_token) / 2
    return Piecewise(
        (whole, s.isl <= most), (most - most * (most - s.one_token) / (2 * s.isl), True)
    )


ATTENDED_MLA = Law(
    "ATTENDED-MLA",
    Eq(s.attended_mla, selected(s.context, s.index_topk)),
    "everything, or the tokens an index selects",
    "dsv32, sec. 2.1",
)
ATTENDED_BLOCK = Law(
    "ATTENDED-BLOCK",
    Eq(s.attended_block, selected(s.context, s.block_index_topk)),
    "the blocks an index selects",
    "transformers, minimax_m3 module",
)
ATTENDED_CSA = Law(
    "ATTENDED-CSA",
    Eq(s.attended_csa, Min(s.context, s.csa_window)),
    "uncompressed tokens of the window",
    "transformers, deepseek_v4 module",
)
ATTENDED_CSA4 = Law(
    "ATTENDED-CSA-4",
    Eq(s.attended_csa4, Min(s.context / 4, s.csa_topk * s.one_token)),
    "one entry per four tokens, the best of them",
    "transformers, deepseek_v4 module",
)
MEAN_FULL = Law(
    "MEAN-FULL",
    Eq(s.mean_full, (s.isl + s.one_token) / 2),
    "token i attends to i tokens: half the prompt on average",
    "derived",
)
MEAN_WINDOW = Law(
    "MEAN-WINDOW",
    Eq(s.mean_window, triangle(s.window)),
    "the causal triangle cut off at the window",
    "derived",
)
MEAN_MLA = Law(
    "MEAN-MLA",
    Eq(
        s.mean_mla,
        Piecewise((s.mean_full, Eq(s.index_topk, 0)), (triangle(s.index_topk), True)),
    ),
    "the causal triangle, cut off at the tokens an index selects",
    "derived",
)
MEAN_BLOCK = Law(
    "MEAN-BLOCK",
    Eq(
        s.mean_block,
        Piecewise((s.mean_full, Eq(s.block_index_topk, 0)), (triangle(s.block_index_topk), True)),
    ),
    "the causal triangle, cut off at the blocks an index selects",
    "derived",
)
MEAN_CSA = Law(
    "MEAN-CSA",
    Eq(s.mean_csa, triangle(s.csa_window)),
    "the causal triangle cut off at the window",
    "derived",
)
MEAN_CSA4 = Law(
    "MEAN-CSA-4",
    Eq(s.mean_csa4, triangle(4 * s.csa_topk * s.one_token) / 4),
    "one entry per four tokens, cut off at the best of them",
    "derived",
)


def core(full, local, mla, block, csa, csa4, csa128, index, mla_heads):
    """FLOP per token of scores and values, given the tokens each kind of layer attends to."""
    return (
        s.mac
        * per_token_elem
        * (
            (s.n_full_layers - s.n_indexed_layers) * H * full_head_pair * full
            + s.n_indexed_layers
            * (H * full_head_pair * block + s.block_index_heads * s.block_index_dim * index)
            + s.n_local_layers * H * local_head_pair * local
            + s.n_mla_layers * H * mla_heads * mla
            + s.n_index_layers * s.index_heads * s.index_dim * index
            + (s.n_csa0_layers + s.n_csa4_layers + s.n_csa128_layers) * 2 * H * s.csa_head_dim * csa
            + s.n_csa4_layers
            * (2 * H * s.csa_head_dim * csa4 + s.csa_index_heads * s.csa_index_dim * index / 4)
            + s.n_csa128_layers * 2 * H * s.csa_head_dim * csa128
        )
    )


FLOP_CORE_DECODE = Law(
    "FLOP-CORE-DECODE",
    Eq(
        s.flop_core_decode,
        core(
            full=s.context,
            local=s.attended_window,
            mla=s.attended_mla,
            block=s.attended_block,
            csa=s.attended_csa,
            csa4=s.attended_csa4,
            csa128=s.context / 128,
            index=s.context,
            mla_heads=2 * s.kv_lora_rank + s.qk_rope_head_dim,
        ),
    ),
    "each query head meets key and value of each attended token; MLA meets the latent",
    "pope2023, sec. 3.3; deepseekv2, app. C",
)
FLOP_CORE_PREFILL = Law(
    "FLOP-CORE-PREFILL",
    Eq(
        s.flop_core_prefill,
        core(
            full=s.mean_full,
            local=s.mean_window,
            mla=s.mean_mla,
            block=s.mean_block,
            csa=s.mean_csa,
            csa4=s.mean_csa4,
            csa128=s.mean_full / 128,
            index=s.mean_full,
            mla_heads=s.qk_nope_head_dim + s.qk_rope_head_dim + s.mla_v_head_dim,
        ),
    ),
    "the same over the causal triangle; MLA meets full heads",
    "pope2023, sec. 3.3; deepseekv2, app. C",
)
FLOP_DECODE = Law(
    "FLOP-DECODE",
    Eq(
        s.flop_decode,
        s.flop_linear + s.flop_experts + s.flop_state + s.flop_core_decode + s.flop_head,
    ),
    "matrices, experts, state, attention and head",
    "derived",
)
FLOP_PREFILL = Law(
    "FLOP-PREFILL",
    Eq(s.flop_prefill, s.flop_linear + s.flop_experts + s.flop_state + s.flop_core_prefill),
    "as decode without the head, which scores the last position only",
    "derived",
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]

# The rule "2 N a token": what it leaves out stands in its conditions.
TWO_N = (
    Derivation.begin(FLOP_DECODE.eq, FLOP_DECODE.says)
    .put({s.flop_experts: 0, s.flop_state: 0}, "dense, no recurrent state")
    .neglect(s.flop_core_decode, "short context: few elements attended to")
    .use(FLOP_LINEAR)
    .put({s.params_router: 0}, "no router")
    .use(FLOP_HEAD)
)
MHA_ONLY = {
    s.n_indexed_layers: 0,
    s.n_local_layers: 0,
    s.n_mla_layers: 0,
    s.n_index_layers: 0,
    s.n_csa0_layers: 0,
    s.n_csa4_layers: 0,
    s.n_csa128_layers: 0,
    s.n_full_layers: s.n_layers,
    s.v_head_dim: s.head_dim,
}
CONTEXT_EQUAL = (
    Derivation.begin(Eq(s.flop_core_decode, s.flop_linear), "attention costs as much as matrices")
    .put(
        {s.flop_core_decode: FLOP_CORE_DECODE.eq.rhs.xreplace(MHA_ONLY)},
        "full attention in every layer, keys as wide as values",
        FLOP_CORE_DECODE,
    )
    .use(FLOP_LINEAR)
    .put({s.params_router: 0}, "no router")
    .put({s.head_dim: s.hidden_size / H}, "heads share the width of the stream")
    .solve_for(s.context, "the context where both are equal")
    .put(
        {
            s.params_attention: 4 * s.element * s.n_layers * s.hidden_size**2,
            s.params_dense: 8 * s.element * s.n_layers * s.hidden_size**2,
        },
        "multi-head attention, and an MLP of twice its weights",
    )
)
# Token i of a prompt attends to min(i, W) tokens.
W = s.window
WINDOW_TRIANGLE = Derivation.begin(
    Eq(s.mean_window, (W * (W + s.one_token) / 2 + (s.isl - W) * W) / s.isl),
    "a triangle for the first W tokens of the prompt, W for each of the others",
    laws=(MEAN_WINDOW,),
    holds=s.isl >= W,
).rewrite(W - W * (W - s.one_token) / (2 * s.isl), "what the triangle lacks of W a token")
