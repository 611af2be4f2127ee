"""Chapter 1b.  How many bytes do the weights take in a number format?

A format is a block: some elements, the scale they share, sometimes a scale of
scales.  Embedding, head, norms and routers keep their own width.
"""

from sympy import Max

from .. import symbols as s
from ..law import Derivation, Eq, Law
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
WEIGHT_BYTES_DEVICE = Law(
    "WEIGHT-BYTES-DEVICE",
    Eq(
        s.weight_bytes_device,
        (matrices + tables) / s.tp + s.params_experts * s.expert_byte_width / s.n_devices + rest,
    ),
    "matrices split tp ways, experts over all devices, vectors on each",
    "pope2023, sec. 3.2",
)

FORMAT_LAWS = [FORMAT_WIDTH]
LAWS = [WEIGHT_BYTES, EFFECTIVE_BITS, N_DEVICES, WEIGHT_BYTES_DEVICE]

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
