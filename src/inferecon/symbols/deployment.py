"""What a model runs on and with: number format, hardware, assumptions, workload."""

from .glossary import declare, section

# fmt: off  (a dictionary: one symbol a line)

section("Number format")
element_width = declare("element_width", "byte/elem", r"w_e", "bytes of the element itself")
block_size = declare("block_size", "elem", r"n_b", "elements that share a scale")
block_overhead = declare("block_overhead", "byte", r"o_b", "scale and zero point of a block")
super_overhead = declare("super_overhead", "byte", r"o_s", "second-level scale")
super_size = declare("super_size", "", r"n_s", "blocks that share a second-level scale")
format_width = declare("format_width", "byte/elem", "w", "bytes per element, scales included")
linear_width = declare(
    "linear_width", "byte/elem", r"w_\mathrm{lin}", "width of the layers' matrices"
)
expert_byte_width = declare("expert_byte_width", "byte/elem", r"w_E", "width of the routed experts")
table_width = declare("table_width", "byte/elem", r"w_\mathrm{tab}", "width of embedding and head")
vector_width = declare("vector_width", "byte/elem", r"w_v", "width of norms, biases and routers")
activation_width = declare(
    "activation_width", "byte/elem", r"w_a", "width of activations on the link"
)
kv_width = declare("kv_width", "byte/elem", r"w_{kv}", "width of the KV cache")
state_width = declare("state_width", "byte/elem", r"w_\mathrm{st}", "width of recurrent state")

section("Hardware")
peak_flops = declare("peak_flops", "FLOP/s", "P", "dense peak rate of one device")
peak_linear = declare(
    "peak_linear", "FLOP/s", r"P_\mathrm{lin}", "peak rate of the layers' matrices"
)
peak_expert = declare("peak_expert", "FLOP/s", r"P_E", "peak rate of the routed experts")
peak_native = declare("peak_native", "FLOP/s", r"P_{16}", "peak rate of attention and head")
hbm_bandwidth = declare("hbm_bandwidth", "byte/s", "B", "peak memory bandwidth of one device")
memory_capacity = declare("memory_capacity", "byte", "C", "memory of one device")
link_bandwidth = declare(
    "link_bandwidth", "byte/s", r"B_\ell", "scale-up link, one direction, a device"
)
scale_up_size = declare("scale_up_size", "", r"n_\mathrm{max}", "devices in a scale-up domain")
scale_out_bandwidth = declare(
    "scale_out_bandwidth", "byte/s", r"B_o", "network of one device, one direction"
)
host_bandwidth = declare("host_bandwidth", "byte/s", r"B_h", "link to the host, one direction")
board_power = declare("board_power", "joule/second", r"P_\mathrm{TDP}", "power limit of one device")
idle_power = declare("idle_power", "joule/second", r"P_0", "power of one device at rest")
all_in_power = declare(
    "all_in_power", "joule/second", r"P_\mathrm{all}", "power with its share of the server"
)
measured_matmul_flops = declare(
    "measured_matmul_flops", "FLOP/s", r"\tilde P", "fastest matmul measured"
)
measured_allreduce_bandwidth = declare(
    "measured_allreduce_bandwidth", "byte/s", r"\tilde B_\ell", "bus bandwidth measured"
)

section("Assumptions")
memory_fraction = declare("memory_fraction", "", r"\phi", "share of memory for weights and cache")
link_latency = declare("link_latency", "second", r"\alpha", "latency of one step of a collective")
idle_draw = declare(
    "idle_draw", "joule/second", r"P_\mathrm{idle}", "power of a device that holds a context"
)
energy_per_flop = declare("energy_per_flop", "joule/FLOP", r"\varepsilon_F", "energy of one FLOP")
energy_per_byte = declare(
    "energy_per_byte", "joule/byte", r"\varepsilon_Q", "energy of one byte from memory"
)
pue = declare("pue", "", r"\mathrm{PUE}", "facility energy over device energy")
grid_intensity = declare("grid_intensity", "gCO2e/joule", r"\kappa", "emissions of the grid")
price = declare("price", "USD/second", r"\pi", "price of one device")

section("Workload")
batch = declare("batch", "", "b", "sequences served together")
isl = declare("isl", "token", r"S_\mathrm{in}", "input sequence length")
osl = declare("osl", "token", r"S_\mathrm{out}", "output sequence length")
tp = declare("tp", "", r"n_\mathrm{tp}", "devices that share each matrix (tensor parallel)")
ep = declare("ep", "", r"n_\mathrm{ep}", "devices that share the experts (expert parallel)")
n_devices = declare("n_devices", "", "n", "devices of one replica")
context = declare("context", "token", "S", "tokens attended to in a mean decode step")
group_batch = declare("group_batch", "", r"b_g", "sequences of one tensor-parallel group")
