"""Chapter 14.  How much energy does a device draw in a step?

What it draws at rest, each FLOP and each byte, and never more than its limit.
"""

from sympy import Rational

from .. import symbols as s
from ..law import Eq, Law

one = s.one_token
# prompts that a step shares in a steady state: every sequence that ends is replaced
share = s.batch / s.groups * one / s.osl

decode_flop = s.decode_flop_device
cache = s.group_batch * s.kv_read_device
prefill_flop = (
    s.prefilled
    * (
        s.isl * (s.flop_linear + s.flop_state + s.flop_core_prefill + s.flop_experts)
        + one * s.flop_head
    )
    / s.n_devices
)
prefill_bytes = s.dense_read_device + s.expert_bytes_layer_device


def drawn(time, flop, traffic, cache=0):
    """Energy of a device in a time: never more than its power limit for as long."""
    free = s.idle_share * s.board_power * time + s.flop_energy * flop
    free += s.byte_energy * (traffic - cache) + s.cache_energy * cache
    most = s.board_power * time
    return free * most / (free**6 + most**6) ** Rational(1, 6)


ENERGY_DECODE_FIT = Law(
    "ENERGY-DECODE-FIT",
    Eq(s.energy_decode_fit, drawn(s.decode_time, decode_flop, s.decode_bytes_device, cache)),
    "rest, arithmetic and traffic of a decode step, below the power limit",
    "own measurement, data/measurements",
)
ENERGY_PREFILL_FIT = Law(
    "ENERGY-PREFILL-FIT",
    Eq(s.energy_prefill_fit, drawn(s.prefill_time, prefill_flop, prefill_bytes)),
    "the same of a prefill",
    "own measurement, data/measurements",
)
ENERGY_SERVED_FIT = Law(
    "ENERGY-SERVED-FIT",
    Eq(
        s.energy_served_fit,
        drawn(
            s.served_step,
            decode_flop + share / s.prefilled * s.groups * prefill_flop,
            s.decode_bytes_device,
            cache,
        ),
    ),
    "the same of a decode step with its share of prefills",
    "own measurement, data/measurements",
)
ENERGY_SERVED_TOKEN = Law(
    "ENERGY-SERVED-TOKEN",
    Eq(s.energy_served_token, s.n_devices * s.energy_served_fit / (one * s.batch)),
    "all devices of a replica draw it, and every sequence gains one token",
    "derived",
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
