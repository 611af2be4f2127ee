"""Whose is what a service takes?  Dollars, joules, grams and litres of one item.

An item is whatever is counted: a prompt token, an answer token, a request, a month.  Prefill
works for prompts and decode for answers, so each kind is charged the share of the busy time
that it took, and the same share of the waiting; a request and a month are charged all of it.
"""

from .. import symbols as s
from ..law import Derivation, Eq, Law
from . import renting

SERVICE_RATE = Law(
    "SERVICE-RATE",
    Eq(s.service_rate, s.replicas * s.rent_rate),
    "each replica rents its devices, its memory and its storage",
    "derived",
)
SHARE = Law(
    "CHARGED-SHARE",
    Eq(s.charged_share, s.phase_time / s.busy_time),
    "who is worked for pays for the waiting in proportion",
    "derived",
    holds=s.phase_time <= s.busy_time,
)
TIME = Law(
    "CHARGED-TIME",
    Eq(s.charged_time, s.replicas * s.n_devices * s.charged_share / s.item_rate),
    "its share of all devices, over the items of a time",
    "derived",
)
COST = Law(
    "CHARGED-COST",
    Eq(s.charged_cost, s.service_rate * s.charged_share / s.item_rate),
    "its share of all that is paid in a time, over the items of that time",
    "derived",
)
ENERGY = Law(
    "CHARGED-ENERGY",
    Eq(s.charged_energy, (s.phase_power + s.charged_share * s.rest_power) / s.item_rate),
    "its own steps, and its share of the waiting",
    "derived",
)
NODE = Law(
    "CHARGED-NODE",
    Eq(s.charged_node, s.charged_energy + s.host_power * s.charged_time),
    "the rest of the node for as long as devices are held",
    "derived",
)
SITE = Law(
    "CHARGED-SITE",
    Eq(s.charged_site, s.pue * s.charged_node),
    "cooling and conversion in proportion to all equipment",
    "derived",
)
CARBON = Law(
    "CHARGED-CARBON",
    Eq(s.charged_carbon, s.grid_intensity * s.charged_site),
    "all that the facility draws, at the emissions of its grid",
    "ghgprotocol2015, scope 2",
)
EMBODIED = Law(
    "CHARGED-EMBODIED",
    Eq(s.charged_embodied, s.embodied_rate * s.charged_time),
    "the making of devices, for as long as an item holds them",
    "derived",
)
WATER = Law(
    "CHARGED-WATER",
    Eq(s.charged_water, s.charged_node * (s.wue + s.pue * s.grid_water)),
    "the site evaporates for the nodes, the plants for all that the facility draws",
    "derived",
)
# The second source document's three terms, of one item and on one time base.
THREE_TERMS = (
    Derivation.begin(COST.eq, COST.says)
    .use(SERVICE_RATE)
    .use(renting.RENT)
    .put(
        {s.charged_share: s.charged_time * s.item_rate / (s.replicas * s.n_devices)},
        "CHARGED-TIME, solved for the share",
        TIME,
    )
    .rewrite(
        s.charged_time
        * (
            s.price
            + (s.memory_price * s.memory_rented + s.storage_price * s.storage_rented) / s.n_devices
        ),
        "a time, and what a device and its share of the rest cost in it",
    )
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
