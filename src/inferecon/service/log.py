"""A log of requests, whichever tool wrote it: times in seconds, one element a request."""

import math
from dataclasses import dataclass, field

import numpy as np

ROUNDING = 1e-3  # relative; tools round what they print
TICK = 1e-3  # seconds; a log in milliseconds cannot be held to less


@dataclass
class Log:
    """Completed requests of a log, and what it states of itself.

    ``places`` names each request as its file does (line, or number in a list).  ``gaps`` are the
    times between tokens, or chunks of them, of all requests one after another, ``bounds`` where
    each begins and ends; both empty if the log has none, and ``worst`` the longest of each request
    if it states no more.  ``e2e`` is NaN where the log has no
    time of the last token.  ``others`` are arrivals of requests that failed, NaN where the log has
    none.  ``window`` is what the tool says it measured, NaN if it does not.
    ``stated`` are totals and means that can be held against the requests.  ``opening`` says that a
    chunk without a token comes before the first one, and is counted as it.
    """

    kind: str
    places: list[str]
    arrival: np.ndarray
    ttft: np.ndarray
    e2e: np.ndarray
    isl: np.ndarray
    osl: np.ndarray
    gaps: np.ndarray = field(default_factory=lambda: np.empty(0))
    bounds: np.ndarray = field(default_factory=lambda: np.empty(0, int))
    worst: np.ndarray = field(default_factory=lambda: np.empty(0))
    others: np.ndarray = field(default_factory=lambda: np.empty(0))
    window: float = math.nan
    stated: dict[str, float] = field(default_factory=dict)
    opening: bool = False

    @property
    def failed(self) -> int:
        return len(self.others)

    @property
    def has_gaps(self) -> bool:
        return len(self.bounds) > 0

    def summed(self) -> np.ndarray:
        """Time from first to last token of each request, by its gaps."""
        total = np.concatenate([[0.0], np.cumsum(self.gaps)])
        return total[self.bounds[1:]] - total[self.bounds[:-1]]

    def longest(self) -> np.ndarray:
        """Longest gap of each request; 0 where it has none, NaN where the log has none."""
        if not self.has_gaps:
            return self.worst if len(self.worst) else np.full(len(self.ttft), math.nan)
        if not len(self.gaps):
            return np.zeros(len(self.ttft))
        # one more, below all: requests without gaps at the end begin there, and take none away
        longest = np.maximum.reduceat(np.append(self.gaps, -math.inf), self.bounds[:-1])
        return np.where(np.diff(self.bounds) > 0, longest, 0.0)

    def ends(self) -> np.ndarray:
        """Time from arrival to last token: as the log has it, else by its gaps."""
        if not self.has_gaps:
            return self.e2e
        return np.where(np.isfinite(self.e2e), self.e2e, self.ttft + self.summed())


def joined(gaps: list) -> tuple[np.ndarray, np.ndarray]:
    """Return lists of gaps one after another, and where each begins and ends."""
    bounds = np.concatenate([[0], np.cumsum([len(one) for one in gaps])]).astype(int)
    flat = np.concatenate([np.asarray(one, float) for one in gaps]) if gaps else np.empty(0)
    return flat, bounds


def apart(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Say where two times differ by more than rounding."""
    return np.abs(found - expected) > np.maximum(TICK, ROUNDING * np.abs(expected))


def violations(log: Log) -> list[str]:
    """Name each request, and each total, that no run can have: identities that do not hold."""
    ends, found = log.ends(), []

    def name(wrong: np.ndarray, says) -> None:
        found.extend(f"{log.places[i]}: {says(i)}" for i in np.flatnonzero(wrong))

    name(log.ttft < 0, lambda i: f"its first token comes {-log.ttft[i]:.6g} s before its arrival")
    name(
        apart(ends, log.ttft) & (ends < log.ttft),
        lambda i: f"its last token comes {log.ttft[i] - ends[i]:.6g} s before its first",
    )
    name(
        (log.osl == 1) & (not log.opening) & apart(ends, log.ttft) & (ends > log.ttft),
        lambda i: f"one token, and {ends[i] - log.ttft[i]:.6g} s between the first and the last",
    )
    if log.has_gaps:
        number, summed = np.diff(log.bounds), log.summed()
        name(
            number > log.osl - (not log.opening),
            lambda i: (
                f"{number[i]} gap{'s' * int(number[i] > 1)} between "
                f"{log.osl[i]:.0f} token{'s' * int(log.osl[i] > 1)}"
            ),
        )
        name(
            np.isfinite(log.e2e) & apart(log.ttft + summed, log.e2e),
            lambda i: (
                f"TTFT {log.ttft[i]:.6g} s + gaps {summed[i]:.6g} s is not E2EL {log.e2e[i]:.6g} s"
            ),
        )
    worst = log.longest()
    name(
        apart(worst, ends - log.ttft) & (worst > ends - log.ttft),
        lambda i: f"a gap of {worst[i]:.6g} s in the {ends[i] - log.ttft[i]:.6g} s after the first",
    )
    # there are at most as many gaps as tokens after the first: the longest is no less than the mean
    number = np.maximum(log.osl - (not log.opening), 1)
    name(
        (log.osl > 1) & apart(worst * number, ends - log.ttft) & (worst * number < ends - log.ttft),
        lambda i: (
            f"{ends[i] - log.ttft[i]:.6g} s after the first of {log.osl[i]:.0f} tokens, and no gap "
            f"above {worst[i]:.6g} s"
        ),
    )
    return found + totals(log, ends)


def totals(log: Log, ends: np.ndarray) -> list[str]:
    """Hold what the log states of the whole run against its requests."""
    counted = {
        "requests completed": len(log.ttft),
        "input tokens": log.isl.sum(),
        "output tokens": log.osl.sum(),
        "TPS · window": log.osl.sum(),
        "RPS · window": len(log.ttft),
        "mean TTFT, s": log.ttft.mean() if len(log.ttft) else math.nan,
        "mean E2EL, s": ends.mean() if len(log.ttft) else math.nan,
    }
    return [
        f"{name}: {stated:.6g} stated, {counted[name]:.6g} by its requests"
        for name, stated in log.stated.items()
        if abs(stated - counted[name]) > ROUNDING * abs(counted[name])
    ]
