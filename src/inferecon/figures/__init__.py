"""Draw arrays: every function takes numbers that laws computed and returns an Altair chart."""

from .compare import bars, grouped, tornado
from .data import Column, renamed, table_of
from .derived import lines, regimes, stack, timeline
from .frame import MIME, PALETTE, figure, render, still
from .rates import latency_throughput, roofline
from .scatter import scatter

__all__ = [
    "MIME",
    "PALETTE",
    "Column",
    "bars",
    "figure",
    "grouped",
    "latency_throughput",
    "lines",
    "regimes",
    "render",
    "renamed",
    "roofline",
    "scatter",
    "stack",
    "still",
    "table_of",
    "timeline",
    "tornado",
]
