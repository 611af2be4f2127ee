"""What does a useful second cost, and when is a seller's token cheaper than an own one?"""

from .. import symbols as s
from ..law import Derivation, Eq, Law
from . import economics, latency

SPOT = Law(
    "SPOT-COST",
    Eq(s.spot_cost, s.spot_price * (1 + s.interruption_time * s.interruption_rate)),
    "each useful second pays for the interruptions expected in it",
    "derived",
)
SPOT_BALANCE = (
    Derivation.begin(
        Eq(s.price, s.spot_cost), "an interrupted device costs as much as an undisturbed one"
    )
    .use(SPOT)
    .solve_for(s.interruption_rate, "interruptions that take the discount away")
)
SPOT_EVEN = Law(
    "SPOT-EVEN",
    Eq(s.interruption_even, SPOT_BALANCE.eq.rhs),
    "what the discount buys, over what an interruption costs",
    "derived",
    holds=s.price > s.spot_price,
)
RENT = Law(
    "RENT-RATE",
    Eq(
        s.rent_rate,
        s.n_devices * s.price
        + s.memory_price * s.memory_rented
        + s.storage_price * s.storage_rented,
    ),
    "three rents, each for a second",
    "derived",
)
RENT_TOKEN = Law(
    "RENT-TOKEN",
    Eq(s.rent_per_token, s.rent_rate / s.throughput),
    "dollars in a second over tokens in a second",
    "derived",
)
HOSTED = Law(
    "HOST-TOKEN",
    Eq(s.hosted_per_token, s.cost_per_token / s.busy_share),
    "an idle device is paid like a busy one",
    "derived",
)
API = Law(
    "API-TOKEN",
    Eq(
        s.api_per_token,
        s.api_output
        + s.isl / s.osl * ((1 - s.cached_share) * s.api_input + s.cached_share * s.api_cached),
    ),
    "answer and prompt on one bill, over the tokens of the answer",
    "derived",
)
HOST_EVEN = (
    Derivation.begin(
        Eq(s.hosted_per_token, s.api_per_token), "an own token costs as much as a bought one"
    )
    .use(HOSTED)
    .solve_for(s.busy_share, "the share of the time that must be sold")
)
BUSY_EVEN = Law(
    "HOST-EVEN",
    Eq(s.busy_even, HOST_EVEN.eq.rhs),
    "cost of a token on a device that is always busy, over the bill of the API",
    "derived",
    holds=s.cost_per_token <= s.api_per_token,
)
# The same with the price of a device, for a buyer who knows the throughput.
HOST_THROUGHPUT = (
    Derivation.begin(Eq(s.busy_even, BUSY_EVEN.eq.rhs), BUSY_EVEN.says)
    .use(economics.COST)
    .use(economics.DEVICE_TIME)
    .put(
        {s.e2e: s.batch * s.osl / s.throughput},
        "THROUGHPUT, solved for the time",
        latency.THROUGHPUT,
    )
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
