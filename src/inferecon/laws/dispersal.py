"""Chapter 14.  How long do tokens travel to experts that several nodes hold?

Inside a node a token goes over the scale-up links, between nodes over the
network that each device has a port of.  A prefill sends a token once to a
node, which passes it on; a decode step sends it straight to each device, since
a second hop costs latency.  While half of a batch travels, the other half is
worked on.  All devices send at once, each over its own port.
"""

from sympy import Piecewise, Rational

from .. import symbols as s
from ..law import Eq, Law, Max, Min

SHARP = 3  # a mean of this order stands for a maximum that real machines round off


def roof(*times):
    """Return the time of things that happen at once."""
    return sum(time**SHARP for time in times) ** Rational(1, SHARP)


n, k, nodes = s.n_devices, s.top_k, s.nodes
elsewhere = 1 - 1 / nodes  # share of the nodes that a device must reach over the network
met = Min(n, k)

NODES = Law(
    "NODES",
    Eq(s.nodes, Max(1, n / s.scale_up_size)),
    "a replica fills scale-up domains one after another",
    "derived",
)
NODES_MET = Law(
    "NODES-MET",
    Eq(s.nodes_met, nodes * (1 - (1 - 1 / nodes) ** k)),
    "a node holds none of k experts with probability 1 - 1/N each",
    "derived",
)
NETWORK_PREFILL = Law(
    "NETWORK-PREFILL",
    Eq(s.network_prefill, s.nodes_met * elsewhere),
    "once to each node that holds an expert of it, and there over the scale-up links",
    "deepseekv3, sec. 3.4.1",
)
NETWORK_DECODE = Law(
    "NETWORK-DECODE",
    Eq(s.network_decode, met * elsewhere),
    "straight to each device that holds an expert of it",
    "deepseekv3, sec. 3.4.2",
)
MICRO_BATCHES = Law(
    "MICRO-BATCHES",
    Eq(s.micro_batches, Piecewise((1, (nodes <= 1) | Eq(n, s.tp)), (2, True))),
    "beyond one node, half of a batch is worked on while the other half travels",
    "deepseekv3, sec. 3.4",
)


def exchange(message, crossing):
    """Time of a dispatch or a combine, their mean: ``message`` bytes of each device's tokens.

    A token goes out as activations and comes back as partial sums: the mean of both widths.
    ``crossing`` is how often it crosses the network.
    """
    width = (s.activation_width + s.reduce_width) / (2 * s.reduce_width)
    inside = message * met * width / (s.link_bandwidth * s.eff_link)
    between = message * crossing * width / (s.scale_out_bandwidth * s.eff_network)
    return Rational(3, 2) * s.collective_gap + Piecewise(
        (inside, nodes <= 1), (roof(inside / nodes, between), True)
    )


LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
