"""What do prompt and answer cost apart, and what is added around the device?

``PHASES`` belongs to every scenario; ``AROUND`` needs what the reader states.
"""

from .. import symbols as s
from ..law import Derivation, Eq, Law
from . import economics

one, batch = s.one_token, s.batch

INPUT = Law(
    "ENERGY-INPUT-TOKEN",
    Eq(s.energy_per_input, s.energy_prefill / (batch * s.isl)),
    "a prefill over its prompt tokens",
    "derived",
)
STEP = Law(
    "ENERGY-STEP-TOKEN",
    Eq(s.energy_per_step_token, s.energy_step / (one * batch)),
    "a decode step over the tokens it makes",
    "derived",
)
ANY = Law(
    "ENERGY-ANY-TOKEN",
    Eq(
        s.energy_per_any,
        (s.energy_prefill + (s.osl / one - 1) * s.energy_step) / (batch * (s.isl + s.osl)),
    ),
    "one prefill and its decode steps, over prompt and answer tokens",
    "derived",
)
COST_STEP = Law(
    "COST-STEP-TOKEN",
    Eq(s.cost_per_step_token, s.n_devices * s.price * s.itl / (one * batch)),
    "devices are paid by the second, decode alone",
    "derived",
)
PHASES = [INPUT, STEP, ANY, COST_STEP]

NODE = Law(
    "ENERGY-NODE-TOKEN",
    Eq(s.energy_node, s.energy_per_token + s.host_power * s.device_time),
    "the devices by cause, and the rest of the node for as long as they are held",
    "derived",
)
FACILITY = Law(
    "ENERGY-FACILITY-TOKEN",
    Eq(s.energy_facility, s.pue * s.energy_node),
    "cooling and conversion in proportion to all equipment",
    "derived",
)
ARITHMETIC = Law(
    "ENERGY-ARITHMETIC",
    Eq(s.energy_arithmetic, s.flop_decode / s.flop_efficiency),
    "the third source document without its second factor; arithmetic alone",
    "third source document, energy formula",
)
AROUND = [NODE, FACILITY, ARITHMETIC]

# The bill of an answer token holds its prompt: phase by phase it is two bills.
ENERGY_SPLIT = (
    Derivation.begin(economics.ENERGY_PER_TOKEN.eq, economics.ENERGY_PER_TOKEN.says)
    .put(
        {
            s.energy_prefill: batch * s.isl * s.energy_per_input,
            s.energy_step: one * batch * s.energy_per_step_token,
        },
        "ENERGY-INPUT-TOKEN and ENERGY-STEP-TOKEN, solved for prefill and step",
    )
    .rewrite(
        s.energy_per_input * s.isl / s.osl + s.energy_per_step_token * (1 - one / s.osl),
        "the first answer token comes with the prefill",
    )
)
COST_SPLIT = (
    Derivation.begin(economics.COST.eq, economics.COST.says)
    .use(economics.DEVICE_TIME)
    .put({s.e2e: s.ttft + (s.osl / one - 1) * s.itl}, "prefill, then the steps")
    .put(
        {
            s.ttft: batch * s.isl * s.cost_per_input_token / (s.n_devices * s.price),
            s.itl: one * batch * s.cost_per_step_token / (s.n_devices * s.price),
        },
        "COST-INPUT-TOKEN and COST-STEP-TOKEN, solved for both times",
    )
    .rewrite(
        s.cost_per_input_token * s.isl / s.osl + s.cost_per_step_token * (1 - one / s.osl),
        "price, devices and batch cancel",
    )
)
