"""How long does one request wait for its first token, with and without overlap?

One prompt on one device; a prefix of it may be cached, and the rest may come in chunks.
"""

from sympy import ceiling

from .. import symbols as s
from ..law import Derivation, Eq, Law, Max
from . import latency

fresh = (1 - s.cached_share) * s.isl

CHUNKS = Law(
    "CHUNKS",
    Eq(s.chunks, ceiling(fresh / s.chunk_tokens)),
    "what is not cached, in passes of equal length",
    "agrawal2024, sec. 4",
)
UNCACHED_FLOP = Law(
    "FLOP-UNCACHED",
    Eq(
        s.uncached_flop,
        fresh * (s.flop_linear + s.flop_experts + s.flop_state)
        + (1 - s.cached_share**2) * s.isl * s.flop_core_prefill
        + s.one_token * s.flop_head,
    ),
    "layers for new tokens only; scores fill the triangle less that of the prefix, long prompt",
    "derived",
)
UNCACHED_MATH = Law(
    "TIME-MATH-UNCACHED",
    Eq(s.uncached_math, s.uncached_flop / s.peak_linear),
    "one device, all at the peak of its matrices",
    "williams2009, sec. 3",
)
UNCACHED_MEMORY = Law(
    "TIME-MEMORY-UNCACHED",
    Eq(s.uncached_memory, s.chunks * s.dense_read_device / s.hbm_bandwidth),
    "every pass reads the weights anew; dense model, caches small beside them",
    "agrawal2024, sec. 4",
)


def parts(prefill):
    """Time to first token of one request around its prefill."""
    return s.wait + s.tokenise_time + prefill + (s.chunks - 1) * s.chunk_pause + s.network_time


TTFT_LOWER = Law(
    "TTFT-REQUEST",
    Eq(s.ttft_lower, parts(Max(s.uncached_math, s.uncached_memory))),
    "queue, tokenisation, prefill of what is not cached, pauses between its chunks, network",
    "derived",
    holds=s.chunks >= 1,
)
TTFT_UPPER = Law(
    "TTFT-REQUEST-SUM",
    Eq(s.ttft_upper, parts(s.uncached_math + s.uncached_memory)),
    "the same with nothing hidden behind anything",
    "derived",
    holds=s.chunks >= 1,
)
ITL_UPPER = Law(
    "ITL-SUM",
    Eq(s.itl_upper, s.t_math_decode + s.t_memory_decode + s.t_comm_decode),
    "a step that overlaps nothing",
    "derived",
)
GAP = Law(
    "OVERLAP-GAP",
    Eq(s.overlap_gap, s.itl_upper / s.itl),
    "the sum over the maximum",
    "derived",
)
AT_MOST_TWO = (
    Derivation.begin(GAP.eq, GAP.says)
    .use(ITL_UPPER)
    .use(latency.ITL)
    .when(s.t_memory_decode >= s.t_math_decode, "memory is the slower half; or the letters change")
    .put({s.t_math_decode: s.t_memory_decode}, "at most: the other half grows to the same")
    .put({s.t_comm_decode: 0}, "at most: what both have in common is gone")
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
