"""Chapters 5 and 6.  The roofline: how fast can a step be at best?

Arithmetic at peak rate hides behind traffic at peak bandwidth, or the other
way round; communication between devices sits between dependent operators and
is added.  On one device every time of this chapter is a lower bound: real
kernels reach a part of each peak, and the part is a matter of measurement.  On
several devices it bounds what ring collectives without overlap can do.
"""

from sympy import Piecewise

from .. import symbols as s
from ..law import Derivation, Eq, Law, Max

one = s.one_token
RIDGE_INTENSITY = Law(
    "RIDGE",
    Eq(s.ridge_intensity, s.peak_linear / s.hbm_bandwidth),
    "both bounds last equally long",
    "williams2009, sec. 3",
)
T_MATH_DECODE = Law(
    "TIME-MATH-DECODE",
    Eq(
        s.t_math_decode,
        one
        * s.group_batch
        / s.tp
        * (
            s.flop_linear / s.peak_linear
            + (s.flop_core_decode + s.flop_state + s.flop_head) / s.peak_native
        )
        + one * s.group_batch * s.mac * s.repeated_elements / s.peak_linear
        + Piecewise(
            (0, Eq(s.n_experts, 0)),
            (one * s.batch * s.flop_experts / (s.n_devices * s.peak_expert), True),
        ),
    ),
    "each operator at the peak of its number format",
    "williams2009, sec. 3",
)
T_MEMORY_DECODE = Law(
    "TIME-MEMORY-DECODE",
    Eq(s.t_memory_decode, s.decode_bytes_device / s.hbm_bandwidth),
    "traffic at peak bandwidth",
    "williams2009, sec. 3",
)
T_MATH_PREFILL = Law(
    "TIME-MATH-PREFILL",
    Eq(
        s.t_math_prefill,
        s.group_batch
        / s.tp
        * (
            s.isl * s.flop_linear / s.peak_linear
            + (s.isl * (s.flop_core_prefill + s.flop_state) + one * s.flop_head) / s.peak_native
        )
        + s.isl * s.group_batch * s.mac * s.repeated_elements / s.peak_linear
        + Piecewise(
            (0, Eq(s.n_experts, 0)),
            (s.batch * s.isl * s.flop_experts / (s.n_devices * s.peak_expert), True),
        ),
    ),
    "each operator at the peak of its number format",
    "williams2009, sec. 3",
)
T_MEMORY_PREFILL = Law(
    "TIME-MEMORY-PREFILL",
    Eq(s.t_memory_prefill, s.prefill_bytes_device / s.hbm_bandwidth),
    "traffic at peak bandwidth",
    "williams2009, sec. 3",
)
ITL = Law(
    "ITL",
    Eq(s.itl, Max(s.t_math_decode, s.t_memory_decode) + s.t_comm_decode),
    "the faster half hides behind the slower; communication is added",
    "williams2009, sec. 3; pope2023, sec. 2",
)
TTFT = Law(
    "TTFT",
    Eq(s.ttft, Max(s.t_math_prefill, s.t_memory_prefill) + s.t_comm_prefill),
    "prefill of the whole batch; no queue, no network",
    "williams2009, sec. 3; pope2023, sec. 2",
)
E2E = Law(
    "E2E",
    Eq(s.e2e, s.ttft + (s.osl / one - 1) * s.itl),
    "the first token, then one step for each of the others",
    "derived",
)
THROUGHPUT = Law(
    "THROUGHPUT",
    Eq(s.throughput, s.batch * s.osl / s.e2e),
    "output tokens of a static batch over its whole time",
    "derived",
)
THROUGHPUT_DEVICE = Law(
    "THROUGHPUT-DEVICE",
    Eq(s.throughput_device, s.throughput / s.n_devices),
    "the same for each device",
    "derived",
)
DECODE_THROUGHPUT = Law(
    "THROUGHPUT-DECODE",
    Eq(s.decode_throughput, one * s.batch / s.itl),
    "every sequence gains one token a step",
    "derived",
)
INTERACTIVITY = Law(
    "INTERACTIVITY",
    Eq(s.interactivity, one / s.itl),
    "tokens a second that one reader sees",
    "derived",
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]

# While memory-bound on one device, ITL is a floor from the weights and a slope from the cache.
MEMORY_BOUND = (
    Derivation.begin(ITL.eq, ITL.says)
    .when(s.t_memory_decode >= s.t_math_decode, "memory is the slower half")
    .put({s.t_comm_decode: 0}, "one device: nothing to exchange")
    .use(T_MEMORY_DECODE)
)
# The other way round: what a promise of ITL asks of the memory.
BANDWIDTH_FOR_ITL = MEMORY_BOUND.solve_for(
    s.hbm_bandwidth, "the bandwidth at which a step takes just that long"
)
# Dense decode at short context: the model size cancels.
RIDGE_BATCH = (
    Derivation.begin(Eq(s.t_math_decode, s.t_memory_decode), "both halves last equally long")
    .put(
        {
            s.t_math_decode: one * s.batch * s.mac * s.params_total / s.peak_linear,
            s.t_memory_decode: s.params_total * s.linear_width / s.hbm_bandwidth,
        },
        "one device, dense, cache and head small beside the weights",
        T_MATH_DECODE,
        T_MEMORY_DECODE,
    )
    .solve_for(s.batch, "the model size cancels")
)
RIDGE_BATCH_LAW = RIDGE_BATCH.law(
    "RIDGE-BATCH", "batch at which dense decode turns compute-bound", name=s.ridge_batch
)
LAWS.append(RIDGE_BATCH_LAW)

# What a stopwatch outside the engine can say about ITL.
TPOT = (
    Derivation.begin(E2E.eq, E2E.says)
    .solve_for(s.itl, "all that remains can be timed from outside")
    .rewrite(one * (s.e2e - s.ttft) / (s.osl - one), "with the signs turned")
)
# Two FLOP a weight and token, not the bytes of a weight.
TTFT_COMPUTE_BOUND = (
    Derivation.begin(TTFT.eq, TTFT.says)
    .when(s.t_math_prefill >= s.t_memory_prefill, "arithmetic is the slower half")
    .put({s.t_comm_prefill: 0}, "one device: nothing to exchange")
    .use(T_MATH_PREFILL)
    .put({s.tp: 1, s.group_batch: s.batch, s.n_experts: 0}, "one device, dense model")
    .put(
        {
            s.flop_linear: s.mac * s.params_total,
            s.flop_core_prefill: 0,
            s.flop_state: 0,
            s.flop_head: 0,
        },
        "short prompt: scores, state and head small beside the layers",
    )
)
