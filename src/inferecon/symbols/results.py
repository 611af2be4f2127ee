"""What the laws define, chapter by chapter."""

from .glossary import declare, section

# fmt: off  (a dictionary: one symbol a line)

section("Parameters of one layer")
gqa_matrices = declare(
    "gqa_matrices", "elem", r"A_\mathrm{full}", "matrix weights of an attention layer"
)
gqa_vectors = declare("gqa_vectors", "elem", r"a_\mathrm{full}", "its biases, norms and sinks")
block_index_matrices = declare(
    "block_index_matrices", "elem", r"A_\mathrm{bi}", "matrix weights of a block index"
)
block_index_vectors = declare("block_index_vectors", "elem", r"a_\mathrm{bi}", "its norms")
local_matrices = declare(
    "local_matrices", "elem", r"A_\mathrm{loc}", "matrix weights of a local layer"
)
local_vectors = declare("local_vectors", "elem", r"a_\mathrm{loc}", "its biases, norms and sinks")
mla_matrices = declare("mla_matrices", "elem", r"A_\mathrm{mla}", "matrix weights of an MLA layer")
mla_vectors = declare("mla_vectors", "elem", r"a_\mathrm{mla}", "its latent norms")
index_matrices = declare(
    "index_matrices", "elem", r"A_\mathrm{ix}", "matrix weights of a sparse index"
)
index_vectors = declare("index_vectors", "elem", r"a_\mathrm{ix}", "its norm")
csa0_matrices = declare("csa0_matrices", "elem", r"A_{c0}", "matrix weights of a V4 window layer")
csa0_vectors = declare("csa0_vectors", "elem", r"a_{c0}", "its norms and sinks")
csa4_matrices = declare("csa4_matrices", "elem", r"A_{c4}", "matrix weights added at ratio 4")
csa4_vectors = declare("csa4_vectors", "elem", r"a_{c4}", "position weights and norms added")
csa128_matrices = declare(
    "csa128_matrices", "elem", r"A_{c128}", "matrix weights added at ratio 128"
)
csa128_vectors = declare("csa128_vectors", "elem", r"a_{c128}", "position weights and norms added")
gdn_matrices = declare(
    "gdn_matrices", "elem", r"A_\mathrm{gdn}", "matrix weights of a Gated DeltaNet layer"
)
gdn_vectors = declare("gdn_vectors", "elem", r"a_\mathrm{gdn}", "its decay and norm vectors")
kda_matrices = declare("kda_matrices", "elem", r"A_\mathrm{kda}", "matrix weights of a KDA layer")
kda_vectors = declare("kda_vectors", "elem", r"a_\mathrm{kda}", "its decay and norm vectors")
lightning_matrices = declare(
    "lightning_matrices", "elem", r"A_\mathrm{la}", "matrix weights of a lightning layer"
)
lightning_vectors = declare("lightning_vectors", "elem", r"a_\mathrm{la}", "its norm")
mamba_matrices = declare(
    "mamba_matrices", "elem", r"A_\mathrm{ssm}", "matrix weights of a Mamba-2 layer"
)
mamba_vectors = declare(
    "mamba_vectors", "elem", r"a_\mathrm{ssm}", "its conv bias, decay, skip and norm"
)
dense_matrices = declare(
    "dense_matrices", "elem", r"M_\mathrm{dense}", "matrix weights of a dense MLP"
)
dense_vectors = declare("dense_vectors", "elem", r"m_\mathrm{dense}", "its biases")
expert_input = declare("expert_input", "", r"d_E^\ast", "width an expert reads")
expert_matrices = declare("expert_matrices", "elem", r"M_E", "matrix weights of one routed expert")
expert_vectors = declare("expert_vectors", "elem", r"m_E", "its biases")
router_matrices = declare("router_matrices", "elem", r"M_r", "weights of one router")
moe_matrices = declare("moe_matrices", "elem", r"M_s", "matrices beside the routed experts")
moe_vectors = declare("moe_vectors", "elem", r"m_s", "vectors beside the routed experts")
hyper_vectors = declare("hyper_vectors", "elem", r"a_h", "hyper-connection weights of the model")

section("Parameters of the model")
params_attention = declare(
    "params_attention", "elem", r"N_\mathrm{mix}", "matrices of all sequence mixers"
)
params_dense = declare(
    "params_dense", "elem", r"N_\mathrm{dense}", "dense MLPs, shared experts, latents"
)
params_experts = declare("params_experts", "elem", r"N_E", "all routed experts")
params_router = declare("params_router", "elem", r"N_r", "all routers")
params_embedding = declare("params_embedding", "elem", r"N_\mathrm{emb}", "embedding table")
params_head = declare("params_head", "elem", r"N_\mathrm{head}", "own table of the LM head")
params_vectors = declare("params_vectors", "elem", r"N_v", "norms, biases and other vectors")
params_total = declare("params_total", "elem", "N", "weights of the language model")
params_active = declare(
    "params_active", "elem", r"N_\mathrm{act}", "weights a token uses, tables included"
)
params_mtp = declare("params_mtp", "elem", r"N_\mathrm{mtp}", "weights of the MTP modules")
params_vision = declare("params_vision", "elem", r"N_\mathrm{vis}", "weights of the vision tower")
params_copies = declare(
    "params_copies", "elem", r"N_\mathrm{copy}", "tables a checkpoint stores again"
)

section("KV cache and state")
kv_growing = declare(
    "kv_growing", "elem/token", r"\kappa_S", "cache elements per token, whole context"
)
kv_local = declare(
    "kv_local", "elem/token", r"\kappa_W", "cache elements per token inside the window"
)
kv_csa = declare("kv_csa", "elem/token", r"\kappa_c", "the same for the V4 window")
state_elements = declare("state_elements", "elem", r"\kappa_0", "recurrent state of a sequence")
kv_bytes_per_token = declare(
    "kv_bytes_per_token", "byte/token", r"q_{kv}", "cache bytes per token of context"
)
kv_bytes = declare("kv_bytes", "byte", r"Q_{kv}", "cache and state of one full sequence")
kv_device_growing = declare(
    "kv_device_growing", "elem/token", r"\kappa_S^\mathrm{dev}", "of it on each device of a group"
)
kv_device_local = declare(
    "kv_device_local", "elem/token", r"\kappa_W^\mathrm{dev}", "window part on each device"
)
kv_bytes_device = declare(
    "kv_bytes_device", "byte", r"Q_{kv}^\mathrm{dev}", "of it on each device of a group"
)
kv_read_device = declare(
    "kv_read_device", "byte", r"Q_{kv}^\mathrm{read}", "of it read in a decode step"
)
mha_kv_growing = declare(
    "mha_kv_growing",
    "elem/token",
    r"\kappa_\mathrm{MHA}",
    "cache elements if every head kept its own",
)
kv_overstatement = declare("kv_overstatement", "", r"\rho_{kv}", "MHA cache over the real cache")

section("Weights")
weight_bytes = declare("weight_bytes", "byte", r"Q_w", "weights in memory")
weight_bytes_device = declare(
    "weight_bytes_device", "byte", r"Q_w^\mathrm{dev}", "weights on one device"
)
effective_bits = declare("effective_bits", "byte/elem", r"\bar w", "mean width of a weight")

section("Arithmetic")
matrices_per_token = declare(
    "matrices_per_token", "elem", r"N_\mathrm{mat}", "matrix weights a token meets, head apart"
)
flop_linear = declare(
    "flop_linear", "FLOP/token", r"F_\mathrm{lin}", "matrices outside the experts, per token"
)
flop_experts = declare("flop_experts", "FLOP/token", r"F_E", "routed experts, per token")
flop_state = declare("flop_state", "FLOP/token", r"F_\mathrm{st}", "recurrent state, per token")
flop_head = declare("flop_head", "FLOP/token", r"F_\mathrm{head}", "LM head, per position scored")
head_elements = declare(
    "head_elements", "elem", r"N_\mathrm{out}", "weights of the output projection"
)
attended_window = declare(
    "attended_window", "token", r"S_W", "tokens a local layer attends to, decode"
)
attended_mla = declare(
    "attended_mla", "token", r"S_\mathrm{mla}", "tokens an MLA layer attends to, decode"
)
attended_block = declare(
    "attended_block", "token", r"S_\mathrm{blk}", "tokens a block-indexed layer attends to"
)
attended_csa = declare("attended_csa", "token", r"S_{c}", "window tokens a V4 layer attends to")
attended_csa4 = declare(
    "attended_csa4", "token", r"S_{c4}", "compressed entries it attends to at ratio 4"
)
flop_core_decode = declare(
    "flop_core_decode",
    "FLOP/token",
    r"F_\mathrm{core}^\mathrm{dec}",
    "scores and values, per decoded token",
)
flop_core_prefill = declare(
    "flop_core_prefill",
    "FLOP/token",
    r"F_\mathrm{core}^\mathrm{pre}",
    "scores and values, per prompt token",
)
mean_full = declare("mean_full", "token", r"\bar S", "mean causal context of a prompt token")
mean_window = declare("mean_window", "token", r"\bar S_W", "the same inside a window")
mean_mla = declare("mean_mla", "token", r"\bar S_\mathrm{mla}", "the same in an MLA layer")
mean_block = declare(
    "mean_block", "token", r"\bar S_\mathrm{blk}", "the same in a block-indexed layer"
)
mean_csa = declare("mean_csa", "token", r"\bar S_c", "the same in the V4 window")
mean_csa4 = declare("mean_csa4", "token", r"\bar S_{c4}", "compressed entries at ratio 4, mean")
flop_decode = declare(
    "flop_decode", "FLOP/token", r"F_\mathrm{dec}", "arithmetic per decoded token"
)
flop_prefill = declare(
    "flop_prefill", "FLOP/token", r"F_\mathrm{pre}", "arithmetic per prompt token, head apart"
)

section("Traffic")
experts_decode = declare(
    "experts_decode", "", r"E_\mathrm{dec}", "distinct experts a decode step touches"
)
experts_prefill = declare(
    "experts_prefill", "", r"E_\mathrm{pre}", "distinct experts a prefill touches"
)
dense_read_device = declare(
    "dense_read_device", "byte", r"Q_\mathrm{fix}^\mathrm{dev}", "weights read whatever the batch"
)
expert_bytes_layer_device = declare(
    "expert_bytes_layer_device", "byte", r"Q_E^\mathrm{dev}", "all routed experts on a device"
)
decode_bytes_device = declare(
    "decode_bytes_device",
    "byte",
    r"Q_\mathrm{dec}^\mathrm{dev}",
    "traffic of a decode step, a device",
)
prefill_bytes_device = declare(
    "prefill_bytes_device", "byte", r"Q_\mathrm{pre}^\mathrm{dev}", "traffic of a prefill, a device"
)
decode_flop_device = declare(
    "decode_flop_device",
    "FLOP",
    r"F_\mathrm{dec}^\mathrm{dev}",
    "arithmetic of a decode step, a device",
)
prefill_flop_device = declare(
    "prefill_flop_device",
    "FLOP",
    r"F_\mathrm{pre}^\mathrm{dev}",
    "arithmetic of a prefill, a device",
)
intensity = declare("intensity", "FLOP/byte", r"I", "arithmetic intensity of a decode step")
ridge_intensity = declare(
    "ridge_intensity", "FLOP/byte", r"I^\ast", "intensity at which both bounds meet"
)
ridge_batch = declare(
    "ridge_batch", "", r"b^\ast", "batch at which dense decode turns compute-bound"
)

section("Communication")
message_decode = declare(
    "message_decode", "byte", r"q_\mathrm{dec}", "activations of one layer, decode step"
)
message_prefill = declare(
    "message_prefill", "byte", r"q_\mathrm{pre}", "activations of one layer, prefill"
)
allreduces = declare("allreduces", "", r"n_\mathrm{ar}", "all-reduces of one forward pass")
exchanges = declare("exchanges", "", r"n_\mathrm{a2a}", "all-to-alls of one forward pass")
t_comm_decode = declare(
    "t_comm_decode", "second", r"t_\mathrm{comm}^\mathrm{dec}", "communication of a decode step"
)
t_comm_prefill = declare(
    "t_comm_prefill", "second", r"t_\mathrm{comm}^\mathrm{pre}", "communication of a prefill"
)

section("Time")
t_math_decode = declare(
    "t_math_decode",
    "second",
    r"t_\mathrm{math}^\mathrm{dec}",
    "arithmetic of a decode step at peak",
)
t_memory_decode = declare(
    "t_memory_decode", "second", r"t_\mathrm{mem}^\mathrm{dec}", "traffic of a decode step at peak"
)
t_math_prefill = declare(
    "t_math_prefill", "second", r"t_\mathrm{math}^\mathrm{pre}", "arithmetic of a prefill at peak"
)
t_memory_prefill = declare(
    "t_memory_prefill", "second", r"t_\mathrm{mem}^\mathrm{pre}", "traffic of a prefill at peak"
)
itl = declare("itl", "second", r"\mathrm{ITL}", "inter-token latency, mean over the answer")
ttft = declare("ttft", "second", r"\mathrm{TTFT}", "time to first token of a batch of prompts")
e2e = declare("e2e", "second", r"\mathrm{E2E}", "time from request to last token")
throughput = declare(
    "throughput", "token/second", "X", "output tokens per second of a replica, prefill included"
)
throughput_device = declare("throughput_device", "token/second", r"X_1", "the same per device")
decode_throughput = declare(
    "decode_throughput",
    "token/second",
    r"X_\mathrm{dec}",
    "output tokens per second while decoding",
)
interactivity = declare("interactivity", "token/second", r"X_u", "tokens per second a user sees")

section("Memory")
memory_needed = declare(
    "memory_needed", "byte", r"C_\mathrm{need}", "weights and full cache on one device"
)
memory_available = declare(
    "memory_available", "byte", r"C_\mathrm{avail}", "memory of a device left to them"
)
largest_batch = declare("largest_batch", "", r"b_\mathrm{max}", "sequences of full length that fit")

section("Energy, carbon, cost")
device_time = declare(
    "device_time", "second/token", r"\tau", "device time per output token, prefill included"
)
energy_prefill = declare(
    "energy_prefill", "joule", r"J_\mathrm{pre}", "energy of a prefill, all devices"
)
energy_step = declare(
    "energy_step", "joule", r"J_\mathrm{dec}", "energy of a decode step, all devices"
)
energy_per_token = declare(
    "energy_per_token", "joule/token", "J", "device energy per output token, prefill included"
)
energy_at_limit = declare(
    "energy_at_limit",
    "joule/token",
    r"J_\mathrm{TDP}",
    "the same if the devices drew their power limit",
)
carbon_per_token = declare(
    "carbon_per_token", "gCO2e/token", "M", "operational emissions per output token"
)
carbon_at_limit = declare(
    "carbon_at_limit", "gCO2e/token", r"M_\mathrm{TDP}", "the same at the power limit"
)
cost_per_token = declare(
    "cost_per_token", "USD/token", r"\Pi", "price per output token, prefill included"
)
cost_per_input_token = declare(
    "cost_per_input_token", "USD/token", r"\Pi_\mathrm{in}", "price per prompt token, prefill alone"
)
