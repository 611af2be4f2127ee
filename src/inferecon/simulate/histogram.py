"""Percentiles of any number of times in a fixed memory: bins that each are a little wider.

A percentile is off by at most half the width of a bin, ``ERROR`` of the value; mean and maximum
are exact.
"""

import math

import numpy as np

WIDTH = 1.01  # of a bin: its end over its beginning
ERROR = (WIDTH - 1) / 2
LEAST, MOST = 1e-7, 1e8  # seconds
PER = 1 / math.log(WIDTH)
BINS = math.ceil(math.log(MOST / LEAST) * PER)


class Histogram:
    """Counts of times, zero among them, and their sum and maximum."""

    def __init__(self):
        self.bins = [0.0] * BINS
        self.zero = self.count = self.total = self.most = 0.0

    def add(self, value: float, weight: float = 1.0) -> None:
        """Count a time; one below a tenth of a microsecond is zero."""
        self.count += weight
        self.total += value * weight
        if value > self.most:
            self.most = value
        if value < LEAST:
            self.zero += weight
        else:
            self.bins[min(int(math.log(value / LEAST) * PER), BINS - 1)] += weight

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else math.nan

    def percentile(self, share: float) -> float:
        """Return the time that this share of all is not above, the middle of its bin."""
        if not self.count:
            return math.nan
        wanted = share * self.count
        if wanted <= self.zero:
            return 0.0
        place = int(np.searchsorted(np.cumsum(self.bins) + self.zero, wanted * (1 - 1e-12)))
        return min(LEAST * WIDTH ** (place + 0.5), self.most)

    def spread(self, percentiles: tuple[int, ...]) -> dict[str, float] | None:
        """Return mean, percentiles and maximum; None for no value."""
        if not self.count:
            return None
        named = {f"p{p}": self.percentile(p / 100) for p in percentiles}
        return {"mean": self.mean, **named, "max": self.most}
