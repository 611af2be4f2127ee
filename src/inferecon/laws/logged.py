"""What does a log of requests say about a service?

A window has two ends and counts: what was finished between them, over the time between them.
"""

from .. import symbols as s
from ..law import Derivation, Eq, Law

TPS = Law(
    "TPS",
    Eq(s.tps, s.tokens_counted / s.logged_time),
    "output tokens between two instants, over the time between them",
    "first source document, sec. 1.2",
)
RPS = Law(
    "RPS-LOGGED",
    Eq(s.rps_logged, s.requests_done / s.logged_time),
    "completed requests over the same time; that document's Throughput is the same count",
    "first source document, sec. 1.2",
)
GOODPUT = Law(
    "GOODPUT-LOGGED",
    Eq(s.goodput_logged, s.requests_kept / s.logged_time),
    "only requests that met every part of the promise",
    "first source document, sec. 1.2; zhong2024, sec. 3.1",
)
TOKENS_EACH = Derivation.begin(TPS.eq, TPS.says).put(
    {s.logged_time: s.requests_done / s.rps_logged}, "RPS, solved for the time", RPS
)

LAWS = [TPS, RPS, GOODPUT]
