"""Every law once by hand: small numbers, and arithmetic that owes nothing to the law's code.

An input that is not named is 1 token, 1 element, 2 FLOP a multiply-add, or zero where it
describes a part that a model may lack.  Each law needs a case that each of its inputs moves.
"""

import math

import pytest

from inferecon.law import OutOfRegime
from inferecon.laws.catalogue import BY_ID, LAWS
from inferecon.symbols import GLOSSARY, SYMBOLS

CONSTANTS = {"mac": 2.0, "one_token": 1.0, "element": 1.0}
CASES: dict[str, list[tuple[float, dict]]] = {}


def by_hand(id: str, expected: float, **inputs: float) -> None:
    CASES.setdefault(id, []).append((expected, inputs))


def given(law, inputs):
    """Inputs of a law by symbol; parts that are not named are absent."""
    values = CONSTANTS | inputs
    absent = {s: 0.0 for s in law.needs if GLOSSARY[s].part and s.name not in values}
    return absent | {s: float(values[s.name]) for s in law.needs if s.name in values}


# Sequence mixers: one layer --------------------------------------------------------------------

# stream 11, 3 query heads of 5 = 15, 2 KV heads: keys 2x5 = 10, values 2x7 = 14, output 3x7 = 21
gqa = dict(hidden_size=11, n_heads=3, head_dim=5, n_kv_heads=2, v_head_dim=7)
local = dict(hidden_size=11, n_heads=3, local_head_dim=5, local_kv_heads=2, local_v_head_dim=7)
biases = dict(qkv_bias=1, o_bias=1, qk_norm_per_head=1, qk_norm_full=1)
# Wq, Wk, Wv, Wo, gate
every_matrix = 11 * 15 + 11 * 10 + 11 * 14 + 21 * 11 + 11 * 15
# bq, bk, bv, bo, norms of one query and one key head, norms of all of both, a sink a head
every_vector = 15 + 10 + 14 + 11 + (5 + 5) + (15 + 10) + 3
by_hand("PARAM-GQA", every_matrix, **gqa, value_projection=1, output_gate=1)
by_hand("PARAM-GQA", 11 * 15 + 11 * 10 + 21 * 11, **gqa)  # values reuse the keys, no gate
by_hand("PARAM-GQA-VECTORS", every_vector, **gqa, **biases, value_projection=1, sinks=1)
by_hand("PARAM-GQA-VECTORS", 0, **gqa)
by_hand("PARAM-LOCAL", every_matrix, **local, local_value_projection=1, output_gate=1)
by_hand(
    "PARAM-LOCAL-VECTORS", every_vector, **local, **biases, local_value_projection=1, local_sinks=1
)

# 3 index queries of 5 and one key of 5
block_index = dict(hidden_size=11, block_index_heads=3, block_index_dim=5)
by_hand("PARAM-BLOCK-INDEX", 11 * 15 + 11 * 5, **block_index)
by_hand("PARAM-BLOCK-INDEX-VECTORS", 5 + 5, block_index_dim=5)

# DeepSeek-V3: q_a, q_b to 128 heads of 128 + 64, kv_a to 512 + 64, kv_b to 128 x (128 + 128), o
mla = dict(
    hidden_size=7168,
    n_heads=128,
    q_lora_rank=1536,
    kv_lora_rank=512,
    qk_nope_head_dim=128,
    qk_rope_head_dim=64,
    mla_v_head_dim=128,
)
v3 = 7168 * 1536 + 1536 * 24576 + 7168 * 576 + 512 * 32768 + 16384 * 7168
by_hand("PARAM-MLA", v3, **mla)
by_hand("PARAM-MLA", v3 + 7168 * 16384, **mla, mla_output_gate=1)
# no query latent: q is one matrix to 128 heads of 192
v3_plain = 7168 * 24576 + 7168 * 576 + 512 * 32768 + 16384 * 7168
by_hand("PARAM-MLA", v3_plain, **{**mla, "q_lora_rank": 0})
by_hand("PARAM-MLA-VECTORS", 1536 + 512, q_lora_rank=1536, kv_lora_rank=512)
# 5 index queries of 7 from a latent of 3; one key of 7 and 5 head weights from the stream
index = dict(hidden_size=11, q_lora_rank=3, index_heads=5, index_dim=7)
by_hand("PARAM-INDEX", 3 * 35 + 11 * 7 + 11 * 5, **index)
by_hand("PARAM-INDEX-VECTORS", 7 + 7, index_dim=7)  # weight and bias

# query down to 2 and up to 3 heads of 5; one key of 5; out in 3 groups of 5 to 7, then 3 x 7 to 11
csa = dict(hidden_size=11, n_heads=3, csa_head_dim=5, csa_q_rank=2, csa_o_rank=7, csa_o_groups=3)
by_hand("PARAM-CSA", 11 * 2 + 2 * 15 + 11 * 5 + 3 * (5 * 7) + 21 * 11, **csa)
by_hand("PARAM-CSA-VECTORS", 2 + 5 + 3, csa_q_rank=2, csa_head_dim=5, n_heads=3)
# two overlapping compressors (value and gate: 2 x 2) of width 5 and of width 3; 7 index heads of 3
csa4 = dict(hidden_size=11, csa_head_dim=5, csa_index_dim=3, csa_q_rank=2, csa_index_heads=7)
by_hand("PARAM-CSA-4", 4 * 11 * 5 + 4 * 11 * 3 + 2 * 21 + 11 * 7, **csa4)
by_hand("PARAM-CSA-4-VECTORS", (8 * 5 + 5) + (8 * 3 + 3), csa_head_dim=5, csa_index_dim=3)
by_hand("PARAM-CSA-128", 11 * 5 + 11 * 5, hidden_size=11, csa_head_dim=5)
by_hand("PARAM-CSA-128-VECTORS", 128 * 5 + 5, csa_head_dim=5)

# 2 key heads of 3 = 6, 5 value heads of 7 = 35, 4 taps
gdn = dict(gdn_key_heads=2, gdn_key_dim=3, gdn_value_heads=5, gdn_value_dim=7, gdn_conv=4)
# q, k; v, gate; decay and step of a head; taps over q, k, v; output
gdn_matrices = 2 * 11 * 6 + 2 * 11 * 35 + 2 * 11 * 5 + 4 * (6 + 6 + 35) + 35 * 11
by_hand("PARAM-GDN", gdn_matrices, hidden_size=11, **gdn)
by_hand("PARAM-GDN-VECTORS", 5 + 5 + 7, gdn_value_heads=5, gdn_value_dim=7)
# 3 heads of 5 = 15: q, k, v; taps; step; decay through 5; gate through 5 or in full; output
kda = dict(hidden_size=11, kda_heads=3, kda_dim=5, kda_conv=4)
through = 11 * 5 + 5 * 15
kda_rest = 3 * 11 * 15 + 4 * 45 + 11 * 3 + through + 15 * 11
by_hand("PARAM-KDA", kda_rest + through, **kda)
by_hand("PARAM-KDA", kda_rest + 11 * 15, **kda, kda_full_gate=1)
by_hand("PARAM-KDA-VECTORS", 15 + 3 + 5, kda_heads=3, kda_dim=5)
lightning = dict(lightning_heads=3, lightning_dim=5)
by_hand("PARAM-LIGHTNING", 4 * 11 * 15 + 15 * 11, hidden_size=11, **lightning)
by_hand("PARAM-LIGHTNING-VECTORS", 15, **lightning)
# 3 heads of 5 = 15, state 7 in 2 groups: B and C are 14 each; 15 + 28 = 43 channels meet the taps
mamba = dict(mamba_heads=3, mamba_head_dim=5, mamba_state=7, mamba_groups=2)
by_hand(
    "PARAM-MAMBA",
    11 * (15 + 15 + 14 + 14 + 3) + 43 * 4 + 15 * 11,
    hidden_size=11,
    **mamba,
    mamba_conv=4,
)
by_hand("PARAM-MAMBA-VECTORS", 43 + 3 + 3 + 3 + 15, **mamba)
recurrent = dict(
    **gdn, **mamba, **lightning, kda_heads=3, kda_dim=5, kda_conv=4, mamba_conv=4
) | dict(n_gdn_layers=2, n_kda_layers=3, n_lightning_layers=5, n_mamba_layers=7)
# matrix of each head, and the last three inputs of the taps
by_hand(
    "STATE",
    2 * (5 * 3 * 7 + 3 * 47) + 3 * (3 * 25 + 3 * 45) + 5 * (3 * 25) + 7 * (15 * 7 + 3 * 43),
    **recurrent,
)
OF_THE_TAPS = ("gdn_conv", "kda_conv", "mamba_conv", "mamba_groups", "gdn_key_heads")
# FLOP an element: decay 1, write 2, read 2, and 2 more to read with the key for the delta rule
by_hand(
    "FLOP-STATE",
    2 * 105 * 7 + 3 * 75 * 7 + 5 * 75 * 5 + 7 * 105 * 5,
    **{k: v for k, v in recurrent.items() if k not in OF_THE_TAPS},
)

# Feed-forward ----------------------------------------------------------------------------------

by_hand("PARAM-MLP", 11 * 13 + 11 * 13 + 13 * 11, mlp_matrices=3, hidden_size=11, dense_width=13)
mlp = dict(hidden_size=11, dense_width=13, mlp_bias=1)
by_hand("PARAM-MLP-VECTORS", 13 + 13 + 11, **mlp, mlp_matrices=3)
by_hand("PARAM-MLP-VECTORS", 13 + 11, **mlp, mlp_matrices=2)
by_hand("EXPERT-INPUT", 11, hidden_size=11)
by_hand("EXPERT-INPUT", 4, hidden_size=11, expert_latent=4)
by_hand("PARAM-EXPERT", 4 * 5 + 4 * 5 + 5 * 4, mlp_matrices=3, expert_input=4, expert_width=5)
by_hand("PARAM-EXPERT-VECTORS", 5 + 5 + 11, expert_bias=1, expert_width=5, hidden_size=11)
by_hand("PARAM-ROUTER", 11 * 8, hidden_size=11, n_experts=8)
# shared experts of 5 and a dense MLP of 7, three matrices each; down to a latent of 4 and up
by_hand(
    "PARAM-SHARED",
    3 * (11 * 5) + 3 * (11 * 7) + 11 * 4 + 4 * 11,
    mlp_matrices=3,
    hidden_size=11,
    shared_width=5,
    moe_dense_width=7,
    expert_latent=4,
)
# router bias; gate of the shared expert; norm of the latent; two norms; scales, stream and experts
by_hand(
    "PARAM-SHARED-VECTORS",
    8 + 11 + 4 + 2 * 11 + (11 + 8),
    hidden_size=11,
    n_experts=8,
    expert_latent=4,
    router_bias=1,
    shared_gate=1,
    latent_norm=1,
    moe_extra_norms=2,
    router_scales=1,
)
# 2 streams of 5: a layer mixes twice, from 10 inputs to 2 + 2 + 4 weights, each with a bias, and
# three scales; the head mixes 10 into 2 with a bias each and a scale; one layer has no router bias
hyper = dict(hidden_size=5, n_layers=3, n_experts=8, hash_router_layers=1)
mixing = 8 * 10 + 8 + 3
by_hand("PARAM-HYPER", 3 * 2 * mixing + (10 * 2 + 2 + 1) - 8, **hyper, hyper_mult=2)
by_hand("PARAM-HYPER", 0, **hyper)

# Parameters of the model -----------------------------------------------------------------------

layers = dict(
    n_full_layers=2,
    n_indexed_layers=3,
    n_local_layers=5,
    n_mla_layers=7,
    n_index_layers=11,
    n_csa0_layers=13,
    n_csa4_layers=17,
    n_csa128_layers=19,
    n_gdn_layers=23,
    n_kda_layers=29,
    n_lightning_layers=31,
    n_mamba_layers=37,
)
kinds = "gqa block_index local mla index csa0 csa4 csa128 gdn kda lightning mamba".split()
sizes = (100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111)
# every V4 layer (13 + 17 + 19 of them) has the window; ratios 4 and 128 add to it
mixers = (
    2 * 100
    + 3 * 101
    + 5 * 102
    + 7 * 103
    + 11 * 104
    + (13 + 17 + 19) * 105
    + 17 * 106
    + 19 * 107
    + 23 * 108
    + 29 * 109
    + 31 * 110
    + 37 * 111
)
by_hand(
    "PARAM-MIXERS",
    mixers,
    **layers,
    **{f"{kind}_matrices": n for kind, n in zip(kinds, sizes, strict=True)},
)
# 41 dense and 43 MoE layers with vectors of 3 and 5, hyper-connections 7; norms of 6 (2 vectors of
# 3): two in each of 47 layers, one at the end, one at the embedding; 10 positions of 3; 9 others
by_hand(
    "PARAM-VECTORS",
    mixers + 41 * 3 + 43 * 5 + 7 + (47 * 2 + 1 + 1) * 6 + 10 * 3 + 9,
    **layers,
    **{f"{kind}_vectors": n for kind, n in zip(kinds, sizes, strict=True)},
    n_dense_layers=41,
    dense_vectors=3,
    n_moe_layers=43,
    moe_vectors=5,
    hyper_vectors=7,
    n_layers=47,
    norms_per_layer=2,
    norm_vectors=2,
    embedding_norm=1,
    hidden_size=3,
    learned_positions=10,
    extra_params=9,
)
by_hand(
    "PARAM-DENSE",
    2 * 7 + 3 * 11,
    n_dense_layers=2,
    dense_matrices=7,
    n_moe_layers=3,
    moe_matrices=11,
)
experts = dict(n_moe_layers=3, n_experts=8, expert_matrices=7, expert_vectors=2)
by_hand("PARAM-EXPERTS", 3 * 8 * (7 + 2), **experts)
by_hand("PARAM-ROUTERS", 3 * 88, n_moe_layers=3, router_matrices=88)
by_hand("PARAM-EMBEDDING", 100 * 11, vocab_size=100, hidden_size=11)
table = dict(vocab_size=100, hidden_size=11)
by_hand("PARAM-HEAD", 100 * 11 + 100, **table, head_untied=1, head_bias=1)
by_hand("PARAM-HEAD", 0, **table, head_untied=0, head_bias=0)
parts = "attention dense experts router embedding head vectors".split()
by_hand(
    "PARAM-TOTAL",
    1 + 2 + 4 + 8 + 16 + 32 + 64,
    **{f"params_{part}": 2**i for i, part in enumerate(parts)},
)
# of 8 experts a token uses 2: six of 9 weights stay idle in each of 3 layers
by_hand("PARAM-ACTIVE", 1000 - 3 * 6 * 9, **experts, top_k=2, params_total=1000)
# one of each layer kind, matrices n and vectors 1; 8 experts of 7 + 2; router 88, shared 11 + 1;
# five norms of 3, two projections of 3 x 3, mixing of 2 streams (2 x 59 + 15); twice; 4 norms once
mtp_mixers = (100 + 1) + (102 + 1) + (103 + 1) + (104 + 1) + (105 + 1)
mtp_mlp = (20 + 1) + (8 * (7 + 2) + 88 + 11 + 1)
mtp_streams = 2 * (8 * 6 + 8 + 3) + (6 * 2 + 2 + 1)
mtp = dict(
    mtp_modules=2,
    mtp_full_layers=1,
    mtp_local_layers=1,
    mtp_mla_layers=1,
    mtp_index_layers=1,
    mtp_csa0_layers=1,
    mtp_dense_layers=1,
    mtp_moe_layers=1,
    mtp_norms=3,
    mtp_proj=2,
    mtp_norm_layers=4,
    gqa_matrices=100,
    local_matrices=102,
    mla_matrices=103,
    index_matrices=104,
    csa0_matrices=105,
    dense_matrices=20,
    n_experts=8,
    expert_matrices=7,
    expert_vectors=2,
    router_matrices=88,
    moe_matrices=11,
    norms_per_layer=2,
    norm_vectors=1,
    hidden_size=3,
    **{f"{kind}_vectors": 1 for kind in "gqa local mla index csa0 dense moe".split()},
)
mtp_module = mtp_mixers + mtp_mlp + 5 * 3 + 2 * 9
by_hand("PARAM-MTP", 2 * (mtp_module + mtp_streams) + 4 * 3, **mtp, hyper_mult=2)
by_hand("PARAM-MTP", 2 * mtp_module + 4 * 3, **mtp)
by_hand("PARAM-COPIES", 2 * 100 * 11, mtp_copies=2, vocab_size=100, hidden_size=11)
# 3 layers of width 4, MLP 6: q, k, v, o; up and down; biases 4 x 4 and 6 + 4; two norms of 2 x 4
by_hand(
    "PARAM-VISION",
    3 * (4 * 16 + 2 * 24 + 16 + 10 + 2 * 8) + 5 + 7 + 9,
    vision_width=4,
    vision_layers=3,
    vision_mlp_width=6,
    vision_patch_params=5,
    vision_position_params=7,
    vision_other_params=9,
)

# Bytes of the weights --------------------------------------------------------------------------

# NVFP4 with 2 blocks a super-block: half a byte, 1 byte over 16 elements, 4 bytes over 32
by_hand(
    "WIDTH",
    0.5 + 1 / 16 + 4 / 32,
    element_width=0.5,
    block_overhead=1,
    block_size=16,
    super_overhead=4,
    super_size=2,
)
stored = dict(
    params_attention=10,
    params_dense=20,
    params_experts=30,
    params_embedding=40,
    params_head=50,
    params_router=60,
    params_vectors=70,
    linear_width=0.5,
    expert_byte_width=0.25,
    table_width=2,
    vector_width=4,
)
# 30 x 1/2 + 30 x 1/4 + 90 x 2 + 130 x 4
by_hand("WEIGHT-BYTES", 15 + 7.5 + 180 + 520, **stored)
by_hand("WEIGHT-WIDTH-MEAN", 3, weight_bytes=12, params_total=4)
by_hand("DEVICES", 8, tp=8, ep=4)
by_hand("DEVICES", 16, tp=8, ep=16)
# matrices and tables over 5, experts over 10, vectors on each, 6 elements that cannot be split
placed = dict(tp=5, n_devices=10, repeated_elements=6)
repeated = 6 * stored["linear_width"]
by_hand("WEIGHT-BYTES-DEVICE", 195 / 5 + 7.5 / 10 + 520 + repeated, **stored, **placed)
# 4 devices: 3/4 of 2 layers x 11 x (5 + 7 + 3) latents and of 3 index layers of 20
latents = dict(n_mla_layers=2, q_lora_rank=5, kv_lora_rank=7, qk_rope_head_dim=3)
by_hand(
    "REPEATED",
    0.75 * (2 * 11 * 15 + 3 * 20),
    **latents,
    hidden_size=11,
    n_index_layers=3,
    index_matrices=20,
    tp=4,
)
# one KV head on each of 4 devices although there are 2: half a head of 5 + 7 too many, 3 layers
kv_heads = dict(n_full_layers=3, n_kv_heads=2, head_dim=5, v_head_dim=7, value_projection=1)
kv_heads |= dict(index_matrices=20)  # no layer owns an index
by_hand("REPEATED", 3 * 0.5 * 11 * 12, **kv_heads, hidden_size=11, tp=4)
local_heads = dict(n_local_layers=3, local_kv_heads=2, local_head_dim=5, local_v_head_dim=7)
local_heads |= dict(index_matrices=20)
by_hand(
    "REPEATED", 3 * 0.5 * 11 * 12, **local_heads, local_value_projection=1, hidden_size=11, tp=4
)
# V4: 3/4 of (1 + 2 + 3) layers x 11 x (5 + 7)
v4 = dict(n_csa0_layers=1, n_csa4_layers=2, n_csa128_layers=3, csa_q_rank=5, csa_head_dim=7)
v4 |= dict(index_matrices=20)
by_hand("REPEATED", 0.75 * 6 * 11 * 12, **v4, hidden_size=11, tp=4)

# Cache and state -------------------------------------------------------------------------------

# GQA: 2 layers x 3 heads x (5 + 7); MLA: 4 layers x (8 + 2); index keys: 3 layers x 6 and 2 x 4;
# V4: one entry of 12 and one index key of 4 per 4 tokens, one entry per 128
cache = dict(
    n_full_layers=2,
    head_dim=5,
    v_head_dim=7,
    n_mla_layers=4,
    kv_lora_rank=8,
    qk_rope_head_dim=2,
    n_index_layers=3,
    index_dim=6,
    n_indexed_layers=2,
    block_index_dim=4,
    n_csa4_layers=5,
    csa_head_dim=12,
    csa_index_dim=4,
    n_csa128_layers=32,
)
shared_by_heads = 4 * 10 + 3 * 6 + 2 * 4 + 5 * (12 + 4) / 4 + 32 * 12 / 128
by_hand("KV-GROWING", 2 * 3 * 12 + shared_by_heads, **cache, n_kv_heads=3)
# 3 heads on 2 devices: two of them on the fuller one; on 8 devices: one
by_hand("KV-DEVICE-GROWING", 2 * 2 * 12 + shared_by_heads, **cache, n_kv_heads=3, tp=2)
by_hand("KV-DEVICE-GROWING", 2 * 1 * 12 + shared_by_heads, **cache, n_kv_heads=3, tp=8)
near = dict(n_local_layers=2, local_kv_heads=3, local_head_dim=5, local_v_head_dim=7)
by_hand("KV-LOCAL", 2 * 3 * 12, **near)
by_hand("KV-DEVICE-LOCAL", 2 * 2 * 12, **near, tp=2)
by_hand(
    "KV-CSA", (1 + 2 + 3) * 12, n_csa0_layers=1, n_csa4_layers=2, n_csa128_layers=3, csa_head_dim=12
)
# DeepSeek-V3: 61 layers x (512 + 64) x 2 B = 70,272 B
by_hand("KV-BYTES-PER-TOKEN", 70272, kv_growing=61 * 576, kv_width=2)
held = dict(isl=6, osl=4, kv_csa=7, kv_width=2, state_elements=8, state_width=4)
# 10 tokens; 4 of them in the window, 3 in that of V4
windows = dict(window=4, csa_window=3)
by_hand(
    "KV-BYTES", (3 * 10 + 5 * 4 + 7 * 3) * 2 + 8 * 4, kv_growing=3, kv_local=5, **held, **windows
)
# a window longer than the context holds the context
by_hand(
    "KV-BYTES",
    (3 * 10 + 5 * 10 + 7 * 10) * 2 + 8 * 4,
    kv_growing=3,
    kv_local=5,
    **held,
    window=64,
    csa_window=64,
)
by_hand(
    "KV-BYTES-DEVICE",
    (3 * 10 + 5 * 4 + 7 * 3) * 2 + 8 * 4 / 2,
    kv_device_growing=3,
    kv_device_local=5,
    tp=2,
    **held,
    **windows,
)
by_hand("KV-MHA", 2 * 4 * 11, n_layers=4, hidden_size=11)
by_hand("KV-OVERSTATEMENT", 8, mha_kv_growing=64, kv_growing=8)

# Arithmetic ------------------------------------------------------------------------------------

by_hand(
    "MATRICES-PER-TOKEN",
    10 + 20 + 3 + 5 * 2 * 7,
    params_attention=10,
    params_dense=20,
    params_router=3,
    n_moe_layers=5,
    top_k=2,
    expert_matrices=7,
)
by_hand("FLOP-LINEAR", 2 * (10 + 20 + 3), params_attention=10, params_dense=20, params_router=3)
by_hand("FLOP-EXPERTS", 2 * (5 * 2 * 7), n_moe_layers=5, top_k=2, expert_matrices=7)
by_hand("HEAD-ELEMENTS", 1100, vocab_size=100, hidden_size=11)
by_hand("FLOP-HEAD", 2 * 1100, head_elements=1100)
by_hand("CONTEXT", 100 + 25, isl=100, osl=50)
for id, least in {"ATTENDED-WINDOW": "window", "ATTENDED-CSA": "csa_window"}.items():
    by_hand(id, 60, context=125, **{least: 60})
    by_hand(id, 125, context=125, **{least: 600})
for id, most in {"ATTENDED-MLA": "index_topk", "ATTENDED-BLOCK": "block_index_topk"}.items():
    by_hand(id, 125, context=125)  # no index: everything
    by_hand(id, 60, context=125, **{most: 60})
    by_hand(id, 125, context=125, **{most: 600})
by_hand("ATTENDED-CSA-4", 25, context=100, csa_topk=64)
by_hand("ATTENDED-CSA-4", 16, context=100, csa_topk=16)
# tokens 1 + 2 + 3 + 4 + 5 over 5
by_hand("MEAN-FULL", 15 / 5, isl=5)
# at most 2: 1 + 2 + 2 + 2 + 2 over 5
for id, least in {"MEAN-WINDOW": "window", "MEAN-CSA": "csa_window"}.items():
    by_hand(id, 9 / 5, isl=5, **{least: 2})
    by_hand(id, 15 / 5, isl=5, **{least: 9})
for id, most in {"MEAN-MLA": "index_topk", "MEAN-BLOCK": "block_index_topk"}.items():
    by_hand(id, 9 / 5, isl=5, mean_full=3, **{most: 2})
    by_hand(id, 15 / 5, isl=5, mean_full=99, **{most: 9})  # the index sees everything
    by_hand(id, 3, isl=5, mean_full=3)
# one entry of 4 tokens at most, of 5: (1 + 2 + 3 + 4 + 4) / 5 tokens, over 4
by_hand("MEAN-CSA-4", 14 / 5 / 4, isl=5, csa_topk=1)
by_hand("MEAN-CSA-4", 15 / 5 / 4, isl=5, csa_topk=2)

# Multiply-adds of 3 query heads: scores and values of 5 + 7 in 2 plain and 2 indexed layers (whose
# 3 index heads of 4 meet all), local of 6 + 8, MLA, its index, V4 with 2 x 12 in each of 9 layers.
heads = dict(
    n_heads=3,
    n_full_layers=4,
    n_indexed_layers=2,
    head_dim=5,
    v_head_dim=7,
    block_index_heads=3,
    block_index_dim=4,
    n_local_layers=2,
    local_head_dim=6,
    local_v_head_dim=8,
    n_mla_layers=4,
    qk_rope_head_dim=2,
    n_index_layers=3,
    index_heads=5,
    index_dim=6,
    n_csa0_layers=1,
    n_csa4_layers=5,
    n_csa128_layers=3,
    csa_head_dim=12,
    csa_index_heads=7,
    csa_index_dim=4,
)
# decode at 256 tokens: MLA meets the latent of 8 with its rotary key of 2, and the latent again
by_hand(
    "FLOP-CORE-DECODE",
    2
    * (
        2 * 3 * 12 * 256
        + 2 * (3 * 12 * 50 + 3 * 4 * 256)
        + 2 * 3 * 14 * 60
        + 4 * 3 * (8 + 2 + 8) * 70
        + 3 * 5 * 6 * 256
        + 9 * 3 * 24 * 30
        + 5 * (3 * 24 * 40 + 7 * 4 * 256 / 4)
        + 3 * 3 * 24 * 256 / 128
    ),
    **heads,
    kv_lora_rank=8,
    context=256,
    attended_block=50,
    attended_window=60,
    attended_mla=70,
    attended_csa=30,
    attended_csa4=40,
)
# prefill at a mean of 256: MLA meets keys of 9 + 2 and values of 10
by_hand(
    "FLOP-CORE-PREFILL",
    2
    * (
        2 * 3 * 12 * 256
        + 2 * (3 * 12 * 50 + 3 * 4 * 256)
        + 2 * 3 * 14 * 60
        + 4 * 3 * (9 + 2 + 10) * 70
        + 3 * 5 * 6 * 256
        + 9 * 3 * 24 * 30
        + 5 * (3 * 24 * 40 + 7 * 4 * 256 / 4)
        + 3 * 3 * 24 * 256 / 128
    ),
    **heads,
    qk_nope_head_dim=9,
    mla_v_head_dim=10,
    mean_full=256,
    mean_block=50,
    mean_window=60,
    mean_mla=70,
    mean_csa=30,
    mean_csa4=40,
)
flop = dict(flop_linear=1, flop_experts=2, flop_state=4)
by_hand("FLOP-DECODE", 1 + 2 + 4 + 8 + 16, **flop, flop_core_decode=8, flop_head=16)
by_hand("FLOP-PREFILL", 1 + 2 + 4 + 8, **flop, flop_core_prefill=8)

# Traffic ---------------------------------------------------------------------------------------

# each of 4 experts is missed by one token with probability 1/2, by three with 1/8
by_hand("EXPERTS-DECODE", 4 * (1 - 1 / 8), n_experts=4, top_k=2, batch=3)
by_hand("EXPERTS-DECODE", 0, batch=3)
by_hand("EXPERTS-PREFILL", 4 * (1 - 1 / 2**6), n_experts=4, top_k=2, batch=3, isl=2)
by_hand("EXPERTS-PREFILL", 0, batch=3, isl=2)
# 9 sequences over 4 groups of 2 devices: three in the fullest
by_hand("GROUP-BATCH", 3, batch=9, tp=2, n_devices=8)
by_hand(
    "READ-DENSE",
    ((10 + 20) * 0.5 + 40 * 2) / 5 + 8 * 0.5 + (6 + 7) * 4,
    repeated_elements=8,
    params_attention=10,
    params_dense=20,
    head_elements=40,
    params_router=6,
    params_vectors=7,
    linear_width=0.5,
    table_width=2,
    vector_width=4,
    tp=5,
)
by_hand(
    "EXPERT-BYTES-DEVICE", 30 * 0.25 / 5, params_experts=30, expert_byte_width=0.25, n_devices=5
)
# elements read: local 11 each of 60; 2 plain layers, 2 of 3 KV heads of 12; two indexed the same
# and their keys; latents of what is attended to; index keys of all; V4 windows, entries, index keys
kv_read = (
    11 * 60
    + 2 * 2 * 12 * 256
    + 2 * (2 * 12 * 50 + 4 * 256)
    + 4 * (8 + 2) * 70
    + 3 * 6 * 256
    + 9 * 12 * 30
    + 5 * (12 * 40 + 4 * 256 / 4)
    + 3 * 12 * 256 / 128
)
by_hand(
    "READ-KV",
    kv_read * 2 + 2 * 16 * 4 / 2,  # 2 bytes; state of 16 x 4 bytes on 2 devices, read and written
    n_full_layers=4,
    n_indexed_layers=2,
    n_kv_heads=3,
    head_dim=5,
    v_head_dim=7,
    block_index_dim=4,
    kv_device_local=11,
    n_mla_layers=4,
    kv_lora_rank=8,
    qk_rope_head_dim=2,
    n_index_layers=3,
    index_dim=6,
    n_csa0_layers=1,
    n_csa4_layers=5,
    n_csa128_layers=3,
    csa_head_dim=12,
    csa_index_dim=4,
    context=256,
    attended_block=50,
    attended_window=60,
    attended_mla=70,
    attended_csa=30,
    attended_csa4=40,
    kv_width=2,
    state_elements=16,
    state_width=4,
    tp=2,
)
# fixed 100; 3 of 4 experts of 80 in all; 5 sequences read 30 and write (3 + 4) x 2
step = dict(
    dense_read_device=100, group_batch=5, kv_device_growing=3, kv_device_local=4, kv_width=2
)
drawn = dict(expert_bytes_layer_device=80, n_experts=4)
by_hand(
    "BYTES-DECODE", 100 + 60 + 5 * (30 + 14), **step, **drawn, experts_decode=3, kv_read_device=30
)
by_hand(
    "BYTES-DECODE",
    100 + 5 * (30 + 14),
    **step,
    expert_bytes_layer_device=0,
    experts_decode=0,
    kv_read_device=30,
)
# each of 6 prompt tokens is written
by_hand("BYTES-PREFILL", 100 + 60 + 5 * 6 * 14, **step, **drawn, experts_prefill=3, isl=6)
# 3 sequences in a group of 2 devices; 12 in all, their experts over 8
work = dict(
    flop_linear=10, flop_state=20, flop_head=40, flop_experts=80, group_batch=3, batch=12, tp=2
)
work |= dict(repeated_elements=5)  # 10 FLOP more for each of a group's tokens
by_hand(
    "FLOP-DECODE-DEVICE",
    3 * (10 + 20 + 30 + 40) / 2 + 3 * 10 + 12 * 80 / 8,
    **work,
    flop_core_decode=30,
    n_devices=8,
)
# 6 prompt tokens; the head scores one position of each
by_hand(
    "FLOP-PREFILL-DEVICE",
    3 * (6 * (10 + 20 + 30) + 40) / 2 + 3 * 6 * 10 + 12 * 6 * 80 / 8,
    **work,
    flop_core_prefill=30,
    isl=6,
    n_devices=8,
)
by_hand("INTENSITY", 4, decode_flop_device=12, decode_bytes_device=3)

# Communication ---------------------------------------------------------------------------------

by_hand("MESSAGE-DECODE", 5 * 11 * 2, group_batch=5, hidden_size=11, reduce_width=2)
by_hand("MESSAGE-PREFILL", 6 * 5 * 11 * 2, isl=6, group_batch=5, hidden_size=11, reduce_width=2)
mixing_layers = {k: v for k, v in layers.items() if k not in ("n_indexed_layers", "n_index_layers")}
one_each = 2 + 5 + 7 + 13 + 17 + 19 + 23 + 29 + 31 + 37
mlps = dict(n_dense_layers=41, n_moe_layers=43)
# the experts of a tensor-parallel group are summed too, unless groups hold different tokens
by_hand("ALLREDUCES", one_each + 41 + 43, **mixing_layers, **mlps, tp=8, n_devices=8)
by_hand("ALLREDUCES", one_each + 41, **mixing_layers, **mlps, tp=8, n_devices=16)
by_hand("EXCHANGES", 0, n_moe_layers=43, tp=8, n_devices=8)
by_hand("EXCHANGES", 43 + 43, n_moe_layers=43, tp=8, n_devices=16)
link = dict(link_latency=0.5, link_bandwidth=10, allreduces=7, exchanges=5, top_k=2)
link |= dict(activation_width=1, reduce_width=2)
for phase in ("decode", "prefill"):
    id, sent = f"COMM-{phase.upper()}", {f"message_{phase}": 80}
    by_hand(id, 0, **link, **sent, tp=1, n_devices=1)
    # ring of 4: 3 steps to reduce and 3 to gather, each half a second and 80/4 bytes at 10 B/s
    ring = 7 * 6 * (0.5 + 20 / 10)
    by_hand(id, ring, **link, **sent, tp=4, n_devices=4)
    # two experts sit on 8 x (1 - (7/8)^2) = 15/8 of 8 devices, 7 of 8 of them others; 80/4 bytes
    # there in one byte an element, back in two
    exchange = 5 * (0.5 + 20 * 15 / 8 * 0.75 * 7 / 8 / 10)
    by_hand(id, ring + exchange, **link, **sent, tp=4, n_devices=8)

# Latency ---------------------------------------------------------------------------------------

by_hand("RIDGE", 206, peak_linear=412, hbm_bandwidth=2)
peaks = dict(peak_linear=5, peak_native=10, peak_expert=4)
# 3/2 of (10/5 + (30 + 20 + 40)/10), 3 x 10/5 repeated, and 12 x 80 FLOP over 8 devices of 4
by_hand(
    "TIME-MATH-DECODE",
    1.5 * (2 + 9) + 6 + 960 / 32,
    **work,
    **peaks,
    flop_core_decode=30,
    n_devices=8,
    n_experts=4,
)
# no experts: no rate for them is needed
by_hand(
    "TIME-MATH-DECODE",
    1.5 * (2 + 9) + 6,
    **work,
    **peaks,
    flop_core_decode=30,
    n_devices=8,
    n_experts=0,
)
by_hand("TIME-MEMORY-DECODE", 4, decode_bytes_device=12, hbm_bandwidth=3)
# 6 prompt tokens: 3/2 of (60/5 + (6 x 50 + 40)/10), and 6 x 960 FLOP over 8 devices of 4
by_hand(
    "TIME-MATH-PREFILL",
    1.5 * (12 + 34) + 36 + 5760 / 32,
    **work,
    **peaks,
    flop_core_prefill=30,
    isl=6,
    n_devices=8,
    n_experts=4,
)
by_hand(
    "TIME-MATH-PREFILL",
    1.5 * (12 + 34) + 36,
    **work,
    **peaks,
    flop_core_prefill=30,
    isl=6,
    n_devices=8,
    n_experts=0,
)
by_hand("TIME-MEMORY-PREFILL", 4, prefill_bytes_device=12, hbm_bandwidth=3)
by_hand("ITL", 7 + 2, t_math_decode=3, t_memory_decode=7, t_comm_decode=2)
by_hand("ITL", 8 + 2, t_math_decode=8, t_memory_decode=7, t_comm_decode=2)
by_hand("TTFT", 7 + 2, t_math_prefill=3, t_memory_prefill=7, t_comm_prefill=2)
by_hand("TTFT", 8 + 2, t_math_prefill=8, t_memory_prefill=7, t_comm_prefill=2)
by_hand("E2E", 5 + 9 * 2, ttft=5, osl=10, itl=2)  # the first token comes with the prefill
by_hand("THROUGHPUT", 4 * 10 / 20, batch=4, osl=10, e2e=20)
by_hand("THROUGHPUT-DEVICE", 3, throughput=24, n_devices=8)
by_hand("THROUGHPUT-DECODE", 4 / 0.5, batch=4, itl=0.5)
by_hand("INTERACTIVITY", 1 / 0.5, itl=0.5)
# 1 byte a weight: 12 / 3 = 4 FLOP a byte at the ridge, 2 FLOP a weight and sequence
by_hand("RIDGE-BATCH", 2, peak_linear=12, hbm_bandwidth=3, linear_width=1)

# Memory ----------------------------------------------------------------------------------------

by_hand("MEMORY-AVAILABLE", 72, memory_fraction=0.9, memory_capacity=80)
by_hand("MEMORY-NEEDED", 40 + 3 * 7, weight_bytes_device=40, group_batch=3, kv_bytes_device=7)
room = dict(memory_available=72, kv_bytes_device=7, tp=2, n_devices=8)
by_hand("BATCH-LARGEST", 4 * 4, **room, weight_bytes_device=40)  # 32 / 7: four in each of 4 groups
by_hand("BATCH-LARGEST", 0, **room, weight_bytes_device=73)  # not even the weights fit

# Energy, carbon, cost --------------------------------------------------------------------------

# 8 devices for 20 s make 4 x 10 tokens
by_hand("DEVICE-TIME", 8 * 20 / 40, n_devices=8, e2e=20, batch=4, osl=10)
# 4 sequences on 2 devices: 2 x (10 FLOP x 3 J + (20 + 1 + 2) FLOP x 5 J); 6 experts' FLOP at 7 J
per_flop = dict(energy_linear=3, energy_expert=7, energy_native=5, group_batch=4, tp=2, batch=4)
per_flop |= dict(repeated_elements=5)  # 4 x 10 FLOP x 3 J a token of each sequence
step = dict(flop_linear=10, flop_core_decode=20, flop_state=1, flop_head=2, flop_experts=6)
by_hand(
    "ENERGY-MATH-DECODE",
    2 * (30 + 115) + 120 + 4 * 6 * 7 / 8,
    **per_flop,
    **step,
    n_experts=8,
    n_devices=8,
)
by_hand("ENERGY-MATH-DECODE", 2 * (30 + 115) + 120, **per_flop, **step, n_experts=0, n_devices=8)
# the same for prompts of 3 tokens; the head scores one position
fill = dict(flop_linear=10, flop_core_prefill=20, flop_state=1, flop_head=2, flop_experts=6, isl=3)
by_hand(
    "ENERGY-MATH-PREFILL",
    2 * (3 * 30 + (3 * 21 + 2) * 5) + 360 + 4 * 3 * 6 * 7 / 8,
    **per_flop,
    **fill,
    n_experts=8,
    n_devices=8,
)
by_hand(
    "ENERGY-MATH-PREFILL",
    2 * (3 * 30 + (3 * 21 + 2) * 5) + 360,
    **per_flop,
    **fill,
    n_experts=0,
    n_devices=8,
)
joules = dict(idle_draw=3, energy_per_byte=7, n_devices=2)
# 2 devices: 3 W for 11 s, 65 J of arithmetic, 17 bytes at 7 J
by_hand(
    "ENERGY-PREFILL",
    2 * (33 + 65 + 119),
    **joules,
    ttft=11,
    arithmetic_prefill=65,
    prefill_bytes_device=17,
)
by_hand(
    "ENERGY-STEP",
    2 * (33 + 65 + 119),
    **joules,
    itl=11,
    arithmetic_decode=65,
    decode_bytes_device=17,
)
# one prefill of 100 J and 9 steps of 4 J make 2 x 10 tokens
by_hand("ENERGY-TOKEN", (100 + 9 * 4) / 20, energy_prefill=100, energy_step=4, batch=2, osl=10)
by_hand("ENERGY-LIMIT", 700 * 4, board_power=700, device_time=4)
by_hand("CARBON-TOKEN", 10 * 1.5 * 4, energy_per_token=10, pue=1.5, grid_intensity=4)
by_hand("CARBON-LIMIT", 10 * 1.5 * 4, energy_at_limit=10, pue=1.5, grid_intensity=4)
by_hand("COST-TOKEN", 3 * 4, price=3, device_time=4)
# 8 devices at 3 USD/s for 5 s read 4 x 6 tokens
by_hand("COST-INPUT-TOKEN", 8 * 3 * 5 / 24, n_devices=8, price=3, ttft=5, batch=4, isl=6)

# Collectives one by one -------------------------------------------------------------------------

# 8 devices, 2 s of latency, 48 B at 3 B/s
seam = dict(link_latency=2, link_bandwidth=3, message=48)
by_hand("P2P", 2 + 48 / 3, **seam)
by_hand("ALL-GATHER", 7 * (2 + 6 / 3), **seam, tp=8)  # seven steps of an eighth each
by_hand("RING", 14 * (2 + 6 / 3), **seam, tp=8)
by_hand("TREE-DEPTH", 3, tp=8)
by_hand("TREE-DEPTH", 3, tp=5)
by_hand("TREE", 6 * (2 + 48 / 3), link_latency=2, link_bandwidth=3, message=48, tree_depth=3)
# 14 (2 + q / 24) = 6 (2 + q / 3): 16 = 2 q - 14 q / 24 = 34 q / 24
by_hand("TREE-MESSAGE", 16 * 24 / 34, link_latency=2, link_bandwidth=3, tp=8, tree_depth=3)

# Small parts of the arithmetic ------------------------------------------------------------------

# 3 FLOP an element: 2 layers of (3 + 2) heads of 5, 3 of (3 + 1) of 7, 4 of (3 + 1) of 11
by_hand(
    "FLOP-ROPE",
    3 * (2 * 5 * 5 + 3 * 4 * 7 + 4 * 4 * 11),
    n_heads=3,
    n_full_layers=2,
    n_kv_heads=2,
    head_dim=5,
    n_local_layers=3,
    local_kv_heads=1,
    local_head_dim=7,
    n_mla_layers=4,
    qk_rope_head_dim=11,
)
# RMS norm: square, sum, two scales on 11 elements; 3 layers of 2, the last one, the embedding's
norms = dict(hidden_size=11, n_layers=3, norms_per_layer=2)
by_hand("FLOP-NORM", 4 * 11 * (6 + 1 + 1), **norms, norm_vectors=1, embedding_norm=1)
by_hand("FLOP-NORM", 7 * 11 * (6 + 1), **norms, norm_vectors=2, embedding_norm=0)  # layer norm
# 3 heads: 5 FLOP for each of 4 x 100 + 1 x 20 + 2 x 30 + 3 x 40 tokens attended to
by_hand(
    "FLOP-SOFTMAX",
    5 * 3 * (400 + 20 + 60 + 120),
    n_heads=3,
    n_full_layers=5,
    n_indexed_layers=1,
    n_local_layers=2,
    n_mla_layers=3,
    context=100,
    attended_block=20,
    attended_window=30,
    attended_mla=40,
)
by_hand("ROPE-SHARE", 3 / 24, flop_rope=3, flop_decode=24)
by_hand("SMALL-SHARE", 12 / 24, flop_rope=3, flop_norm=4, flop_softmax=5, flop_decode=24)
# DeepSeek-V3 by the third document: 61 x (3 x 7168^2 + 4 x 7168 x 18432) + 129280 x 7168, twice
doc3 = dict(n_layers=61, hidden_size=7168)
by_hand("DOC3-BASE", 85_133_361_152, **doc3, dense_width=18432, vocab_size=129280)
# 61 layers of 8 experts, one matrix of 7168 x 2048 each, twice
by_hand("DOC3-MOE", 61 * 8 * 29_360_128, **doc3, top_k=8, expert_width=2048)
by_hand("DOC3-FLOP", 85 + 14, doc3_base=85, doc3_moe=14)
# 3 heads, latent 8, widths 5 + 2 and 4; 2 tokens attend to 10
attend = dict(n_heads=3, kv_lora_rank=8, qk_nope_head_dim=5, mla_v_head_dim=4, query_tokens=2)
# 2 FLOP: each of 2 tokens folds 8 x 9 a head, then meets 8 + 2 + 8 elements of 10 tokens
by_hand("MLA-ABSORBED", 2 * 3 * 2 * (72 + 18 * 10), **attend, qk_rope_head_dim=2, context=10)
# 2 FLOP: 10 tokens unfold 8 x 9 a head, and 2 tokens meet 5 + 2 + 4 elements of each
by_hand("MLA-UNFOLDED", 2 * 3 * (10 * 72 + 2 * 11 * 10), **attend, qk_rope_head_dim=2, context=10)
# DeepSeek-V3: 512 x 256 = 131072 a token unfolded, 1088 - 320 = 768 a pair dearer
v3_heads = dict(kv_lora_rank=512, qk_nope_head_dim=128, mla_v_head_dim=128)
by_hand("MLA-CONTEXT", 131072 / (131072 - 768), **v3_heads, query_tokens=1)
by_hand("MLA-CONTEXT", 100 * 131072 / (131072 - 76800), **v3_heads, query_tokens=100)
by_hand("MLA-CHUNK", 131072 / 768, **v3_heads)

# Service under load -----------------------------------------------------------------------------

by_hand("LITTLE", 3 * 4, arrival_rate=3, residence=4)
by_hand("UTILISATION", 0.25 * 3, arrival_rate=0.25, service_time=3)
# three quarters busy: 3 s x 3 waits with exponential times, half with equal ones
queue = dict(utilisation=0.75, service_time=3)
by_hand("WAIT-MG1", 9 * (1 + 5) / 2, **queue, service_variation=5)
by_hand("WAIT-MM1", 9, **queue)
by_hand("WAIT-MD1", 4.5, **queue)
by_hand("WAIT-TAIL", 0.75 * math.exp(-1), **queue, wait_bound=12)  # 12 s of a mean of 12 s
by_hand("TTFT-LOADED", 3 + 9, service_time=3, wait=9)
# equal times, twice the prefill promised: 3 / (3 + 3 / 2)
by_hand("UTILISATION-SLO", 2 / 3, ttft_limit=6, service_time=3, service_variation=0)
by_hand("UTILISATION-SLO", 1 / 2, ttft_limit=6, service_time=3, service_variation=1)
by_hand("SLO-MISS", math.exp(-2), **queue, ttft_limit=24)  # 24 s of a mean of 12 s
by_hand("GOODPUT", 10 * 0.75, arrival_rate=10, slo_miss=0.25)
by_hand("ITL-FLOOR", 12 / 3, dense_read_device=12, hbm_bandwidth=3)
# 30 B read, (5 + 4) elements of 2 B written, 3 B/s
cached = dict(kv_device_growing=5, kv_device_local=4, kv_width=2)
by_hand("ITL-SLOPE", (30 + 18) / 3, **cached, kv_read_device=30, hbm_bandwidth=3)
by_hand("TOKEN-RATE", 3 * 100, arrival_rate=3, osl=100)
# floor 2 s, 1/4 s a sequence, 3 tok/s: b = 3 (2 + (b + 1) / 4), so b = 27, and a step takes 9 s
line = dict(itl_floor=2, itl_slope=0.25)
by_hand("BATCH-LOADED", 27, **line, token_rate=3)
by_hand("ITL-LOADED", 9, **line, token_rate=3)
by_hand("BATCH-SLO", 24, **line, itl_limit=8)
by_hand("THROUGHPUT-SLO", 3, batch_slo=24, itl_limit=8)

# Speculation and split phases -------------------------------------------------------------------

by_hand("SPEC-TOKENS", 1 + 0.5 + 0.25 + 0.125, acceptance=0.5, draft_tokens=3)
by_hand("SPEC-VERIFY", 1, batch=2, draft_tokens=3, ridge_batch=10)  # 8 of 10: memory-bound
by_hand("SPEC-VERIFY", 20 / 10, batch=5, draft_tokens=3, ridge_batch=10)
by_hand("SPEC-VERIFY", 4, batch=20, draft_tokens=3, ridge_batch=10)  # both compute-bound
spec = dict(verify_cost=1.25, draft_cost=0.25)
by_hand("SPEC-SPEEDUP", 3 / 2, **spec, tokens_per_step=3, draft_tokens=3)
by_hand("SPEC-EVEN", 0.5, **spec)  # half a step more for one draft: half of them must be right
by_hand("SPEC-RIDGE", 200 / 4, ridge_batch=200, draft_tokens=3)
# 3 tokens a step, of which three drafts take 0.75: 2.25 of 4 tokens' arithmetic
by_hand(
    "SPEC-BATCH",
    200 * 2.25 / 4,
    ridge_batch=200,
    draft_tokens=3,
    tokens_per_step=3,
    draft_cost=0.25,
)
by_hand("PREFILL-REQUEST", 6 / 4, ttft=6, batch=4)
by_hand("DECODE-REQUEST", 99 * 2 / 4, osl=100, itl=2, batch=4)
by_hand("WORKER-RATIO", 1.5 / 6, prefill_request=1.5, decode_request=6)
# OPT-66B: 64 layers, keys and values of 9216, two bytes; 512 tokens: 1.125 x 2^30 B at 1 GiB/s
by_hand(
    "KV-TRANSFER",
    1.125,
    isl=512,
    kv_bytes_per_token=64 * 2 * 9216 * 2,
    transfer_bandwidth=2**30,
)
by_hand("PREFILL-SHARE", 0.25 * 1.5, arrival_rate=0.25, prefill_request=1.5)
by_hand("ITL-SHARED", 3 / 0.75, itl=3, prefill_share=0.25)
# 99 steps of 2 s grow by 1 / (1 - 1/100): by 2 s, as long as the transfer
by_hand("SPLIT-EVEN", 1 / 100, kv_transfer=2, osl=100, itl=2)

# Quantisation -----------------------------------------------------------------------------------

# 12 B of weights and 4 B of caches; a quarter: 3 + 4
step = dict(step_weights=12, step_caches=4)
by_hand("QUANT-DECODE", 16 / 7, **step, width_ratio=0.25)
by_hand("QUANT-LIMIT", 4, **step)
by_hand("QUANT-BOTH", 16 / 5, **step, width_ratio=0.25, cache_ratio=0.5)
by_hand("QUANT-PREFILL", 1 / (0.4 + 0.2), math_share=0.8, peak_ratio=2)
by_hand("QUANT-SIZE", 0.2 + 0.2, quantised_share=0.8, width_ratio=0.25)

# At the edge ------------------------------------------------------------------------------------

# 7 B for every token, and 2 of 8 experts of 40 B together
experts = dict(dense_read_device=7, expert_bytes_layer_device=40, top_k=2)
by_hand("EDGE-READ", 7 + 40 / 4, **experts, n_experts=8)
by_hand("EDGE-READ", 7, **experts, n_experts=0)
by_hand("EDGE-RATE", 60 / 4, hbm_bandwidth=60, token_weights=4)
by_hand("EDGE-PARAMS", 60 / 15 / 0.5, hbm_bandwidth=60, rate_wanted=15, format_width=0.5)
by_hand("EDGE-CONTEXT", 1000, token_weights=4000, kv_bytes_per_token=4)
by_hand("LOAD-TIME", 4 / 2, weight_bytes=4, storage_bandwidth=2)
by_hand("TOKENS-ENERGY", 15 / 3, edge_rate=15, edge_power=3)
by_hand("BATTERY-TIME", 60 / 3, battery_energy=60, edge_power=3)
by_hand("BATTERY-TOKENS", 60 * 5, battery_energy=60, tokens_per_energy=5)


# Pages of the cache ----------------------------------------------------------------------------

# 33 tokens in pages of 16: three pages of 16 x 5 B
by_hand("PAGE-BYTES", 240, context=33, page_tokens=16, kv_bytes_per_token=5)
# 0, 1, ... 15 places free, each as likely
by_hand("PAGE-WASTE", 7.5, page_tokens=16)
by_hand("PAGE-SHARE", 7.5 / 40, context=32.5, page_waste=7.5)

# Spread of routing -----------------------------------------------------------------------------

# 2 of 8 drawn by each of 3 tokens: missed with 6/8; then the other with 5/7
by_hand("IDLE-ONE", 0.75**3, top_k=2, n_experts=8, batch=3)
by_hand("IDLE-PAIR", (6 * 5 / (8 * 7)) ** 3, top_k=2, n_experts=8, batch=3)
# 1 of 2 experts, one token: always one idle, so no variance
by_hand("EXPERTS-VARIANCE", 0, n_experts=2, idle_one=0.5, idle_pair=0)
# 4 experts: 4/2 + 12/3 - 2^2
by_hand("EXPERTS-VARIANCE", 2, n_experts=4, idle_one=0.5, idle_pair=1 / 3)
by_hand("DEVICE-DRAWS", 32 * 8 / 4, batch=32, top_k=8, n_devices=4)
# 64 draws x 3/4 elsewhere x (256 - 8)/255 for not putting back
by_hand("DEVICE-VARIANCE", 48 * 248 / 255, device_draws=64, n_devices=4, n_experts=256, top_k=8)
by_hand("FULLEST-SPREAD", 64 + 12, device_draws=64, device_variance=48, n_devices=4)
e2 = math.exp(2)  # log n = 2
by_hand("FULLEST-TAIL", 64 + 16 + 2 / 3, device_draws=64, n_devices=e2)
by_hand("IMBALANCE", 76 / 64, fullest_spread=76, fullest_tail=80, device_draws=64)
by_hand("IMBALANCE", 70 / 64, fullest_spread=76, fullest_tail=70, device_draws=64)

# One request to its first token ----------------------------------------------------------------

# three quarters of 1000 tokens are new: 750 over 512 is two passes
by_hand("CHUNKS", 2, cached_share=0.25, isl=1000, chunk_tokens=512)
# half is cached: 500 x (2 + 3 + 4), three quarters of the triangle 1000 x 8, head 7
by_hand(
    "FLOP-UNCACHED",
    4500 + 6000 + 7,
    cached_share=0.5,
    isl=1000,
    flop_linear=2,
    flop_experts=3,
    flop_state=4,
    flop_core_prefill=8,
    flop_head=7,
)
by_hand("TIME-MATH-UNCACHED", 12 / 4, uncached_flop=12, peak_linear=4)
by_hand("TIME-MEMORY-UNCACHED", 2 * 12 / 3, chunks=2, dense_read_device=12, hbm_bandwidth=3)
path = dict(wait=1, tokenise_time=2, chunks=3, chunk_pause=5, network_time=4)
by_hand("TTFT-REQUEST", 1 + 2 + 9 + 2 * 5 + 4, **path, uncached_math=9, uncached_memory=6)
by_hand("TTFT-REQUEST", 1 + 2 + 9 + 2 * 5 + 4, **path, uncached_math=6, uncached_memory=9)
by_hand("TTFT-REQUEST-SUM", 1 + 2 + 15 + 10 + 4, **path, uncached_math=9, uncached_memory=6)
by_hand("ITL-SUM", 3 + 5 + 1, t_math_decode=3, t_memory_decode=5, t_comm_decode=1)
by_hand("OVERLAP-GAP", 9 / 6, itl_upper=9, itl=6)

# Carbon and water ------------------------------------------------------------------------------

by_hand("CARBON-MARGINAL", 2 * 1.5 * 7, energy_per_token=2, pue=1.5, grid_marginal=7)
# twice as much energy in the dirty hour of two, 30 J at 2 g/J and 10 J at 1 g/J, PUE 2: 2 x 70;
# means 20 J and 1.5 g/J, deviations 10/20 and 0.5/1.5, correlation 1
by_hand(
    "CARBON-HOURS",
    2 * (30 * 2 + 10 * 1),
    pue=2,
    hours_energy=40,
    grid_intensity=1.5,
    hour_correlation=1,
    energy_variation=1 / 2,
    grid_variation=1 / 3,
)
by_hand("EMBODIED-RATE", 150 / 50, embodied_carbon=150, lifetime=50)
by_hand("EMBODIED-TOKEN", 3 * 4 / 0.5, embodied_rate=3, device_time=4, busy_share=0.5)
by_hand("EMBODIED-SHARE", 1 / 4, embodied_per_token=2, carbon_per_token=6)
by_hand("WATER-TOKEN", 2 * (3 + 1.5 * 4), energy_per_token=2, wue=3, pue=1.5, grid_water=4)
# 786 g, miles of 393 g each
by_hand("CARBON-EQUIVALENT", 2, carbon_per_token=786, yardstick=393)

# Buying and renting ----------------------------------------------------------------------------

# an interruption in 10 useful seconds costs 2 s more: a fifth
by_hand("SPOT-COST", 5 * 1.2, spot_price=5, interruption_time=2, interruption_rate=0.1)
by_hand("SPOT-EVEN", (8 - 5) / (5 * 2), price=8, spot_price=5, interruption_time=2)
by_hand(
    "RENT-RATE",
    2 * 3 + 5 * 7 + 11 * 13,
    n_devices=2,
    price=3,
    memory_price=5,
    memory_rented=7,
    storage_price=11,
    storage_rented=13,
)
by_hand("RENT-TOKEN", 6 / 3, rent_rate=6, throughput=3)
by_hand("HOST-TOKEN", 3 / 0.25, cost_per_token=3, busy_share=0.25)
# four prompt tokens an answer token, a quarter of them found: 8 + 3 x 2 + 1 x 1
by_hand(
    "API-TOKEN",
    15,
    api_output=8,
    isl=4,
    osl=1,
    cached_share=0.25,
    api_input=2,
    api_cached=1,
)
by_hand("HOST-EVEN", 3 / 15, cost_per_token=3, api_per_token=15)


# Holding a device ------------------------------------------------------------------------------

by_hand("WORK-LOST", 6 / 2, residence=6)
by_hand("INTERRUPTION-TIME", 7 + 3, restart_time=7, work_lost=3)
# one interruption in 20 s held, each of 5 s: a quarter is lost
by_hand("LOST-SHARE", 0.25, preemption_rate=0.05, interruption_time=5)
# the same in the 15 s of 20 that are left
by_hand("INTERRUPTION-RATE", 1 / 15, preemption_rate=0.05, lost_share=0.25)
# 600 over 100 s is 6 a second; 0.02 of the 300 that are tied up on average is 6 more
by_hand("CAPITAL-RATE", 6 + 6, capex=600, lifetime=100, interest=0.02)
by_hand("NODE-POWER", 5 + 2, device_power=5, host_power=2)
by_hand("POWER-RATE", 3 * 1.5 * 7, electricity_price=3, pue=1.5, node_power=7)
by_hand("STAFF-RATE", 0.25 * 8, staff_share=0.25, wage=8)
by_hand("OWN-RATE", 12 + 31.5 + 2, capital_rate=12, power_rate=31.5, staff_rate=2)
resting = dict(electricity_price=3, pue=1.5, idle_draw=4)
# 3 x 1.5 for each joule a second: (4 + 2) of them at rest, 6 more at work
by_hand("OWN-FIXED", 12 + 2 + 4.5 * 6, capital_rate=12, staff_rate=2, host_power=2, **resting)
by_hand("OWN-RUNNING", 4.5 * 6, busy_power=10, **resting)
# half of the time 10 + 0.5 x 20 = 0.5 x 40
by_hand("OWN-EVEN", 0.5, fixed_rate=10, running_rate=20, price=40)

# Charging what a service takes -----------------------------------------------------------------

by_hand("SERVICE-RATE", 3 * 5, replicas=3, rent_rate=5)
by_hand("CHARGED-SHARE", 2 / 8, phase_time=2, busy_time=8)
# a quarter of 3 x 4 devices for 6 items a second
by_hand("CHARGED-TIME", 12 / 4 / 6, replicas=3, n_devices=4, charged_share=0.25, item_rate=6)
by_hand("CHARGED-COST", 20 / 4 / 5, service_rate=20, charged_share=0.25, item_rate=5)
by_hand(
    "CHARGED-ENERGY",
    (7 + 0.25 * 12) / 5,
    phase_power=7,
    charged_share=0.25,
    rest_power=12,
    item_rate=5,
)
by_hand("CHARGED-NODE", 2 + 3 * 4, charged_energy=2, host_power=3, charged_time=4)
by_hand("CHARGED-SITE", 1.5 * 14, pue=1.5, charged_node=14)
by_hand("CHARGED-CARBON", 2 * 21, grid_intensity=2, charged_site=21)
by_hand("CHARGED-EMBODIED", 5 * 4, embodied_rate=5, charged_time=4)
by_hand("CHARGED-WATER", 14 * (3 + 1.5 * 4), charged_node=14, wue=3, pue=1.5, grid_water=4)


# Caches shared and split -------------------------------------------------------------------------

by_hand("WIDTH-MIX", 0.25 * 6 + 0.75 * 4, mix_share=0.25, wide_width=6, narrow_width=4)
# 1, 2, ... 5 tokens of a chunk of 5
by_hand("CHUNK-MEAN", 15 / 5, window=5)
by_hand("STATE-CONTEXT", 8 * 4 / 2, state_elements=8, state_width=4, kv_bytes_per_token=2)
# DeepSeek-V3.2: 128 beside 512 + 64 in each layer, so 128 / 704
keys = dict(index_dim=128, kv_lora_rank=512, qk_rope_head_dim=64)
by_hand("INDEX-SHARE", 2 / 11, **keys, n_index_layers=61, n_mla_layers=61)
by_hand("INDEX-SHARE", 30 * 128 / (30 * 128 + 61 * 576), **keys, n_index_layers=30, n_mla_layers=61)
by_hand("HEAD-COPIES", 16 * 1 / 8, n_kv_heads=8, tp=16)
by_hand("HEAD-COPIES", 4 * 3 / 10, n_kv_heads=10, tp=4)  # three on each of 4: room for 12
by_hand("CACHES-TP", 9 * 7, batch=9, kv_bytes_device=7)
by_hand("CACHES-DP", 3 * 20, batch=9, n_devices=4, kv_bytes=20)  # nine over four: three on one
by_hand("DP-GAIN", 63 / 60, caches_tp=63, caches_dp=60)

# Where decode turns ------------------------------------------------------------------------------

# 12 FLOP a token at 6 FLOP/s are 2 s, in which 10 B/s move 20 B; 5 tokens of 2 B take 10 of them;
# 100 B of weights are shared by as many sequences as have 10 B left
turn = dict(flop_decode=12, peak_linear=6, hbm_bandwidth=10, kv_bytes_per_token=2)
by_hand("RIDGE-BATCH-KV", 10, **turn, dense_read_device=100, context=5)
# (8 + 4 + S) FLOP at 6 FLOP/s with 10 B/s move (12 + S) 10/6 B; 2 S B are read: S = 120 / 2
never = dict(flop_linear=8, flop_head=4, core_slope=1)
by_hand("CONTEXT-NEVER", 60, **never, peak_linear=6, hbm_bandwidth=10, kv_bytes_per_token=2)
by_hand("CONTEXT-KV", 120 / (4 * 3), step_weights=120, batch=4, kv_bytes_per_token=3)
# 12 / 3 FLOP a byte at the ridge, 1 byte and 2 FLOP a weight: a batch of 2, times 4 experts over 2
by_hand(
    "RIDGE-BATCH-EXPERTS",
    2 * 2,
    peak_expert=12,
    hbm_bandwidth=3,
    expert_byte_width=1,
    n_experts=4,
    top_k=2,
)

# Exchange of tokens, and overlap -----------------------------------------------------------------

# two experts on 8 devices: 8 - 8 (7/8)^2 = 15/8
by_hand("DEVICES-MET", 15 / 8, n_devices=8, top_k=2)
sent = dict(link_latency=2, link_bandwidth=3, n_devices=4, devices_met=1.5)
# three quarters of 1.5 copies of 48 B leave the device
by_hand("ALL-TO-ALL", 2 + 54 / 3, **sent, message=48)
# 6 tokens of 5 elements, 1 B out and 2 B back: 90 B, times 9/8
by_hand(
    "DISPATCH-COMBINE",
    4 + 90 * 9 / 8 / 3,
    **sent,
    own_tokens=6,
    hidden_size=5,
    activation_width=1,
    reduce_width=2,
)
for longest in ("math", "memory", "comm"):
    three = dict(t_math_decode=2, t_memory_decode=3, t_comm_decode=4)
    by_hand("ITL-OVERLAPPED", 9, **three | {f"t_{longest}_decode": 9})
by_hand("COMM-GAP", 7 / 4, itl=7, itl_overlapped=4)
# 2 x 5 layers of 60 B over three quarters of 8 B/s
by_hand(
    "DOC1-COMM",
    600 / 6,
    n_layers=5,
    message_decode=60,
    hbm_bandwidth=8,
    bandwidth_share=0.75,
)
by_hand("DOC1-COMM-RATIO", 3, t_comm_decode=12, doc1_comm=4)

# By the stopwatch --------------------------------------------------------------------------------

by_hand("RPS", 4 / 20, batch=4, e2e=20)
by_hand("TPOT-TIMED", 18 / 9, e2e=23, ttft=5, osl=10)
by_hand("TPOT-SPEC", 3 / 1.5, verify_time=3, tokens_per_step=1.5)
by_hand("ZERO-GAPS", 3 / 4, tokens_per_step=4)
# 2 stalls of 9 s over 9 gaps
by_hand("TPOT-STALL", 3 + 2, itl=3, stalls=2, stall_time=9, osl=10)

# What a log of requests says ---------------------------------------------------------------------

by_hand("TPS", 600 / 20, tokens_counted=600, logged_time=20)
by_hand("RPS-LOGGED", 30 / 20, requests_done=30, logged_time=20)
by_hand("GOODPUT-LOGGED", 24 / 20, requests_kept=24, logged_time=20)

# Energy and cost, phase by phase -----------------------------------------------------------------

by_hand("ENERGY-INPUT-TOKEN", 120 / (2 * 30), energy_prefill=120, batch=2, isl=30)
by_hand("ENERGY-STEP-TOKEN", 8 / 2, energy_step=8, batch=2)
# one prefill of 120 J and 9 steps of 8 J; 2 x (30 + 10) tokens
by_hand(
    "ENERGY-ANY-TOKEN", (120 + 72) / 80, energy_prefill=120, energy_step=8, batch=2, isl=30, osl=10
)
by_hand("COST-STEP-TOKEN", 8 * 3 * 0.5 / 4, n_devices=8, price=3, itl=0.5, batch=4)
by_hand("ENERGY-NODE-TOKEN", 10 + 3 * 4, energy_per_token=10, host_power=3, device_time=4)
by_hand("ENERGY-FACILITY-TOKEN", 1.5 * 22, pue=1.5, energy_node=22)
by_hand("ENERGY-ARITHMETIC", 12 / 4, flop_decode=12, flop_efficiency=4)


# Operator by operator: shares of a peak, and gaps ----------------------------------------------

by_hand("GROUPS", 8 / 2, n_devices=8, tp=2)
by_hand("PREFILLED-GROUP", 6 / 4, prefilled=6, groups=4)
by_hand("PREFILLED-GROUP", 1, prefilled=3, groups=4)
by_hand("READ-HEAD", 100 * 2 / 4, head_elements=100, table_width=2, tp=4)
by_hand(
    "CONTEXT-WALK",
    2 * 10 + 3 * 7 + 5 * 4,
    n_full_layers=2,
    context=10,
    n_mla_layers=3,
    attended_mla=7,
    n_local_layers=5,
    attended_window=4,
)
# 8 sequences, half filled: half of half of a peak of 100.  Each token needs 40/2 + 2x2 = 24 FLOP.
# 70 - 20 = 50 bytes at half of 10 a second.
linear = dict(
    flop_linear=40,
    tp=2,
    repeated_elements=2,
    peak_linear=100,
    eff_matrix=0.5,
    half_tokens=8,
    dense_read_device=70,
    head_read_device=20,
    hbm_bandwidth=10,
    eff_weights=0.5,
)
whole = dict(micro_batches=1)
once = ((8 * 24 / 25) ** 3 + 10**3) ** (1 / 3)
by_hand("OP-LINEAR-DECODE", once, group_batch=8, **linear, **whole)
by_hand("OP-LINEAR-PREFILL", once, prefilled_group=2, isl=4, **linear, **whole)
# two halves of 4 tokens fill a third of the rate's share, and each reads the weights
halves = dict(micro_batches=2)
twice = 2 * ((4 * 24 * 3 / 50) ** 3 + 10**3) ** (1 / 3)
by_hand("OP-LINEAR-DECODE", twice, group_batch=8, **linear, **halves)
by_hand("OP-LINEAR-PREFILL", twice, prefilled_group=2, isl=4, **linear, **halves)
head = dict(
    flop_head=30,
    tp=2,
    peak_native=100,
    eff_matrix=0.5,
    half_tokens=8,
    head_read_device=20,
    hbm_bandwidth=10,
    eff_weights=0.5,
)
by_hand("OP-HEAD-DECODE", ((8 * 15 / 25) ** 3 + 4**3) ** (1 / 3), group_batch=8, **head)
by_hand("OP-HEAD-PREFILL", ((8 * 15 / 25) ** 3 + 4**3) ** (1 / 3), prefilled_group=8, **head)
# 3, 4 and 5 seconds at once last 6: 27 + 64 + 125 = 216
by_hand(
    "OP-ATTENTION-DECODE",
    6,
    group_batch=2,
    flop_core_decode=50,
    flop_state=10,
    tp=4,
    peak_native=20,
    eff_attention=0.5,
    kv_read_device=10,
    hbm_bandwidth=10,
    eff_cache=0.5,
    context_walk=50,
    context_time=0.1,
)
by_hand(
    "OP-ATTENTION-PREFILL",
    2 * 5 * (50 + 10) / 4 / (20 * 0.5),
    prefilled_group=2,
    isl=5,
    flop_core_prefill=50,
    flop_state=10,
    tp=4,
    peak_native=20,
    eff_attention=0.5,
)
# 8 tokens draw 2 of 4 experts: 4 tokens each, half filled; 6 of the 12 bytes of 4 experts are 2's
moe = dict(
    top_k=2,
    n_experts=4,
    flop_experts=50,
    n_devices=2,
    peak_expert=100,
    eff_expert_matrix=0.5,
    half_tokens=4,
    expert_bytes_layer_device=12,
    hbm_bandwidth=10,
    eff_experts=0.5,
)
by_hand(
    "OP-EXPERTS-DECODE",
    ((8 * 50 / (2 * 25)) ** 3 + (6 / 5) ** 3) ** (1 / 3),
    batch=8,
    experts_decode=2,
    **moe,
    **whole,
)
by_hand(
    "OP-EXPERTS-PREFILL",
    ((8 * 50 / (2 * 25)) ** 3 + (12 / 5) ** 3) ** (1 / 3),
    prefilled=2,
    isl=4,
    **moe,
    **whole,
)
# two halves of 4 tokens, 2 an expert: a third filled, and each half reads its experts
half_read = 2 * ((4 * 50 * 3 / 100) ** 3 + (6 / 5) ** 3) ** (1 / 3)
by_hand("OP-EXPERTS-DECODE", half_read, batch=8, experts_decode=2, **moe, **halves)
half_read = 2 * ((4 * 50 * 3 / 100) ** 3 + (12 / 5) ** 3) ** (1 / 3)
by_hand("OP-EXPERTS-PREFILL", half_read, prefilled=2, isl=4, **moe, **halves)
# 16 devices, 8 a domain: 2 nodes; with 4 devices only one
by_hand("NODES", 2, n_devices=16, scale_up_size=8)
by_hand("NODES", 1, n_devices=4, scale_up_size=8)
# one of 2 nodes holds none of 3 experts with probability 1/8
by_hand("NODES-MET", 2 * (1 - 1 / 8), nodes=2, top_k=3)
# of 1.75 nodes half are elsewhere, of 3 devices as well; 8 experts on 4 devices meet all 4
by_hand("NETWORK-PREFILL", 1.75 / 2, nodes_met=1.75, nodes=2)
by_hand("NETWORK-DECODE", 3 / 2, n_devices=16, top_k=3, nodes=2)
by_hand("NETWORK-DECODE", 4 / 2, n_devices=4, top_k=8, nodes=2)
# two parts beyond a node, unless one group has all devices
by_hand("MICRO-BATCHES", 1, nodes=1, n_devices=8, tp=2)
by_hand("MICRO-BATCHES", 2, nodes=2, n_devices=16, tp=2)
by_hand("MICRO-BATCHES", 1, nodes=2, n_devices=16, tp=16)
# 3 tokens of 10 x 2 bytes are 60: 3 all-reduces of 0.1 + 2 x 1/2 x 60 / 50, and
# 2 exchanges of 0.15 + 60 / 2 x 3 devices met x (1 + 2) / (2 x 2) / 50
spread = dict(
    hidden_size=10,
    reduce_width=2,
    tp=2,
    link_bandwidth=100,
    eff_link=0.5,
    activation_width=1,
    collective_gap=0.1,
    allreduces=3,
    exchanges=2,
    n_devices=4,
    top_k=3,
)
spread |= dict(nodes=1, micro_batches=1, scale_out_bandwidth=40, eff_network=0.5)
near, far = dict(network_decode=0), dict(network_prefill=0)
by_hand("OP-COMM-DECODE", 3 * (0.1 + 1.2) + 2 * (0.15 + 1.35), group_batch=3, **spread, **near)
by_hand(
    "OP-COMM-PREFILL",
    3 * (0.1 + 1.2) + 2 * (0.15 + 1.35),
    prefilled_group=1,
    isl=3,
    **spread,
    **far,
)
# 2 nodes, half a batch at a time: all-reduces of 0.1 + 0.6; an exchange takes 1.35 / 2 / 2 inside,
# beside 30 / 2 x 0.75 bytes that cross twice at 40 x 0.5 bytes a second
beyond = spread | dict(nodes=2, micro_batches=2)
crossed = (0.3375**3 + (15 * 0.75 * 2 / 20) ** 3) ** (1 / 3)
twice = 2 * (3 * (0.1 + 0.6) + 2 * (0.15 + crossed))
by_hand("OP-COMM-DECODE", twice, group_batch=3, network_decode=2, **beyond)
by_hand("OP-COMM-PREFILL", twice, prefilled_group=1, isl=3, network_prefill=2, **beyond)
by_hand("OP-COMM-DECODE", 0, group_batch=3, **near, **spread | {"tp": 1, "exchanges": 0})
alone = spread | {"tp": 1, "n_devices": 2}
by_hand("OP-COMM-DECODE", 2 * (0.15 + 1.8), group_batch=3, **near, **alone)
by_hand("OP-COMM-PREFILL", 2 * (0.15 + 1.8), prefilled_group=1, isl=3, **far, **alone)
by_hand(
    "OP-GAPS",
    5 + 2 * (3 * 2 + 2 * 4),
    step_gap=5,
    n_layers=3,
    layer_gap=2,
    n_moe_layers=2,
    expert_gap=4,
    micro_batches=2,
)
# operators 1 + 2 + 3 + 4 + 5 + 6 = 21 s beside 3 x 4 = 12 s of launches, and 2 x 0.5 s of sequences
by_hand(
    "DECODE-TIME",
    (21**3 + 12**3) ** (1 / 3) + 1,
    op_linear_decode=1,
    op_head_decode=2,
    op_attention_decode=3,
    op_experts_decode=4,
    op_comm_decode=5,
    op_gaps=6,
    n_layers=3,
    launch_decode=4,
    batch=2,
    nodes=1,
    sequence_gap=0.5,
    micro_batches=1,
)
by_hand(
    "PREFILL-TIME",
    (21**3 + 12**3) ** (1 / 3),
    op_linear_prefill=1,
    op_head_prefill=2,
    op_attention_prefill=3,
    op_experts_prefill=4,
    op_comm_prefill=5,
    op_gaps=6,
    n_layers=3,
    launch_prefill=4,
    micro_batches=1,
)
# in two halves 16 s of work hide 5 s of communication, all beside 12 s of launches; and in a
# decode step beside 4 sequences of 0.5 s on 2 hosts
hidden = 16**3 + 5**3 + 12**3
works = dict(op_gaps=6, n_layers=3, micro_batches=2)
by_hand(
    "DECODE-TIME",
    (hidden + 1) ** (1 / 3),
    op_linear_decode=1,
    op_head_decode=2,
    op_attention_decode=3,
    op_experts_decode=4,
    op_comm_decode=5,
    launch_decode=4,
    batch=4,
    nodes=2,
    sequence_gap=0.5,
    **works,
)
by_hand(
    "PREFILL-TIME",
    hidden ** (1 / 3),
    op_linear_prefill=1,
    op_head_prefill=2,
    op_attention_prefill=3,
    op_experts_prefill=4,
    op_comm_prefill=5,
    launch_prefill=4,
    **works,
)
# 8 sequences in 2 groups, 10 tokens each: 0.4 prefills of 3 s a step
by_hand(
    "SERVED-STEP",
    2 + 0.5 * 0.4 * 3,
    decode_time=2,
    interleave=0.5,
    batch=8,
    groups=2,
    osl=10,
    prefill_time=3,
)
by_hand(
    "SERVED-STEP-MEDIAN",
    2 + 0.25 * 0.4 * 3,
    decode_time=2,
    interleave_median=0.25,
    batch=8,
    groups=2,
    osl=10,
    prefill_time=3,
)
by_hand(
    "SERVED-FIRST",
    1 + 2 + 3 * (1 + 0.5 * (4 - 1)),
    request_gap=1,
    decode_time=2,
    prefill_time=3,
    queue_share=0.5,
    batch=8,
    groups=2,
)
by_hand("SERVED-THROUGHPUT", 0.5 * 8 / 2, occupancy=0.5, batch=8, served_step=2)
by_hand("STATIC-FIRST", 1 + 3, request_gap=1, prefill_time=3)
# 0.25 x 40 W for 2 s, 10 FLOP at 0.5 J, 8 bytes of which 2 x 3 are cache, at 2 and 1 J:
# 20 + 5 + 4 + 6 = 35 J; at most 80 J
drawn = dict(idle_share=0.25, board_power=40, flop_energy=0.5, byte_energy=2)
cached = dict(cache_energy=1, group_batch=2, kv_read_device=3)


def below(free, most):
    return free * most / (free**6 + most**6) ** (1 / 6)


by_hand(
    "ENERGY-DECODE-FIT",
    below(20 + 5 + 4 + 6, 80),
    decode_time=2,
    decode_flop_device=10,
    decode_bytes_device=8,
    **cached,
    **drawn,
)
# a prompt of 3 tokens at 1 + 2 + 3 + 4 FLOP and 5 for the head is 35 FLOP; 4 of them on 4 devices
prompts = dict(
    isl=3,
    flop_linear=1,
    flop_state=2,
    flop_core_prefill=3,
    flop_experts=4,
    flop_head=5,
    n_devices=2,
)
by_hand(
    "ENERGY-PREFILL-FIT",
    below(20 + 0.5 * 35 + 2 * (7 + 1), 80),
    prefill_time=2,
    prefilled=4,
    dense_read_device=7,
    expert_bytes_layer_device=1,
    **prompts | {"n_devices": 4},
    **drawn,
)
# 4 devices draw 6 J each in a step of 8 tokens
by_hand("ENERGY-SERVED-TOKEN", 4 * 6 / 8, n_devices=4, energy_served_fit=6, batch=8)
# a prompt is (3 x 10 + 5) / 2 = 17.5 FLOP a device; 8 sequences of 10 tokens share 0.8 of them
by_hand(
    "ENERGY-SERVED-FIT",
    below(20 + 0.5 * (10 + 0.8 * 17.5) + 4 + 6, 80),
    served_step=2,
    decode_flop_device=10,
    decode_bytes_device=8,
    batch=8,
    osl=10,
    **cached,
    **prompts,
    **drawn,
)


@pytest.mark.parametrize("id", CASES)
def test_the_law_gives_what_a_hand_gives(id):
    law = BY_ID[id]
    for expected, inputs in CASES[id]:
        unknown = inputs.keys() - {s.name for s in law.needs}
        assert not unknown, f"{id} does not use {unknown}"
        assert float(law(given(law, inputs))) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_every_law_was_computed_by_hand():
    assert {law.id for law in LAWS} == CASES.keys()


def outcome(law, values):
    """Value of a law, or that it refuses the case."""
    try:
        return float(law(values))
    except OutOfRegime:
        return "out of regime"


@pytest.mark.parametrize("id", CASES)
def test_each_input_moves_the_result_of_some_case(id):
    law = BY_ID[id]
    for symbol in law.needs:
        moved = []
        for _, inputs in CASES[id]:
            values = given(law, inputs)
            # three times one more: beyond any floor, ceiling or smaller half of a maximum
            other = values | {symbol: 3 * values[symbol] + 1}
            moved.append(outcome(law, values) != outcome(law, other))
        assert any(moved), f"{id}: no case notices {symbol}"


def test_hand_cases_name_symbols():
    names = {name for cases in CASES.values() for _, inputs in cases for name in inputs}
    assert names <= SYMBOLS.keys()
