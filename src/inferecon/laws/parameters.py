"""Chapter 1.  How many weights does a model have, and how many does a token use?"""

from sympy import Piecewise

from .. import symbols as s
from ..law import Eq, Law
from .mixers import count

d = s.hidden_size
norm = s.norm_vectors * d

DENSE_MATRICES = count(
    "PARAM-MLP",
    s.dense_matrices,
    s.mlp_matrices * d * s.dense_width,
    "gate, up and down projections",
    "shazeer2020, eq. 6",
)
DENSE_VECTORS = count(
    "PARAM-MLP-VECTORS",
    s.dense_vectors,
    s.mlp_bias * ((s.mlp_matrices - 1) * s.dense_width + d),
    "one bias a matrix",
    "derived",
)
EXPERT_INPUT = Law(
    "EXPERT-INPUT",
    Eq(s.expert_input, Piecewise((d, Eq(s.expert_latent, 0)), (s.expert_latent, True))),
    "experts read the residual stream, or a latent of it",
    "transformers, MoE modules of each family",
)
EXPERT_MATRICES = count(
    "PARAM-EXPERT",
    s.expert_matrices,
    s.mlp_matrices * s.expert_input * s.expert_width,
    "an expert is a narrow MLP",
    "shazeer2017, sec. 2",
)
EXPERT_VECTORS = count(
    "PARAM-EXPERT-VECTORS",
    s.expert_vectors,
    s.expert_bias * (2 * s.expert_width + d),
    "one bias a matrix",
    "transformers, gpt_oss module",
)
ROUTER_MATRICES = count(
    "PARAM-ROUTER",
    s.router_matrices,
    d * s.n_experts,
    "one row an expert",
    "shazeer2017, sec. 2.1",
)
MOE_MATRICES = count(
    "PARAM-SHARED",
    s.moe_matrices,
    s.mlp_matrices * d * (s.shared_width + s.moe_dense_width) + 2 * d * s.expert_latent,
    "shared experts, a dense MLP beside them, down to the latent and up",
    "deepseekv3, sec. 2.1.2",
)
MOE_VECTORS = count(
    "PARAM-SHARED-VECTORS",
    s.moe_vectors,
    s.router_bias * s.n_experts
    + s.shared_gate * d
    + s.latent_norm * s.expert_latent
    + s.moe_extra_norms * d
    + s.router_scales * (d + s.n_experts),
    "router bias and scales, shared gate, extra norms",
    "transformers, MoE modules of each family",
)
h = s.hyper_mult
HYPER_VECTORS = count(
    "PARAM-HYPER",
    s.hyper_vectors,
    Piecewise(
        (0, Eq(h, 0)),
        (
            s.n_layers * 2 * ((2 + h) * h * (h * d + 1) + 3)
            + h * h * d
            + h
            + 1
            - s.hash_router_layers * s.n_experts,
            True,
        ),
    ),
    "mixing weights of the residual streams; hash-routed layers have no bias",
    "transformers, deepseek_v4 module",
)

mixers = (
    s.n_full_layers * s.gqa_matrices
    + s.n_indexed_layers * s.block_index_matrices
    + s.n_local_layers * s.local_matrices
    + s.n_mla_layers * s.mla_matrices
    + s.n_index_layers * s.index_matrices
    + (s.n_csa0_layers + s.n_csa4_layers + s.n_csa128_layers) * s.csa0_matrices
    + s.n_csa4_layers * s.csa4_matrices
    + s.n_csa128_layers * s.csa128_matrices
    + s.n_gdn_layers * s.gdn_matrices
    + s.n_kda_layers * s.kda_matrices
    + s.n_lightning_layers * s.lightning_matrices
    + s.n_mamba_layers * s.mamba_matrices
)
VECTORS_OF = {
    s.gqa_matrices: s.gqa_vectors,
    s.block_index_matrices: s.block_index_vectors,
    s.local_matrices: s.local_vectors,
    s.mla_matrices: s.mla_vectors,
    s.index_matrices: s.index_vectors,
    s.csa0_matrices: s.csa0_vectors,
    s.csa4_matrices: s.csa4_vectors,
    s.csa128_matrices: s.csa128_vectors,
    s.gdn_matrices: s.gdn_vectors,
    s.kda_matrices: s.kda_vectors,
    s.lightning_matrices: s.lightning_vectors,
    s.mamba_matrices: s.mamba_vectors,
}
ATTENTION = Law(
    "PARAM-MIXERS",
    Eq(s.params_attention, mixers),
    "each layer has one sequence mixer",
    "derived",
)
DENSE = Law(
    "PARAM-DENSE",
    Eq(s.params_dense, s.n_dense_layers * s.dense_matrices + s.n_moe_layers * s.moe_matrices),
    "dense MLPs and what every token meets beside the experts",
    "derived",
)
EXPERTS = Law(
    "PARAM-EXPERTS",
    Eq(s.params_experts, s.n_moe_layers * s.n_experts * (s.expert_matrices + s.expert_vectors)),
    "every layer keeps all its experts",
    "derived",
)
ROUTER = Law(
    "PARAM-ROUTERS",
    Eq(s.params_router, s.n_moe_layers * s.router_matrices),
    "one router a layer",
    "derived",
)
EMBEDDING = count(
    "PARAM-EMBEDDING", s.params_embedding, s.vocab_size * d, "one row a vocabulary entry", "derived"
)
HEAD = count(
    "PARAM-HEAD",
    s.params_head,
    s.vocab_size * (s.head_untied * d + s.head_bias),
    "a tied head has no table of its own",
    "press2017, weight tying",
)
VECTORS = Law(
    "PARAM-VECTORS",
    Eq(
        s.params_vectors,
        mixers.xreplace(VECTORS_OF)
        + s.n_dense_layers * s.dense_vectors
        + s.n_moe_layers * s.moe_vectors
        + s.hyper_vectors
        + s.element
        * (
            (s.n_layers * s.norms_per_layer + 1 + s.embedding_norm) * norm
            + s.learned_positions * d
            + s.extra_params
        ),
    ),
    "norms, biases, positions and everything that is no matrix",
    "derived",
)
TOTAL = Law(
    "PARAM-TOTAL",
    Eq(
        s.params_total,
        s.params_attention
        + s.params_dense
        + s.params_experts
        + s.params_router
        + s.params_embedding
        + s.params_head
        + s.params_vectors,
    ),
    "the language model; MTP modules and vision tower are kept apart",
    "derived",
)
ACTIVE = Law(
    "PARAM-ACTIVE",
    Eq(
        s.params_active,
        s.params_total
        - s.n_moe_layers * (s.n_experts - s.top_k) * (s.expert_matrices + s.expert_vectors),
    ),
    "all but the experts a token does not use, tables included",
    "derived",
)
MTP = Law(
    "PARAM-MTP",
    Eq(
        s.params_mtp,
        s.mtp_modules
        * (
            s.mtp_full_layers * (s.gqa_matrices + s.gqa_vectors)
            + s.mtp_local_layers * (s.local_matrices + s.local_vectors)
            + s.mtp_mla_layers * (s.mla_matrices + s.mla_vectors)
            + s.mtp_index_layers * (s.index_matrices + s.index_vectors)
            + s.mtp_csa0_layers * (s.csa0_matrices + s.csa0_vectors)
            + s.mtp_dense_layers * (s.dense_matrices + s.dense_vectors)
            + s.mtp_moe_layers
            * (
                s.n_experts * (s.expert_matrices + s.expert_vectors)
                + s.router_matrices
                + s.moe_matrices
                + s.moe_vectors
            )
            + s.element
            * (
                (s.norms_per_layer + s.mtp_norms) * norm
                + s.mtp_proj * d * d
                + Piecewise(
                    (0, Eq(h, 0)),
                    (2 * ((2 + h) * h * (h * d + 1) + 3) + h * h * d + h + 1, True),
                )
            )
        )
        + s.element * s.mtp_norm_layers * norm,
    ),
    "a module is one more layer, a projection and its norms",
    "deepseekv3, sec. 2.2",
)
COPIES = count(
    "PARAM-COPIES",
    s.params_copies,
    s.mtp_copies * s.vocab_size * d,
    "tables that the checkpoint stores a second time",
    "DeepSeek-V3 repository, README_WEIGHTS.md",
)
v = s.vision_width
VISION = count(
    "PARAM-VISION",
    s.params_vision,
    s.vision_layers * (4 * v * v + 2 * v * s.vision_mlp_width + s.vision_mlp_width + 9 * v)
    + s.vision_patch_params
    + s.vision_position_params
    + s.vision_other_params,
    "attention and MLP with biases and two layer norms, patches, projector",
    "dosovitskiy2021, sec. 3.1",
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
