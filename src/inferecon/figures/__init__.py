"""Draw arrays: every function takes numbers that laws computed and returns a finished chart."""

from . import meaning
from .cloud import cloud
from .compare import bars, bounds, tornado
from .data import Column, renamed, table_of
from .derived import lines, regimes, stack, timeline
from .frame import MIME, figure, render, still
from .rates import latency_throughput, roofline
from .scatter import scatter

__all__ = [
    "MIME",
    "Column",
    "bars",
    "bounds",
    "cloud",
    "figure",
    "latency_throughput",
    "lines",
    "meaning",
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
