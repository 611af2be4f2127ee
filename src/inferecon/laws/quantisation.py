"""How much faster does a narrower format make a model?

Amdahl's law over components: decode gains on the bytes that shrink, prefill on
the arithmetic that a faster matrix unit does, and what keeps its width or its
rate sets the limit.  Quality is not computed here.
"""

from sympy import Rational

from .. import symbols as s
from ..law import Derivation, Eq, Law

DECODE = Law(
    "QUANT-DECODE",
    Eq(
        s.quant_decode,
        (s.step_weights + s.step_caches) / (s.width_ratio * s.step_weights + s.step_caches),
    ),
    "only the weights shrink; memory-bound before and after",
    "amdahl1967, pp. 483-485",
)
AMDAHL = (
    Derivation.begin(DECODE.eq, DECODE.says)
    .put(
        {s.step_caches: s.step_weights * (1 - s.weight_share) / s.weight_share},
        "the share of the weights in the traffic",
    )
    .rewrite(
        1 / (s.width_ratio * s.weight_share + 1 - s.weight_share),
        "the usual form: the part that shrinks, and the rest",
    )
)
LIMIT = Derivation.begin(DECODE.eq, DECODE.says).neglect(
    s.width_ratio, "a format of no width: more than any format can do"
)
QUANT_LIMIT = Law(
    "QUANT-LIMIT",
    Eq(s.quant_limit, LIMIT.eq.rhs),
    "the caches are left, whatever the format of the weights",
    "derived",
)
BOTH = Law(
    "QUANT-BOTH",
    Eq(
        s.quant_both,
        (s.step_weights + s.step_caches)
        / (s.width_ratio * s.step_weights + s.cache_ratio * s.step_caches),
    ),
    "weights and cache shrink; memory-bound before and after",
    "derived",
)
PREFILL = Law(
    "QUANT-PREFILL",
    Eq(s.quant_prefill, 1 / (s.math_share / s.peak_ratio + 1 - s.math_share)),
    "the matrices run at another peak, the rest at the old one; compute-bound",
    "amdahl1967, pp. 483-485",
)
WEIGHT_ONLY = Derivation.begin(PREFILL.eq, PREFILL.says).put(
    {s.peak_ratio: 1}, "weights are unpacked and multiplied in the old format"
)
SIZE = Law(
    "QUANT-SIZE",
    Eq(s.size_ratio, s.quantised_share * s.width_ratio + 1 - s.quantised_share),
    "what is quantised shrinks, the rest keeps its width",
    "derived",
)
EIGHTH = (
    Derivation.begin(SIZE.eq, SIZE.says)
    .put({s.size_ratio: Rational(1, 8)}, "a model shrunk to an eighth")
    .solve_for(s.width_ratio, "the width that this takes")
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
