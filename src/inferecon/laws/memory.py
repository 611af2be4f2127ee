"""Chapter 7.  Does it fit, and how many sequences at once?"""

from sympy import Max, floor

from .. import symbols as s
from ..law import Derivation, Eq, Law
from .cache import KV_BYTES_DEVICE

AVAILABLE = Law(
    "MEMORY-AVAILABLE",
    Eq(s.memory_available, s.memory_fraction * s.memory_capacity),
    "an engine leaves a part for activations and its own buffers",
    "kwon2023, sec. 4",
)
NEEDED = Law(
    "MEMORY-NEEDED",
    Eq(s.memory_needed, s.weight_bytes_device + s.group_batch * s.kv_bytes_device),
    "weights, and the cache of every sequence at its last token",
    "derived",
)
LARGEST_BATCH = Law(
    "BATCH-LARGEST",
    Eq(
        s.largest_batch,
        s.n_devices
        / s.tp
        * Max(0, floor((s.memory_available - s.weight_bytes_device) / s.kv_bytes_device)),
    ),
    "what the weights leave, divided by one sequence, a group; nothing left holds none",
    "derived",
)

LAWS = [AVAILABLE, NEEDED, LARGEST_BATCH]

FIT = (
    Derivation.begin(Eq(s.memory_needed, s.memory_available), "the memory is just full")
    .use(NEEDED)
    .solve_for(s.group_batch, "the real batch is the whole number below")
    .use(AVAILABLE)
)
CONTEXT_FIT = (
    Derivation.begin(Eq(s.memory_needed, s.memory_available), "the memory is just full")
    .use(NEEDED)
    .use(KV_BYTES_DEVICE)
    .put({s.kv_device_local: 0, s.kv_csa: 0, s.state_elements: 0}, "no windows, no state")
    .solve_for(s.isl, "the longest prompt")
    .rewrite(
        (s.memory_available - s.weight_bytes_device)
        / (s.group_batch * s.kv_device_growing * s.kv_width)
        - s.osl,
        "the answer takes its share of the same room",
    )
)
