"""Draw arrays: every function takes numbers that laws computed and returns an Altair chart."""

from .compare import bars, grouped, tornado
from .derived import lines, regimes, stack, timeline
from .frame import MIME, PALETTE, figure, render, still
from .rates import latency_throughput, roofline

__all__ = [
    "MIME",
    "PALETTE",
    "bars",
    "figure",
    "grouped",
    "latency_throughput",
    "lines",
    "regimes",
    "render",
    "roofline",
    "stack",
    "still",
    "timeline",
    "tornado",
]
