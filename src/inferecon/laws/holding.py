"""Rent it, rent it by leave, or own it: what does a device cost in a time?

Each way ends in the price of one device, which the laws of a rent take as they stand.
"""

from .. import symbols as s
from ..law import Derivation, Eq, Law
from . import renting

WORK_LOST = Law(
    "WORK-LOST",
    Eq(s.work_lost, s.residence / 2),
    "requests in flight have on average half of their stay behind them",
    "derived",
)
INTERRUPTION_TIME = Law(
    "INTERRUPTION-TIME",
    Eq(s.interruption_time, s.restart_time + s.work_lost),
    "until another device serves, and until it has done the same work again",
    "derived",
)
LOST_SHARE = Law(
    "LOST-SHARE",
    Eq(s.lost_share, s.preemption_rate * s.interruption_time),
    "interruptions of a time held, each as long as it costs",
    "derived",
    holds=s.preemption_rate * s.interruption_time < 1,
)
USEFUL_RATE = Law(
    "INTERRUPTION-RATE",
    Eq(s.interruption_rate, s.preemption_rate / (1 - s.lost_share)),
    "the same interruptions over the time that is left",
    "derived",
    holds=s.lost_share < 1,
)
SPOT_SHARE = (
    Derivation.begin(renting.SPOT.eq, renting.SPOT.says)
    .use(USEFUL_RATE)
    .put(
        {s.interruption_time: s.lost_share / s.preemption_rate},
        "LOST-SHARE, solved for the time",
        LOST_SHARE,
    )
    .rewrite(s.spot_price / (1 - s.lost_share), "every second is paid, some are kept")
)
CAPITAL = Law(
    "CAPITAL-RATE",
    Eq(s.capital_rate, s.capex * (1 / s.lifetime + s.interest / 2)),
    "written off in equal parts to nothing, with interest on the half that is tied up on average",
    "derived",
)
NODE_POWER = Law(
    "NODE-POWER",
    Eq(s.node_power, s.device_power + s.host_power),
    "the board, and its share of host, network and fans",
    "derived",
)
POWER = Law(
    "POWER-RATE",
    Eq(s.power_rate, s.electricity_price * s.pue * s.node_power),
    "the facility pays for the node and for its own cooling and conversion",
    "derived",
)
STAFF = Law(
    "STAFF-RATE",
    Eq(s.staff_rate, s.staff_share * s.wage),
    "persons for each device, paid in calendar time as the device is",
    "derived",
)
OWN = Law(
    "OWN-RATE",
    Eq(s.own_rate, s.capital_rate + s.power_rate + s.staff_rate),
    "capital, electricity, staff",
    "derived",
)
FIXED = Law(
    "OWN-FIXED",
    Eq(
        s.fixed_rate,
        s.capital_rate + s.staff_rate + s.electricity_price * s.pue * (s.idle_draw + s.host_power),
    ),
    "an own device at rest draws power, and is paid for",
    "derived",
)
RUNNING = Law(
    "OWN-RUNNING",
    Eq(s.running_rate, s.electricity_price * s.pue * (s.busy_power - s.idle_draw)),
    "what work adds to the bill of an own device is electricity",
    "derived",
    holds=s.busy_power >= s.idle_draw,
)
OWN_OR_RENT = Derivation.begin(
    Eq(s.needed_share * s.price, s.fixed_rate + s.needed_share * s.running_rate),
    "a device rented while it is needed costs as much as an own one",
).solve_for(s.needed_share, "the share of the time that it must be needed")
OWN_EVEN = Law(
    "OWN-EVEN",
    Eq(s.needed_even, OWN_OR_RENT.eq.rhs),
    "cost of rest, over what a second of need saves",
    "derived",
    holds=s.price >= s.fixed_rate + s.running_rate,
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
