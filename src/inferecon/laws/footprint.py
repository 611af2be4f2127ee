"""Which carbon is charged, and whose water?

A grid has a mean and a margin, hours differ, and devices had to be made.  None of it
is in a scenario: the margin, the lifetime and the busy share are the reader's to choose,
and ``data/assumptions`` has published values for some of them.
"""

from .. import symbols as s
from ..law import Derivation, Eq, Law
from . import economics

MARGINAL = Law(
    "CARBON-MARGINAL",
    Eq(s.carbon_marginal, s.energy_per_token * s.pue * s.grid_marginal),
    "one more token, at the emissions of the plants that follow the load",
    "derived",
)
BY_HOUR = (
    Derivation.begin(
        Eq(s.carbon_hours, s.pue * s.n_hours * s.hour_product),
        "one product of energy and emissions an hour, added up: as many times their mean",
    )
    .put(
        {
            s.hour_product: s.hour_energy
            * s.grid_intensity
            * (1 + s.hour_correlation * s.energy_variation * s.grid_variation)
        },
        "the mean of a product is the product of the means and the covariance",
    )
    .put({s.hour_energy: s.hours_energy / s.n_hours}, "energy of the period over its hours")
)
HOURS = Law(
    "CARBON-HOURS",
    BY_HOUR.eq,
    "mean grid, corrected by how the load follows it; the mean is over the same hours",
    "derived",
)
EMBODIED_RATE = Law(
    "EMBODIED-RATE",
    Eq(s.embodied_rate, s.embodied_carbon / s.lifetime),
    "the making of a device, in equal parts over its time in service",
    "derived",
)
EMBODIED_TOKEN = Law(
    "EMBODIED-TOKEN",
    Eq(s.embodied_per_token, s.embodied_rate * s.device_time / s.busy_share),
    "device time of a token, and the idle time that goes with it",
    "derived",
)
EMBODIED_SHARE = Law(
    "EMBODIED-SHARE",
    Eq(s.embodied_share, s.embodied_per_token / (s.embodied_per_token + s.carbon_per_token)),
    "making over making and use",
    "derived",
)
GRID_EVEN = (
    Derivation.begin(
        Eq(s.carbon_per_token, s.embodied_per_token), "use emits as much as making did"
    )
    .use(economics.CARBON)
    .solve_for(s.grid_intensity, "the grid on which it does")
    .use(EMBODIED_TOKEN)
    .use(EMBODIED_RATE)
)
WATER = Law(
    "WATER-TOKEN",
    Eq(s.water_per_token, s.energy_per_token * (s.wue + s.pue * s.grid_water)),
    "the site evaporates for the devices, the plants for all that the facility draws",
    "derived",
)
EQUIVALENT = Law(
    "CARBON-EQUIVALENT",
    Eq(s.yardsticks, s.carbon_per_token / s.yardstick),
    "emissions over those of one thing that a reader knows",
    "derived",
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
