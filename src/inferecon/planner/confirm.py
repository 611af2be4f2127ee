"""With how many replicas does a candidate keep the promise when it is simulated?"""

import math

from ..errors import BadInput
from ..simulate.apart import FirstHalves
from .ask import Ask
from .candidate import Candidate
from .trial import Confirmed, judged, refused

TRIES = 8


def confirm(ask: Ask, one: Candidate) -> Confirmed:
    """Return the fewest replicas that keep the promise, or what came nearest to it.

    Raises BadInput where nothing can be simulated.
    """
    if one.likely[0]:
        return _workers(ask, one)
    seen: dict[int, Confirmed] = {}

    def at(count: int) -> Confirmed:
        if count not in seen:
            seen[count] = judged(ask, one, (0, count))
        return seen[count]

    low, high, here = one.fewest[1] - 1, None, one.likely[1]
    for _ in range(TRIES):
        if at(here).keeps:
            high = here
        else:
            low = here
        if high is not None and high - low <= max(1, high // 50):
            break
        # down by a half of what is open, up by a tenth more each time
        here = (low + high) // 2 if high is not None else low + max(1, low // 10)
    best = seen[high] if high is not None else max(seen.values(), key=nearest)
    return _with_runs(best, seen)


def nearest(found: Confirmed) -> tuple[float, float]:
    """Rank those that failed: by the share that they kept, and by how far they are from full."""
    return found.good, -found.load


def _with_runs(best: Confirmed, seen: dict) -> Confirmed:
    """Return what was found with all the runs that led to it."""
    best.runs = len(seen)
    best.tried = {count: None if x.full else x.good for count, x in sorted(seen.items())}
    best.reached = max(x.reached for x in seen.values())
    return best


def _workers(ask: Ask, one: Candidate) -> Confirmed:
    """Find both numbers of workers: more where a limit is missed, fewer where none is."""
    seen: dict[tuple[int, int], Confirmed] = {}
    halves = FirstHalves()  # a number of prefill workers is tried with several that decode

    def at(pair: tuple[int, int]) -> Confirmed:
        if pair not in seen:
            seen[pair] = judged(ask, one, pair, halves)
        return seen[pair]

    pair = one.likely
    while not at(pair).keeps and len(seen) < TRIES:
        found = at(pair)
        if found.short:
            slow = found.short == "prefill" or (found.short == "link" and pair[0] <= pair[1])
        else:
            first = found.told["latency_s"]["ttft"]
            late = {x.name: x.seconds for x in ask.limits}
            slow = first is None or first["p95"] > late.get("ttft", math.inf)
        grow = max(1, pair[0] // 10), max(1, pair[1] // 10)
        pair = (pair[0] + grow[0], pair[1]) if slow else (pair[0], pair[1] + grow[1])
    if at(pair).keeps:
        for place in (0, 1):
            pair = _fewest(ask, one, pair, place, at)
    best = at(pair) if at(pair).keeps else max(seen.values(), key=nearest)
    return _with_runs(best, seen)


def _fewest(ask: Ask, one: Candidate, pair, place: int, at) -> tuple[int, int]:
    """Return a pair with the fewest workers of one kind that keep the promise.

    What is refused needs no run, so of the others the fewest are tried first, since near the most
    that can be served they keep what more would keep; after that half of what is open.
    """

    def less(count: int) -> tuple[int, int]:
        return (count, pair[1]) if place == 0 else (pair[0], count)

    some = range(max(one.fewest[place], 1), pair[place])
    open_ = [*(n for n in some if not refused(ask, one, less(n))), pair[place]]
    low, high, here = -1, len(open_) - 1, 0
    while high - low > 1:
        low, high = (low, here) if at(less(open_[here])).keeps else (here, high)
        here = (low + high) // 2
    return less(open_[high])


def confirmable(ask: Ask, one: Candidate) -> Confirmed | str:
    """Return what a simulation found, or the sentence that says why there is none."""
    try:
        return confirm(ask, one)
    except BadInput as mistake:
        return str(mistake)
