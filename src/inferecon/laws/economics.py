"""Chapters 8 and 9.  What does a token cost in joules, grams and dollars?

Energy is a floor while the clock runs, plus a price for each FLOP and each
byte from memory; its constants are measured, device by device and, for
arithmetic, format by format.  Where
they were not measured, power limit times time is all there is: an estimate and
no bound, because the time is a lower bound and the power an upper one.
"""

from .. import symbols as s
from ..law import Derivation, Eq, Law
from . import latency
from .latency import T_MATH_DECODE, T_MATH_PREFILL

# Joules for seconds: arithmetic takes 1/P of time a FLOP and epsilon of energy a FLOP.
PER_FLOP = {
    s.peak_linear: 1 / s.energy_linear,
    s.peak_expert: 1 / s.energy_expert,
    s.peak_native: 1 / s.energy_native,
}


def energy(time, arithmetic, traffic):
    """Energy of all devices of a replica: rest, arithmetic and traffic."""
    return s.n_devices * (s.idle_draw * time + arithmetic + s.energy_per_byte * traffic)


tokens = s.batch * s.osl
steps = s.osl / s.one_token - 1
DEVICE_TIME = Law(
    "DEVICE-TIME",
    Eq(s.device_time, s.n_devices * s.e2e / tokens),
    "all devices of a replica, for the whole batch, over the tokens it made",
    "derived",
)
ARITHMETIC_PREFILL = Law(
    "ENERGY-MATH-PREFILL",
    Eq(s.arithmetic_prefill, T_MATH_PREFILL.eq.rhs.xreplace(PER_FLOP)),
    "each operator at the energy per FLOP of its number format",
    "own measurement, data/measurements",
)
ARITHMETIC_DECODE = Law(
    "ENERGY-MATH-DECODE",
    Eq(s.arithmetic_decode, T_MATH_DECODE.eq.rhs.xreplace(PER_FLOP)),
    "each operator at the energy per FLOP of its number format",
    "own measurement, data/measurements",
)
ENERGY_PREFILL = Law(
    "ENERGY-PREFILL",
    Eq(s.energy_prefill, energy(s.ttft, s.arithmetic_prefill, s.prefill_bytes_device)),
    "rest, arithmetic and traffic of a prefill",
    "own measurement, data/measurements",
)
ENERGY_STEP = Law(
    "ENERGY-STEP",
    Eq(s.energy_step, energy(s.itl, s.arithmetic_decode, s.decode_bytes_device)),
    "rest, arithmetic and traffic of a decode step",
    "own measurement, data/measurements",
)
ENERGY_PER_TOKEN = Law(
    "ENERGY-TOKEN",
    Eq(s.energy_per_token, (s.energy_prefill + steps * s.energy_step) / tokens),
    "one prefill and its decode steps, over the tokens they made",
    "derived",
)
ENERGY_AT_LIMIT = Law(
    "ENERGY-LIMIT",
    Eq(s.energy_at_limit, s.board_power * s.device_time),
    "the power limit for the whole time: what is left to say where nothing was measured",
    "derived",
)
CARBON = Law(
    "CARBON-TOKEN",
    Eq(s.carbon_per_token, s.energy_per_token * s.pue * s.grid_intensity),
    "device energy, the facility's share, the grid's emissions",
    "ghgprotocol2015, scope 2",
)
CARBON_AT_LIMIT = Law(
    "CARBON-LIMIT",
    Eq(s.carbon_at_limit, s.energy_at_limit * s.pue * s.grid_intensity),
    "device energy at the power limit, the facility's share, the grid",
    "ghgprotocol2015, scope 2",
)
COST = Law(
    "COST-TOKEN",
    Eq(s.cost_per_token, s.price * s.device_time),
    "devices are paid by the second, prefill included",
    "derived",
)
COST_INPUT = Law(
    "COST-INPUT-TOKEN",
    Eq(s.cost_per_input_token, s.n_devices * s.price * s.ttft / (s.batch * s.isl)),
    "devices are paid by the second, prefill alone",
    "derived",
)

LAWS = [
    law
    for law in list(globals().values())
    if isinstance(law, Law) and law not in (T_MATH_DECODE, T_MATH_PREFILL)
]

# What batching can save: the fixed part of a step is shared by all sequences.
STEP_ENERGY = (
    Derivation.begin(ENERGY_STEP.eq, ENERGY_STEP.says)
    .put({s.n_devices: 1}, "one device")
    .put(
        {s.itl: s.decode_bytes_device / s.hbm_bandwidth},
        "memory-bound",
        latency.ITL,
        latency.T_MEMORY_DECODE,
    )
    .rewrite(
        s.arithmetic_decode
        + (s.energy_per_byte + s.idle_draw / s.hbm_bandwidth) * s.decode_bytes_device,
        "a byte costs its own energy and the rest power while it moves",
    )
)
# A board cannot draw more than its limit: one more bound on a step, beside the roofline.
POWER_BOUND = (
    Derivation.begin(
        Eq(s.energy_step, s.n_devices * s.board_power * s.itl),
        "every board draws its power limit for the whole step",
    )
    .use(ENERGY_STEP)
    .solve_for(s.itl, "no step at this limit can be shorter")
)
COST_RATE = (
    Derivation.begin(COST.eq, COST.says)
    .use(DEVICE_TIME)
    .put(
        {s.e2e: s.batch * s.osl / s.throughput},
        "THROUGHPUT, solved for the time",
        latency.THROUGHPUT,
    )
    .put(
        {s.throughput: s.n_devices * s.throughput_device},
        "THROUGHPUT-DEVICE, likewise",
        latency.THROUGHPUT_DEVICE,
    )
)
