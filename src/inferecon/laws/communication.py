"""Chapter 5.  What does it cost to spread a model over several devices?

The alpha-beta model: a collective pays a latency a step and its bytes at the
speed of the link.  The collectives are plain rings that wait for their result:
what is smaller than these times was overlapped, or done in the network.  They
hold inside one scale-up domain; beyond it the link is another one, and this
edition refuses to guess.
"""

from sympy import Piecewise, ceiling, log

from .. import symbols as s
from ..law import Derivation, Eq, Law

hidden_bytes = s.element / s.one_token * s.hidden_size * s.reduce_width
MESSAGE_DECODE = Law(
    "MESSAGE-DECODE",
    Eq(s.message_decode, s.one_token * s.group_batch * hidden_bytes),
    "one activation vector a sequence",
    "pope2023, sec. 3.2",
)
MESSAGE_PREFILL = Law(
    "MESSAGE-PREFILL",
    Eq(s.message_prefill, s.isl * s.group_batch * hidden_bytes),
    "one activation vector a prompt token",
    "pope2023, sec. 3.2",
)
mixer_layers = (
    s.n_full_layers
    + s.n_local_layers
    + s.n_mla_layers
    + s.n_csa0_layers
    + s.n_csa4_layers
    + s.n_csa128_layers
    + s.n_gdn_layers
    + s.n_kda_layers
    + s.n_lightning_layers
    + s.n_mamba_layers
)
ALLREDUCES = Law(
    "ALLREDUCES",
    Eq(
        s.allreduces,
        mixer_layers
        + s.n_dense_layers
        + Piecewise((s.n_moe_layers, Eq(s.n_devices, s.tp)), (0, True)),
    ),
    "one after each mixer and one after each MLP",
    "shoeybi2019, sec. 3",
)
EXCHANGES = Law(
    "EXCHANGES",
    Eq(
        s.exchanges,
        Piecewise((0, Eq(s.n_devices, s.tp)), (2 * s.n_moe_layers, True)),
    ),
    "dispatch and combine, when groups hold different tokens",
    "deepseekv3, sec. 3.4",
)


def collectives(message):
    """Ring all-reduces inside a group, all-to-alls over all devices of a replica."""
    n, groups = s.tp, s.n_devices
    ring = 2 * (n - 1) * (s.link_latency + message / (n * s.link_bandwidth))
    # A token goes once to each device that holds one of its k experts; dispatch carries
    # activations, combine carries partial sums, so an exchange is their mean.
    devices_met = groups * (1 - (1 - 1 / groups) ** s.top_k)
    share = message / s.tp * devices_met * (1 + s.activation_width / s.reduce_width) / 2
    exchange = s.link_latency + (groups - 1) * share / (groups * s.link_bandwidth)
    return Piecewise((0, Eq(n, 1)), (s.allreduces * ring, True)) + Piecewise(
        (0, Eq(groups, n)), (s.exchanges * exchange, True)
    )


T_COMM_DECODE = Law(
    "COMM-DECODE",
    Eq(s.t_comm_decode, collectives(s.message_decode)),
    "ring all-reduces, and all-to-alls between groups",
    "thakur2005, sec. 4",
)
T_COMM_PREFILL = Law(
    "COMM-PREFILL",
    Eq(s.t_comm_prefill, collectives(s.message_prefill)),
    "ring all-reduces, and all-to-alls between groups",
    "thakur2005, sec. 4",
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]

# Below this many sequences a ring waits for its steps, above it for its bytes.
MESSAGE_BALANCE = (
    Derivation.begin(
        Eq(s.link_latency, s.message_decode / (s.tp * s.link_bandwidth)),
        "latency and transfer of one ring step last equally long",
    )
    .use(MESSAGE_DECODE)
    .solve_for(s.group_batch, "the batch at which they do")
)

# Collectives one by one, for a message of any size; no scenario states one.
n, q = s.tp, s.message
P2P = Law(
    "P2P",
    Eq(s.p2p_time, s.link_latency + q / s.link_bandwidth),
    "one latency, and the bytes at the speed of the link",
    "thakur2005, cost model",
)
GATHER = Law(
    "ALL-GATHER",
    Eq(s.gather_time, (n - 1) * (s.link_latency + q / (n * s.link_bandwidth))),
    "a ring passes each device's share on until all have all of the message",
    "thakur2005, sec. 4",
)
RING = Law(
    "RING",
    Eq(s.ring_time, 2 * (n - 1) * (s.link_latency + q / (n * s.link_bandwidth))),
    "a reduce-scatter and an all-gather, each in a ring",
    "thakur2005, sec. 4",
)
TREE_DEPTH = Law(
    "TREE-DEPTH",
    Eq(s.tree_depth, ceiling(log(n) / log(2))),
    "each level doubles the devices reached",
    "derived",
)
TREE = Law(
    "TREE",
    Eq(s.tree_time, 2 * s.tree_depth * (s.link_latency + q / s.link_bandwidth)),
    "the whole message up the levels of a tree and down again",
    "thakur2005, sec. 4",
)
TREE_EVEN = (
    Derivation.begin(Eq(s.ring_time, s.tree_time), "both last equally long")
    .use(RING)
    .use(TREE)
    .solve_for(q, "what the link moves in one latency, times a number of the devices alone")
)
TREE_MESSAGE = Law(
    "TREE-MESSAGE",
    Eq(s.tree_message, TREE_EVEN.eq.rhs),
    "message below which the tree is faster",
    "derived",
    holds=n > 2,
)
COLLECTIVES = [P2P, GATHER, RING, TREE_DEPTH, TREE, TREE_MESSAGE]
