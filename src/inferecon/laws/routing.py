"""How far from its mean can uniform routing be?

Each token draws k different experts of E, all sets of k alike, tokens independent.
Experts are spread evenly over the devices.
"""

from sympy import log, sqrt

from .. import symbols as s
from ..law import Derivation, Eq, Law, Min

MANY = s.n_experts >= 2

IDLE_ONE = Law(
    "IDLE-ONE",
    Eq(s.idle_one, (1 - s.top_k / s.n_experts) ** s.batch),
    "each token draws k others of E",
    "derived",
    holds=MANY,
)
IDLE_PAIR = Law(
    "IDLE-PAIR",
    Eq(
        s.idle_pair,
        ((1 - s.top_k / s.n_experts) * (1 - s.top_k / (s.n_experts - 1))) ** s.batch,
    ),
    "a token misses the one, and then the other among those left",
    "derived",
    holds=MANY,
)
SPREAD = Derivation.begin(
    Eq(
        s.experts_variance,
        s.n_experts * s.idle_one
        + s.n_experts * (s.n_experts - 1) * s.idle_pair
        - (s.n_experts * s.idle_one) ** 2,
    ),
    "the idle ones: mean square, from each and from each ordered pair, less the square of the mean",
).rewrite(
    s.n_experts * s.idle_one * (1 - s.idle_one)
    + s.n_experts * (s.n_experts - 1) * (s.idle_pair - s.idle_one**2),
    "as if independent, and what ties a pair",
)
VARIANCE = Law(
    "EXPERTS-VARIANCE",
    SPREAD.eq,
    "as many are touched as are not idle: the same variance",
    "derived",
    holds=MANY,
)
DRAWS = Law(
    "DEVICE-DRAWS",
    Eq(s.device_draws, s.batch * s.top_k / s.n_devices),
    "all draws of a step, over the devices",
    "derived",
)
DRAWS_VARIANCE = Law(
    "DEVICE-VARIANCE",
    Eq(
        s.device_variance,
        s.device_draws * (1 - 1 / s.n_devices) * (s.n_experts - s.top_k) / (s.n_experts - 1),
    ),
    "a token draws without putting back: hypergeometric, summed over tokens",
    "derived",
    holds=MANY,
)
FULLEST_SPREAD = Law(
    "FULLEST-SPREAD",
    Eq(s.fullest_spread, s.device_draws + sqrt(s.device_variance * (s.n_devices - 1))),
    "deviations from the mean add up to nothing, so the others share what the fullest has more",
    "derived",
)
FULLEST_TAIL = Law(
    "FULLEST-TAIL",
    Eq(
        s.fullest_tail,
        s.device_draws + sqrt(2 * s.device_draws * log(s.n_devices)) + log(s.n_devices) / 3,
    ),
    "one device in n is rarely far out: sub-gamma tails of independent draws",
    "boucheron2013, ch. 2",
)
IMBALANCE = Law(
    "IMBALANCE",
    Eq(s.imbalance, Min(s.fullest_spread, s.fullest_tail) / s.device_draws),
    "the better of both bounds, over the mean",
    "derived",
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
