"""What does a stopwatch outside the engine say, and when does it mislead?"""

from .. import symbols as s
from ..law import Derivation, Eq, Law
from . import latency

one = s.one_token
gaps = s.osl / one - 1

RPS = Law(
    "RPS",
    Eq(s.request_rate, s.batch / s.e2e),
    "a static batch ends together: its requests over its time",
    "derived",
)
TOKENS_REQUESTS = Derivation.begin(latency.THROUGHPUT.eq, latency.THROUGHPUT.says).put(
    {s.e2e: s.batch / s.request_rate}, "RPS, solved for the time"
)
TIMED = Law(
    "TPOT-TIMED",
    Eq(s.tpot, one * (s.e2e - s.ttft) / (s.osl - one)),
    "time between the first token and the last, over the gaps",
    "derived",
    holds=s.osl > one,
)
WITH_DRAFTS = (
    Derivation.begin(TIMED.eq, TIMED.says)
    .put(
        {s.e2e: s.ttft + gaps / s.tokens_per_step * s.verify_time},
        "a step yields several tokens, so there are fewer steps than gaps",
    )
    .rewrite(s.verify_time / s.tokens_per_step, "the length of the answer cancels")
)
TPOT_SPEC = Law(
    "TPOT-SPEC",
    Eq(s.tpot_spec, WITH_DRAFTS.eq.rhs),
    "a step over the tokens it yields: no gap that anyone sees",
    "derived",
)
ZERO_GAPS = Law(
    "ZERO-GAPS",
    Eq(s.zero_gaps, 1 - 1 / s.tokens_per_step),
    "of the tokens of a step one follows a wait, the others follow at once",
    "derived",
)
WITH_STALLS = (
    Derivation.begin(TIMED.eq, TIMED.says)
    .put(
        {s.e2e: s.ttft + gaps * s.itl + s.stalls * s.stall_time},
        "undisturbed steps, and the time in which none was made",
    )
    .rewrite(s.itl + one * s.stalls * s.stall_time / (s.osl - one), "spread over all gaps")
)
TPOT_STALL = Law(
    "TPOT-STALL",
    Eq(s.tpot_stalled, WITH_STALLS.eq.rhs),
    "stalls dealt out over an answer, where nobody waited for their mean",
    "derived",
    holds=s.osl > one,
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
