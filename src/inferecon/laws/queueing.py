"""What happens to latency when requests arrive at random?

A prefill worker serves one prompt after another: a queue.  A decode worker
takes every sequence in and becomes slower with each: no queue, but a batch
that depends on itself.  Little's law ties both to the arrivals.  Arrivals are
Poisson, service is first come, first served, and nobody gives up.
"""

from sympy import exp, log

from .. import symbols as s
from ..law import Derivation, Eq, Law
from . import latency, traffic

rho, mean, one = s.utilisation, s.service_time, s.one_token
STABLE = rho < 1

LITTLE = Law(
    "LITTLE",
    Eq(s.in_system, s.arrival_rate * s.residence),
    "what is inside is what arrives while one request stays",
    "little1961, p. 383",
)
UTILISATION = Law(
    "UTILISATION",
    Eq(s.utilisation, s.arrival_rate * s.service_time),
    "one server is as busy as the work that arrives; Little's law for the server",
    "bertsekas1992, utilisation factor",
)
# A request waits for the rest of the one being served, and for all that wait already.
POLLACZEK = (
    Derivation.begin(
        Eq(s.wait, s.residual_work + s.queue_length * mean),
        "a request waits for the rest of the one being served, and for all that wait before it",
        holds=STABLE,
    )
    .put({s.queue_length: s.arrival_rate * s.wait}, "Little's law for the queue", LITTLE)
    .put(
        {s.residual_work: s.arrival_rate * mean**2 * (1 + s.service_variation) / 2},
        "half the mean square of a service, as often as one arrives: long ones are met more often",
    )
    .solve_for(s.wait, "the wait stands on both sides")
    .put({s.arrival_rate: rho / mean}, "utilisation, solved for the arrivals", UTILISATION)
)
WAIT = Law(
    "WAIT-MG1",
    POLLACZEK.eq,
    "mean wait for one server, any service times",
    "bertsekas1992, M/G/1 system",
    holds=STABLE,
)
MEMORYLESS = POLLACZEK.put({s.service_variation: 1}, "exponential service times")
FIXED = POLLACZEK.put({s.service_variation: 0}, "equal service times")
WAIT_MEMORYLESS = Law(
    "WAIT-MM1",
    Eq(s.wait_memoryless, MEMORYLESS.eq.rhs),
    "mean wait with exponential service times",
    "derived",
    holds=STABLE,
)
WAIT_FIXED = Law(
    "WAIT-MD1",
    Eq(s.wait_fixed, FIXED.eq.rhs),
    "mean wait with equal service times: half of it",
    "derived",
    holds=STABLE,
)
TAIL = Law(
    "WAIT-TAIL",
    Eq(s.wait_tail, rho * exp(-(1 - rho) * s.wait_bound / mean)),
    "the server is busy, and then the wait is exponential, with exponential service times",
    "derived",
    holds=STABLE,
)
PERCENTILE = (
    Derivation.begin(
        Eq(log(s.wait_tail), log(rho) - (1 - rho) * s.wait_bound / mean),
        "the logarithm of both sides",
        laws=(TAIL,),
        holds=STABLE,
    )
    .solve_for(s.wait_bound, "the time that only this share waits longer than")
    .rewrite(mean * log(rho / s.wait_tail) / (1 - rho), "one logarithm of a quotient")
)
TTFT_LOADED = Law(
    "TTFT-LOADED",
    Eq(s.ttft_loaded, mean + s.wait),
    "the queue, then the prefill itself",
    "zhong2024, sec. 3.1",
)
PROMISE = (
    Derivation.begin(
        Eq(s.ttft_limit, mean + s.wait), "the mean is just what was promised", laws=(TTFT_LOADED,)
    )
    .use(WAIT)
    .solve_for(rho, "the utilisation at which it is")
    .rewrite(
        (s.ttft_limit - mean) / ((s.ttft_limit - mean) + mean * (1 + s.service_variation) / 2),
        "slack over slack and half the mean square",
    )
)
UTILISATION_LIMIT = Law(
    "UTILISATION-SLO",
    Eq(s.utilisation_limit, PROMISE.eq.rhs),
    "utilisation at which the mean time to first token breaks its promise",
    "derived",
    holds=s.ttft_limit > s.service_time,
)
MISS = Law(
    "SLO-MISS",
    Eq(s.slo_miss, exp(-(1 - rho) * s.ttft_limit / mean)),
    "queue and service together are exponential, with exponential service times",
    "derived",
    holds=STABLE,
)
GOODPUT = Law(
    "GOODPUT",
    Eq(s.goodput, s.arrival_rate * (1 - s.slo_miss)),
    "only what meets the promise counts",
    "first source document, sec. 1.2",
)

# A decode step is a straight line in the batch: weights once, caches each.
LINE = (
    Derivation.begin(latency.MEMORY_BOUND.eq, "memory-bound on one device")
    .use(traffic.DECODE_BYTES)
    .put({s.n_experts: 0, s.group_batch: s.batch}, "a dense model, one group")
    .put(
        {
            s.dense_read_device: s.itl_floor * s.hbm_bandwidth,
            s.kv_read_device: s.itl_slope * s.hbm_bandwidth
            - one * (s.kv_device_growing + s.kv_device_local) * s.kv_width,
        },
        "a name for what no sequence adds to, and for what each adds",
    )
    .rewrite(s.itl_floor + s.itl_slope * s.batch, "a floor and a slope")
)
FLOOR = Law(
    "ITL-FLOOR",
    Eq(s.itl_floor, s.dense_read_device / s.hbm_bandwidth),
    "weights once a step; dense model, one device, memory-bound",
    "derived",
)
SLOPE = Law(
    "ITL-SLOPE",
    Eq(
        s.itl_slope,
        (s.kv_read_device + one * (s.kv_device_growing + s.kv_device_local) * s.kv_width)
        / s.hbm_bandwidth,
    ),
    "one cache read, one token written",
    "derived",
)
TOKEN_RATE = Law(
    "TOKEN-RATE",
    Eq(s.token_rate, s.arrival_rate * s.osl),
    "every request asks for its answer",
    "derived",
)
CARRIED = s.token_rate * s.itl_slope < one
IN_FLIGHT = (
    Derivation.begin(
        Eq(s.batch_loaded, s.token_rate * s.itl_loaded / one),
        "Little's law: a request stays for its tokens, one inter-token latency each",
        laws=(LITTLE,),
        holds=CARRIED,
    )
    .put(
        {s.itl_loaded: s.itl_floor + s.itl_slope * (s.batch_loaded + 1)},
        "a sequence meets the mean batch, and itself",
    )
    .solve_for(s.batch_loaded, "the batch stands on both sides")
)
BATCH_LOADED = Law(
    "BATCH-LOADED",
    IN_FLIGHT.eq,
    "sequences in flight under continuous batching",
    "derived",
    holds=CARRIED,
)
UNDER_LOAD = (
    Derivation.begin(
        Eq(s.itl_loaded, s.itl_floor + s.itl_slope * (s.batch_loaded + 1)),
        "a sequence meets the mean batch, and itself",
    )
    .use(BATCH_LOADED)
    .rewrite(
        (s.itl_floor + s.itl_slope) / (1 - s.token_rate * s.itl_slope / one),
        "over one denominator",
    )
)
ITL_LOADED = Law(
    "ITL-LOADED",
    UNDER_LOAD.eq,
    "the step of a lone sequence over what the caches leave of the bandwidth",
    "derived",
    holds=CARRIED,
)
BATCH_LIMIT = Derivation.begin(
    Eq(s.itl_limit, s.itl_floor + s.itl_slope * s.batch), "the step lasts just what was promised"
).solve_for(s.batch, "the largest batch that keeps it")
BATCH_SLO = Law(
    "BATCH-SLO",
    Eq(s.batch_slo, BATCH_LIMIT.eq.rhs),
    "what the promise leaves above the floor, one slope a sequence",
    "derived",
    holds=s.itl_limit > s.itl_floor,
)
THROUGHPUT_SLO = Law(
    "THROUGHPUT-SLO",
    Eq(s.throughput_slo, one * s.batch_slo / s.itl_limit),
    "every sequence gains one token a step",
    "derived",
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
