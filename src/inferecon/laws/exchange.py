"""How long do tokens travel to their experts, and what of it can be hidden?

Last comes what the first source document charges for the seam, and by how much it errs.
"""

from .. import symbols as s
from ..law import Derivation, Eq, Law, Max

n, alpha, link = s.n_devices, s.link_latency, s.link_bandwidth
others = (n - 1) / n  # of what a device sends, a part stays with it

DEVICES_MET = Law(
    "DEVICES-MET",
    Eq(s.devices_met, n * (1 - (1 - 1 / n) ** s.top_k)),
    "a device holds none of k experts with probability 1 - 1/n each",
    "derived",
)
ALL_TO_ALL = Law(
    "ALL-TO-ALL",
    Eq(s.a2a_time, alpha + others * s.devices_met * s.message / link),
    "each token once to every device that holds an expert of it, all devices at once",
    "deepseekv3, sec. 3.2",
)
DISPATCH_COMBINE = Law(
    "DISPATCH-COMBINE",
    Eq(
        s.moe_exchange,
        2 * alpha
        + others
        * s.devices_met
        * s.own_tokens
        * s.element
        / s.one_token
        * s.hidden_size
        * (s.activation_width + s.reduce_width)
        / link,
    ),
    "activations to the experts, partial sums back: two all-to-alls",
    "deepseekv3, sec. 3.2",
)
OVERLAPPED = Law(
    "ITL-OVERLAPPED",
    Eq(s.itl_overlapped, Max(s.t_math_decode, s.t_memory_decode, s.t_comm_decode)),
    "the longest of three hides the others: a bound for any engine",
    "williams2009, sec. 2",
)
COMM_GAP = Law(
    "COMM-GAP",
    Eq(s.comm_gap, s.itl / s.itl_overlapped),
    "communication added over communication hidden",
    "derived",
)
COMM_TWO = (
    Derivation.begin(COMM_GAP.eq, COMM_GAP.says)
    .put(
        {
            s.itl: s.t_memory_decode + s.t_comm_decode,
            s.itl_overlapped: Max(s.t_memory_decode, s.t_comm_decode),
        },
        "memory is the slower half of the roofline; or the letters change",
    )
    .when(s.t_memory_decode >= s.t_comm_decode, "and slower than the links; or the letters change")
    .put({s.t_comm_decode: s.t_memory_decode}, "at most: both last equally long")
)
DOC1_COMM = Law(
    "DOC1-COMM",
    Eq(
        s.doc1_comm,
        2 * s.n_layers * s.message_decode / (s.hbm_bandwidth * s.bandwidth_share),
    ),
    "two messages a layer over the memory bandwidth, as the first source document has it",
    "first source document, sec. 1.2",
)
DOC1_RATIO = Law(
    "DOC1-COMM-RATIO",
    Eq(s.doc1_ratio, s.t_comm_decode / s.doc1_comm),
    "a ring over what that document charges",
    "derived",
)
DOC1_ERROR = (
    Derivation.begin(DOC1_RATIO.eq, DOC1_RATIO.says)
    .use(DOC1_COMM)
    .put(
        {s.t_comm_decode: 4 * s.n_layers * (s.tp - 1) * (alpha + s.message_decode / (s.tp * link))},
        "a ring all-reduce after each half of each layer",
    )
    .neglect(alpha, "large message: latency apart, the ratio is at least this")
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
