"""What a configuration file says: the symbols of a model's records, part by part."""

from .glossary import declare, section

# fmt: off  (a dictionary: one symbol a line)

section("Counting")
mac = declare("mac", "FLOP/elem/token", "c", "one multiply and one add per weight per token")
one_token = declare("one_token", "token", r"1_\mathrm{tok}", "one token")
element = declare("element", "elem", r"1_\mathrm{el}", "one element")

section("Model", "core")
hidden_size = declare("hidden_size", "", "d", "width of the residual stream")
n_layers = declare("n_layers", "", "L", "layers")
vocab_size = declare("vocab_size", "", "V", "rows of the embedding table")
head_untied = declare("head_untied", "", "u", "1 if the LM head has its own table, 0 if tied")
head_bias = declare("head_bias", "", r"\beta_u", "1 if the LM head has a bias")
max_context = declare("max_context", "token", r"S_\mathrm{max}", "longest context configured")
norm_vectors = declare("norm_vectors", "", "v", "vectors in one norm: 1 RMSNorm, 2 LayerNorm")
norms_per_layer = declare("norms_per_layer", "", r"n_\mathrm{norm}", "full-width norms in a layer")
learned_positions = declare("learned_positions", "", r"n_\mathrm{pos}", "learned position vectors")
embedding_norm = declare("embedding_norm", "", r"v_\mathrm{emb}", "1 if the embedding is normed")
extra_params = declare("extra_params", "", r"n_\mathrm{extra}", "weights of no named part")
n_heads = declare("n_heads", "", "H", "query heads")

section("Attention with key and value heads", "attention")
n_full_layers = declare("n_full_layers", "", r"L_\mathrm{full}", "layers that attend to everything")
n_kv_heads = declare("n_kv_heads", "", "K", "key-value heads")
head_dim = declare("head_dim", "", r"d_h", "width of a query or key head")
v_head_dim = declare("v_head_dim", "", r"d_v", "width of a value head")
value_projection = declare("value_projection", "", r"\nu", "0 if values reuse the keys")
qkv_bias = declare("qkv_bias", "", r"\beta_{qkv}", "1 if q, k, v have biases")
o_bias = declare("o_bias", "", r"\beta_o", "1 if the output projection has a bias")
qk_norm_per_head = declare("qk_norm_per_head", "", r"\eta_h", "1 if q, k are normed per head")
qk_norm_full = declare("qk_norm_full", "", r"\eta_f", "1 if q, k are normed over all heads")
output_gate = declare("output_gate", "", r"\gamma", "1 if the output is gated elementwise")
sinks = declare("sinks", "", r"\sigma", "1 if each head has a learned sink")

section("Block index on attention", "block_index")
n_indexed_layers = declare("n_indexed_layers", "", r"L_\mathrm{bi}", "layers with a block index")
block_index_heads = declare("block_index_heads", "", r"H_\mathrm{bi}", "heads of the block index")
block_index_dim = declare("block_index_dim", "", r"d_\mathrm{bi}", "width of a block-index head")
block_index_topk = declare("block_index_topk", "token", r"S_\mathrm{bi}", "tokens it selects")

section("Local attention (sliding window or chunk)", "local")
n_local_layers = declare("n_local_layers", "", r"L_\mathrm{loc}", "layers that attend locally")
window = declare("window", "token", "W", "tokens such a layer attends to at most")
local_kv_heads = declare("local_kv_heads", "", r"K_\mathrm{loc}", "its key-value heads")
local_head_dim = declare("local_head_dim", "", r"d_{h,\mathrm{loc}}", "its query and key width")
local_v_head_dim = declare("local_v_head_dim", "", r"d_{v,\mathrm{loc}}", "its value width")
local_value_projection = declare(
    "local_value_projection", "", r"\nu_\mathrm{loc}", "0 if values reuse keys"
)
local_sinks = declare("local_sinks", "", r"\sigma_\mathrm{loc}", "1 if its heads have sinks")

section("Multi-head latent attention (MLA)", "mla")
n_mla_layers = declare("n_mla_layers", "", r"L_\mathrm{mla}", "MLA layers")
q_lora_rank = declare("q_lora_rank", "", r"r_q", "rank of the query latent, 0 for none")
kv_lora_rank = declare("kv_lora_rank", "", r"r_{kv}", "rank of the key-value latent")
qk_nope_head_dim = declare("qk_nope_head_dim", "", r"d_\mathrm{nope}", "key width without position")
qk_rope_head_dim = declare(
    "qk_rope_head_dim", "", r"d_\mathrm{rope}", "rotary key width, shared by heads"
)
mla_v_head_dim = declare("mla_v_head_dim", "", r"d_{v,\mathrm{mla}}", "value width of an MLA head")
mla_output_gate = declare("mla_output_gate", "", r"\gamma_\mathrm{mla}", "1 if its output is gated")

section("Sparse-attention index on MLA", "index")
n_index_layers = declare("n_index_layers", "", r"L_\mathrm{ix}", "MLA layers that own an index")
index_heads = declare("index_heads", "", r"H_\mathrm{ix}", "heads of the index")
index_dim = declare("index_dim", "", r"d_\mathrm{ix}", "width of an index head")
index_topk = declare("index_topk", "token", r"S_\mathrm{ix}", "tokens it selects")

section("Compressed attention (DeepSeek-V4)", "csa")
n_csa0_layers = declare("n_csa0_layers", "", r"L_{c0}", "layers with the window only")
n_csa4_layers = declare("n_csa4_layers", "", r"L_{c4}", "layers with one entry per 4 tokens")
n_csa128_layers = declare(
    "n_csa128_layers", "", r"L_{c128}", "layers with one entry per 128 tokens"
)
csa_q_rank = declare("csa_q_rank", "", r"r_{q,c}", "rank of the query latent")
csa_o_rank = declare("csa_o_rank", "", r"r_{o,c}", "rank of the output latent")
csa_o_groups = declare("csa_o_groups", "", r"G_c", "groups of the output latent")
csa_head_dim = declare("csa_head_dim", "", r"d_c", "width of a head; keys are the values")
csa_window = declare("csa_window", "token", r"W_c", "uncompressed tokens attended to")
csa_index_heads = declare("csa_index_heads", "", r"H_{\mathrm{ix},c}", "heads of its index")
csa_index_dim = declare("csa_index_dim", "", r"d_{\mathrm{ix},c}", "width of its index heads")
csa_topk = declare("csa_topk", "", r"n_c", "compressed entries selected")
hyper_mult = declare("hyper_mult", "", "h", "residual streams of the hyper-connections")
hash_router_layers = declare(
    "hash_router_layers", "", r"L_\mathrm{hash}", "layers routed by a hash"
)

section("Gated DeltaNet", "gdn")
n_gdn_layers = declare("n_gdn_layers", "", r"L_\mathrm{gdn}", "Gated DeltaNet layers")
gdn_key_heads = declare("gdn_key_heads", "", r"H_{k,\mathrm{gdn}}", "key heads")
gdn_key_dim = declare("gdn_key_dim", "", r"d_{k,\mathrm{gdn}}", "key width")
gdn_value_heads = declare("gdn_value_heads", "", r"H_{v,\mathrm{gdn}}", "value heads")
gdn_value_dim = declare("gdn_value_dim", "", r"d_{v,\mathrm{gdn}}", "value width")
gdn_conv = declare(
    "gdn_conv", "", r"n_{\mathrm{conv},\mathrm{gdn}}", "taps of the short convolution"
)

section("Kimi delta attention", "kda")
n_kda_layers = declare("n_kda_layers", "", r"L_\mathrm{kda}", "KDA layers")
kda_heads = declare("kda_heads", "", r"H_\mathrm{kda}", "heads")
kda_dim = declare("kda_dim", "", r"d_\mathrm{kda}", "width of a head")
kda_conv = declare(
    "kda_conv", "", r"n_{\mathrm{conv},\mathrm{kda}}", "taps of the short convolution"
)
kda_full_gate = declare("kda_full_gate", "", r"\gamma_\mathrm{kda}", "1 if the gate has full rank")

section("Lightning attention", "lightning")
n_lightning_layers = declare("n_lightning_layers", "", r"L_\mathrm{la}", "lightning layers")
lightning_heads = declare("lightning_heads", "", r"H_\mathrm{la}", "heads")
lightning_dim = declare("lightning_dim", "", r"d_\mathrm{la}", "width of a head")

section("State-space mixer (Mamba-2)", "mamba")
n_mamba_layers = declare("n_mamba_layers", "", r"L_\mathrm{ssm}", "Mamba-2 layers")
mamba_heads = declare("mamba_heads", "", r"H_\mathrm{ssm}", "heads")
mamba_head_dim = declare("mamba_head_dim", "", r"d_\mathrm{ssm}", "width of a head")
mamba_state = declare("mamba_state", "", r"n_\mathrm{ssm}", "state per channel")
mamba_groups = declare("mamba_groups", "", r"G_\mathrm{ssm}", "groups that share B and C")
mamba_conv = declare(
    "mamba_conv", "", r"n_{\mathrm{conv},\mathrm{ssm}}", "taps of the short convolution"
)

section("Feed-forward", "mlp")
mlp_matrices = declare("mlp_matrices", "", "m", "matrices of an MLP: 3 gated, 2 plain")
mlp_bias = declare("mlp_bias", "", r"\beta_\mathrm{mlp}", "1 if the dense MLP has biases")

section("Feed-forward", "dense")
n_dense_layers = declare("n_dense_layers", "", r"L_\mathrm{dense}", "layers with a dense MLP")
dense_width = declare("dense_width", "", "f", "width of the dense MLP")

section("Mixture of experts (MoE)", "moe")
n_moe_layers = declare("n_moe_layers", "", r"L_\mathrm{moe}", "layers with routed experts")
n_experts = declare("n_experts", "", "E", "routed experts in a layer")
top_k = declare("top_k", "", "k", "routed experts a token uses")
expert_width = declare("expert_width", "", r"f_E", "width of a routed expert")
shared_width = declare("shared_width", "", r"f_s", "width of all shared experts together")
shared_gate = declare("shared_gate", "", r"\gamma_s", "1 if the shared expert is gated")
router_bias = declare("router_bias", "", r"\beta_r", "1 if the router has a bias")
expert_bias = declare("expert_bias", "", r"\beta_E", "1 if experts have biases")
expert_latent = declare("expert_latent", "", r"d_E", "width the experts work in, 0 for d")
latent_norm = declare("latent_norm", "", r"\eta_E", "1 if that latent is normed")
moe_dense_width = declare("moe_dense_width", "", r"f_+", "width of a dense MLP beside the experts")
moe_extra_norms = declare("moe_extra_norms", "", r"n_+", "norms that dense MLP adds")
router_scales = declare("router_scales", "", r"\sigma_r", "1 if the router has learned scales")

section("Multi-token prediction (MTP), kept apart", "mtp")
mtp_modules = declare("mtp_modules", "", r"n_\mathrm{mtp}", "MTP modules")
mtp_full_layers = declare(
    "mtp_full_layers", "", r"\mu_\mathrm{full}", "1 if a module attends fully"
)
mtp_local_layers = declare("mtp_local_layers", "", r"\mu_\mathrm{loc}", "1 if it attends locally")
mtp_mla_layers = declare("mtp_mla_layers", "", r"\mu_\mathrm{mla}", "1 if it uses MLA")
mtp_index_layers = declare("mtp_index_layers", "", r"\mu_\mathrm{ix}", "1 if it owns an index")
mtp_csa0_layers = declare("mtp_csa0_layers", "", r"\mu_{c0}", "1 if it uses the V4 window")
mtp_moe_layers = declare("mtp_moe_layers", "", r"\mu_\mathrm{moe}", "1 if it has experts")
mtp_dense_layers = declare("mtp_dense_layers", "", r"\mu_\mathrm{dense}", "1 if it has a dense MLP")
mtp_proj = declare("mtp_proj", "", r"\mu_\mathrm{proj}", "input projection in units of d by d")
mtp_norms = declare("mtp_norms", "", r"\mu_\mathrm{norm}", "extra norms of a module")
mtp_norm_layers = declare("mtp_norm_layers", "", r"\mu_+", "norms stored once beside the modules")
mtp_copies = declare(
    "mtp_copies", "", r"\mu_\mathrm{copy}", "embedding or head tables stored again"
)

section("Vision tower", "vision")
vision_width = declare("vision_width", "", r"d_\mathrm{vis}", "width of the vision tower")
vision_layers = declare("vision_layers", "", r"L_\mathrm{vis}", "its layers")
vision_mlp_width = declare("vision_mlp_width", "", r"f_\mathrm{vis}", "width of its MLP")
vision_patch_params = declare(
    "vision_patch_params", "", r"n_\mathrm{patch}", "weights of the patch embedding"
)
vision_position_params = declare(
    "vision_position_params", "", r"n_\mathrm{vpos}", "weights of its positions"
)
vision_other_params = declare(
    "vision_other_params", "", r"n_\mathrm{vis}", "projector and other weights"
)

section("Published counts")
published_total = declare("published_total", "", r"\hat N", "weights the publisher states")
published_active = declare(
    "published_active", "", r"\hat N_\mathrm{act}", "active weights it states"
)
published_adjust = declare(
    "published_adjust", "", r"\delta \hat N", "stored elements that are no weights"
)
