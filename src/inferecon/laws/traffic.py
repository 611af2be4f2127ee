"""Chapter 4.  How many bytes must move in a step, and which experts wake up?

A step reads every weight outside the experts once, the experts that its tokens
drew, and the cache of every sequence.  Activations stay on the chip.
"""

from sympy import Piecewise, ceiling

from .. import symbols as s
from ..law import Derivation, Eq, Law
from . import arithmetic, parameters


def distinct(tokens):
    """Expected number of distinct experts that ``tokens`` draws of k out of E touch."""
    return Piecewise(
        (0, Eq(s.n_experts, 0)),
        (s.n_experts * (1 - (1 - s.top_k / s.n_experts) ** tokens), True),
    )


EXPERTS_DECODE = Law(
    "EXPERTS-DECODE",
    Eq(s.experts_decode, distinct(s.batch)),
    "an expert stays idle with probability 1 - k/E a token, routing uniform",
    "derived",
)
EXPERTS_PREFILL = Law(
    "EXPERTS-PREFILL",
    Eq(s.experts_prefill, distinct(s.batch * s.isl / s.one_token)),
    "an expert stays idle with probability 1 - k/E a token, routing uniform",
    "derived",
)
GROUP_BATCH = Law(
    "GROUP-BATCH",
    Eq(s.group_batch, ceiling(s.batch * s.tp / s.n_devices)),
    "sequences are dealt out to the tensor-parallel groups",
    "deepseekv3, sec. 3.4",
)
DENSE_READ = Law(
    "READ-DENSE",
    Eq(
        s.dense_read_device,
        ((s.params_attention + s.params_dense) * s.linear_width + s.head_elements * s.table_width)
        / s.tp
        + s.repeated_elements * s.linear_width
        + (s.params_router + s.params_vectors) * s.vector_width,
    ),
    "every matrix outside the experts, and the head, once a step",
    "pope2023, sec. 2",
)
EXPERT_BYTES = Law(
    "EXPERT-BYTES-DEVICE",
    Eq(s.expert_bytes_layer_device, s.params_experts * s.expert_byte_width / s.n_devices),
    "a device's share of all experts",
    "derived",
)


def touched(experts):
    """Bytes of the experts touched; zero for a model without experts."""
    return Piecewise(
        (0, Eq(s.n_experts, 0)), (s.expert_bytes_layer_device * experts / s.n_experts, True)
    )


KV_READ = Law(
    "READ-KV",
    Eq(
        s.kv_read_device,
        s.kv_width
        * (
            s.kv_device_local * s.attended_window
            + s.element
            / s.one_token
            * (
                (s.n_full_layers - s.n_indexed_layers)
                * ceiling(s.n_kv_heads / s.tp)
                * (s.head_dim + s.v_head_dim)
                * s.context
                + s.n_indexed_layers
                * (
                    ceiling(s.n_kv_heads / s.tp) * (s.head_dim + s.v_head_dim) * s.attended_block
                    + s.block_index_dim * s.context
                )
                + s.n_mla_layers * (s.kv_lora_rank + s.qk_rope_head_dim) * s.attended_mla
                + s.n_index_layers * s.index_dim * s.context
                + (s.n_csa0_layers + s.n_csa4_layers + s.n_csa128_layers)
                * s.csa_head_dim
                * s.attended_csa
                + s.n_csa4_layers
                * (s.csa_head_dim * s.attended_csa4 + s.csa_index_dim * s.context / 4)
                + s.n_csa128_layers * s.csa_head_dim * s.context / 128
            )
        )
        + 2 * s.state_elements * s.state_width / s.tp,
    ),
    "what is attended to, the index keys of everything, state read and written",
    "derived",
)
DECODE_BYTES = Law(
    "BYTES-DECODE",
    Eq(
        s.decode_bytes_device,
        s.dense_read_device
        + touched(s.experts_decode)
        + s.group_batch
        * (s.kv_read_device + s.one_token * (s.kv_device_growing + s.kv_device_local) * s.kv_width),
    ),
    "fixed weights, experts drawn, cache read and one token written",
    "pope2023, sec. 2",
)
PREFILL_BYTES = Law(
    "BYTES-PREFILL",
    Eq(
        s.prefill_bytes_device,
        s.dense_read_device
        + touched(s.experts_prefill)
        + s.group_batch * s.isl * (s.kv_device_growing + s.kv_device_local) * s.kv_width,
    ),
    "fixed weights, experts drawn, cache written",
    "pope2023, sec. 2",
)
# Tensor parallelism splits matrices and heads; experts are spread over all devices.
DECODE_FLOP = Law(
    "FLOP-DECODE-DEVICE",
    Eq(
        s.decode_flop_device,
        s.one_token
        * (
            s.group_batch * (s.flop_linear + s.flop_state + s.flop_core_decode + s.flop_head) / s.tp
            + s.group_batch * s.mac * s.repeated_elements
            + s.batch * s.flop_experts / s.n_devices
        ),
    ),
    "a group's tokens over its devices, experts over all devices",
    "derived",
)
PREFILL_FLOP = Law(
    "FLOP-PREFILL-DEVICE",
    Eq(
        s.prefill_flop_device,
        s.group_batch
        * (s.isl * (s.flop_linear + s.flop_state + s.flop_core_prefill) + s.one_token * s.flop_head)
        / s.tp
        + s.group_batch * s.isl * s.mac * s.repeated_elements
        + s.batch * s.isl * s.flop_experts / s.n_devices,
    ),
    "all prompt tokens; the head scores one position a sequence",
    "derived",
)
INTENSITY = Law(
    "INTENSITY",
    Eq(s.intensity, s.decode_flop_device / s.decode_bytes_device),
    "FLOP done for each byte moved",
    "williams2009, sec. 3",
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]

# Experts alone, all of them touched: a batch E / k times that of a dense model is needed.
MOE_RIDGE = (
    Derivation.begin(
        Eq(
            s.one_token * s.batch * s.flop_experts / (s.n_devices * s.peak_expert),
            s.expert_bytes_layer_device / s.hbm_bandwidth,
        ),
        "all experts are touched, and both halves last equally long",
    )
    .use(arithmetic.FLOP_EXPERTS)
    .use(EXPERT_BYTES)
    .put(
        {s.params_experts: s.n_moe_layers * s.n_experts * s.expert_matrices},
        "experts without biases",
        parameters.EXPERTS,
    )
    .solve_for(s.batch, "layers, devices and the size of an expert cancel")
)
ALONE = Derivation.begin(
    Eq(s.experts_decode, s.n_experts * (1 - (1 - s.top_k / s.n_experts) ** s.batch)),
    "each of E experts is missed by one token with probability 1 - k/E, by b tokens with its power",
    laws=(EXPERTS_DECODE,),
).put({s.batch: 1}, "one token touches its k experts and no other")
