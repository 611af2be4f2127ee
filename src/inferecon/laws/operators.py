"""Chapter 14.  How long does a step really take, operator by operator?

A roofline says what no machine can beat.  Here every operator gets a roofline
of its own, at the share of each peak that kernels reach, and what neither
arithmetic nor traffic explains gets a name: gaps between layers, launches by
the host, collectives, the scheduler.  The shares and gaps are constants; they
are fitted to measurements and never stand in a law as a number.

Two things that happen at once last as long as the cubic mean of both says:
equal to the longer one when they differ, a quarter longer when they are equal.
"""

from sympy import Piecewise

from .. import symbols as s
from ..law import Eq, Law
from . import drawn
from .communication import hidden_bytes
from .dispersal import exchange, roof

one = s.one_token
MOE = Eq(s.n_experts, 0)
halves = s.micro_batches


def filled(share, tokens):
    """Share of the peak that a matrix reaches when so many tokens meet it."""
    return share * tokens / (tokens + s.half_tokens)


GROUPS = Law(
    "GROUPS", Eq(s.groups, s.n_devices / s.tp), "a replica is dealt out to groups", "derived"
)
PREFILLED_GROUP = Law(
    "PREFILLED-GROUP",
    Eq(s.prefilled_group, Piecewise((1, s.prefilled <= s.groups), (s.prefilled / s.groups, True))),
    "prompts are dealt out to the groups, and a prompt is never divided",
    "derived",
)
HEAD_READ = Law(
    "READ-HEAD",
    Eq(s.head_read_device, s.head_elements * s.table_width / s.tp),
    "each device of a group holds its share of the vocabulary",
    "shoeybi2019, sec. 3",
)
CONTEXT_WALK = Law(
    "CONTEXT-WALK",
    Eq(
        s.context_walk,
        s.n_full_layers * s.context
        + s.n_mla_layers * s.attended_mla
        + s.n_local_layers * s.attended_window,
    ),
    "layers wait for each other, and each walks the context it attends to",
    "derived",
)


def linear(tokens):
    """Time of all matrices outside the experts and the head, for so many tokens of a group."""
    flop = tokens * (s.flop_linear / s.tp + s.mac * s.repeated_elements)
    return roof(
        flop / (s.peak_linear * filled(s.eff_matrix, tokens)),
        (s.dense_read_device - s.head_read_device) / (s.hbm_bandwidth * s.eff_weights),
    )


def head(sequences):
    """Time of the LM head, one position a sequence."""
    return roof(
        one
        * sequences
        * s.flop_head
        / s.tp
        / (s.peak_native * filled(s.eff_matrix, one * sequences)),
        s.head_read_device / (s.hbm_bandwidth * s.eff_weights),
    )


def experts(tokens, touched):
    """Time of the routed experts, for so many tokens of a replica that touch so many experts."""
    each = tokens * s.top_k / s.n_experts
    return Piecewise(
        (0, MOE),
        (
            roof(
                tokens
                * s.flop_experts
                / (s.n_devices * s.peak_expert * filled(s.eff_expert_matrix, each)),
                s.expert_bytes_layer_device
                * touched
                / s.n_experts
                / (s.hbm_bandwidth * s.eff_experts),
            ),
            True,
        ),
    )


def collectives(tokens, over_network):
    """Time of all collectives of a pass, for so many tokens of a group."""
    message = tokens * hidden_bytes
    link = s.link_bandwidth * s.eff_link
    ring = s.collective_gap + 2 * (s.tp - 1) / s.tp * message / link
    return Piecewise((0, Eq(s.tp, 1)), (s.allreduces * ring, True)) + Piecewise(
        (0, Eq(s.exchanges, 0)), (s.exchanges * exchange(message / s.tp, over_network), True)
    )


def each_half(operator, tokens, *more):
    """Time of an operator that is run once for each part of a batch."""
    return halves * operator(tokens / halves, *more)


def beside(work, communication):
    """Time of work and communication: one after the other, or at once if there are two parts."""
    return Piecewise((work + communication, Eq(halves, 1)), (roof(work, communication), True))


decoded, prompt = one * s.group_batch, s.prefilled_group * s.isl
OP_LINEAR_DECODE = Law(
    "OP-LINEAR-DECODE",
    Eq(s.op_linear_decode, each_half(linear, decoded)),
    "arithmetic at its share of the peak beside traffic at its share of the bandwidth",
    "williams2009, sec. 3",
)
OP_HEAD_DECODE = Law(
    "OP-HEAD-DECODE",
    Eq(s.op_head_decode, head(s.group_batch)),
    "every sequence is scored against the vocabulary",
    "williams2009, sec. 3",
)
OP_ATTENTION_DECODE = Law(
    "OP-ATTENTION-DECODE",
    Eq(
        s.op_attention_decode,
        roof(
            decoded
            * (s.flop_core_decode + s.flop_state)
            / s.tp
            / (s.peak_native * s.eff_attention),
            s.group_batch * s.kv_read_device / (s.hbm_bandwidth * s.eff_cache),
            s.context_walk * s.context_time,
        ),
    ),
    "arithmetic, traffic, and the walk along a long context that few heads cannot shorten",
    "williams2009, sec. 3",
)
OP_EXPERTS_DECODE = Law(
    "OP-EXPERTS-DECODE",
    Eq(s.op_experts_decode, each_half(experts, one * s.batch, s.experts_decode)),
    "the experts that the batch drew",
    "williams2009, sec. 3",
)
OP_COMM_DECODE = Law(
    "OP-COMM-DECODE",
    Eq(s.op_comm_decode, each_half(collectives, decoded, s.network_decode)),
    "every collective pays its latency and its bytes",
    "thakur2005, sec. 4",
)
OP_GAPS = Law(
    "OP-GAPS",
    Eq(
        s.op_gaps,
        s.step_gap + halves * (s.n_layers * s.layer_gap + s.n_moe_layers * s.expert_gap),
    ),
    "a gap each layer, one more where there are experts, one each step",
    "derived",
)
work = (
    s.op_linear_decode + s.op_head_decode + s.op_attention_decode + s.op_experts_decode + s.op_gaps
)
launches, host = s.n_layers * s.launch_decode, s.batch / s.nodes * s.sequence_gap
DECODE_TIME = Law(
    "DECODE-TIME",
    Eq(
        s.decode_time,
        Piecewise(
            (roof(work + s.op_comm_decode, launches) + host, Eq(halves, 1)),
            (roof(work, s.op_comm_decode, launches, host), True),
        ),
    ),
    "operators wait for each other, then the host of a node serves its sequences; or two parts of "
    "a batch take turns, and what one waits for hides behind the other",
    "derived",
)
OP_LINEAR_PREFILL = Law(
    "OP-LINEAR-PREFILL",
    Eq(s.op_linear_prefill, each_half(linear, prompt)),
    "the same for all prompt tokens",
    "williams2009, sec. 3",
)
OP_HEAD_PREFILL = Law(
    "OP-HEAD-PREFILL",
    Eq(s.op_head_prefill, head(s.prefilled_group)),
    "the last position of each prompt is scored",
    "williams2009, sec. 3",
)
OP_ATTENTION_PREFILL = Law(
    "OP-ATTENTION-PREFILL",
    Eq(
        s.op_attention_prefill,
        prompt * (s.flop_core_prefill + s.flop_state) / s.tp / (s.peak_native * s.eff_attention),
    ),
    "the causal triangle at its share of the peak",
    "williams2009, sec. 3",
)
OP_EXPERTS_PREFILL = Law(
    "OP-EXPERTS-PREFILL",
    Eq(s.op_experts_prefill, each_half(experts, s.prefilled * s.isl, s.n_experts)),
    "a prompt of any length draws nearly all experts",
    "williams2009, sec. 3",
)
OP_COMM_PREFILL = Law(
    "OP-COMM-PREFILL",
    Eq(s.op_comm_prefill, each_half(collectives, prompt, s.network_prefill)),
    "every collective pays its latency and its bytes",
    "thakur2005, sec. 4",
)
PREFILL_TIME = Law(
    "PREFILL-TIME",
    Eq(
        s.prefill_time,
        roof(
            beside(
                s.op_linear_prefill
                + s.op_head_prefill
                + s.op_attention_prefill
                + s.op_experts_prefill
                + s.op_gaps,
                s.op_comm_prefill,
            ),
            s.n_layers * s.launch_prefill,
        ),
    ),
    "operators wait for each other; the host launches them meanwhile",
    "derived",
)
# In a steady state every sequence that ends is replaced, so each of its steps shares one prefill.
share = drawn.share
SERVED_STEP = Law(
    "SERVED-STEP",
    Eq(s.served_step, s.decode_time + s.interleave * share * s.prefill_time),
    "a decode step, and the prefills of those who took the place of others",
    "derived",
)
SERVED_STEP_MEDIAN = Law(
    "SERVED-STEP-MEDIAN",
    Eq(s.served_step_median, s.decode_time + s.interleave_median * share * s.prefill_time),
    "the same as the median request sees it",
    "derived",
)
SERVED_THROUGHPUT = Law(
    "SERVED-THROUGHPUT",
    Eq(s.served_throughput, s.occupancy * one * s.batch / s.served_step),
    "every sequence gains one token a step, while the batch is full",
    "derived",
)
SERVED_FIRST = Law(
    "SERVED-FIRST",
    Eq(
        s.served_first,
        s.request_gap
        + s.decode_time
        + s.prefill_time * (1 + s.queue_share * (s.batch / s.groups - 1)),
    ),
    "the host, the step under way, the own prefill and a share of those of others",
    "derived",
)
STATIC_FIRST = Law(
    "STATIC-FIRST",
    Eq(s.static_first, s.request_gap + s.prefill_time),
    "a batch that starts together is prefilled together",
    "derived",
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)] + drawn.LAWS
