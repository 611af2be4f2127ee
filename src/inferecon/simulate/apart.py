"""Prefill on some workers, decode on others, and the links that caches cross in between.

A cache crosses when two links are free: the one out of its worker and the one into the worker
that decodes it.  Each carries one cache after the other, in the order in which prompts are done.

Who prefills knows nothing of who decodes.  So the first half of a run is the same whatever the
second is: ``FirstHalves`` keeps it for whoever looks for a number of workers that decode.
A cache that waits for a link, or for a place in a batch, takes memory where it waits.  Nobody is
kept waiting for that memory here; its peak is counted, and a run says if there is less.
"""

import copy
import math
from collections import deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush

from .arrivals import Piece
from .fleet import finish, offer, requests, router
from .replica import Replica
from .tally import Request, Tally

FEW = 8  # halves that are kept
# Time of the first token, number, worker, bytes it holds then, request.
Done = tuple[float, int, int, float, Request]


def prefilled(
    workers: list[Replica], route: str, pieces: Iterator[Piece], gap: float, tally: Tally
) -> Iterator[tuple[float, list[Done]]]:
    """Yield requests with their first token as they are done, and until when these are all."""
    done: list[Done] = []

    def hands_over(worker: Replica, place: int) -> Callable[[Request, float], None]:
        def leaves(request: Request, time: float) -> None:
            if request.osl > 1:
                heappush(done, (time, request.number, place, worker.claimed, request))
            else:
                tally.finished(request, time)

        return leaves

    for place, worker in enumerate(workers):
        worker.leaves = hands_over(worker, place)
    choose = router(workers, route)

    def until(time: float) -> Iterator[Done]:
        while done and done[0][0] <= time:
            yield heappop(done)

    for some in requests(pieces):
        tally.sent += len(some)
        for request in some:
            offer(choose(request.arrival), request, request.arrival + gap)
        last = some[-1].arrival
        for worker in workers:
            worker.run(last)
        yield last, list(until(last))
    finish(workers)
    yield math.inf, list(until(math.inf))


class Links:
    """One link out of each worker that prefills, one into each that decodes."""

    def __init__(self, out: int, into: int, seconds: Callable[[float], float]):
        self.out, self.into = [0.0] * out, [0.0] * into
        self.seconds, self.known = seconds, {}

    def crossed(self, time: float, tokens: int, begin: int, end: int) -> float:
        """Return when a cache is over that could set out at a time."""
        if tokens not in self.known:
            self.known[tokens] = self.seconds(tokens)
        over = max(time, self.out[begin], self.into[end]) + self.known[tokens]
        self.out[begin] = self.into[end] = over
        return over


class Held:
    """Bytes on each worker that prefills: of caches that are not over yet, and of prompts."""

    def __init__(self, workers: int, tally: Tally):
        self.queues = [deque() for _ in range(workers)]
        self.bytes, self.tally = [0.0] * workers, tally

    def add(self, place: int, since: float, over: float, size: float, claimed: float) -> None:
        """Count a cache until it is over; ``claimed`` is what prompts took since it was begun."""
        queue = self.queues[place]
        while queue and queue[0][0] <= since:
            self.bytes[place] -= queue.popleft()[1]
        queue.append((over, size))
        self.bytes[place] += size
        self.tally.held(0, self.bytes[place] + claimed)


def decoded(
    halves: Iterator[tuple[float, list[Done]]],
    workers: list[Replica],
    route: str,
    links: Links,
    tally: Tally,
) -> None:
    """Carry caches over the links and decode them, until all are answered."""
    onward, held = router(workers, route), Held(len(links.out), tally)
    places = {id(worker): place for place, worker in enumerate(workers)}
    size, warmed = workers[0].steps.bytes, False
    for until, some in halves:
        warmed = warmed or any(number >= tally.warm for _, number, *_ in some)
        tally.measuring = warmed  # whoever prefills is ahead
        for time, _, place, claimed, request in some:
            worker = onward(time)
            over = links.crossed(time, request.isl, place, places[id(worker)])
            held.add(place, request.admitted, over, size(request.isl), claimed)
            offer(worker, request, over)
        if until < math.inf:
            for worker in workers:
                worker.run(until)
    finish(workers)


def rest(workers: list[Replica], clock: float) -> None:
    """Let workers wait until a time."""
    for worker in workers:
        if worker.clock < clock:
            worker.tally.rested(clock - worker.clock, worker.steps.idle_power)
            worker.clock = clock


class FirstHalves:
    """First halves of runs, each by what it was made of: workers, and the load on them.

    The last few are kept, without what came of them in the second half.
    """

    def __init__(self):
        self.kept: dict = {}

    def half(
        self, key, workers: list[Replica], made: Iterator[tuple[float, list[Done]]], tally: Tally
    ) -> Iterator[tuple[float, list[Done]]]:
        """Yield a half as it was made before, with all that it had counted; else make it."""
        if key not in self.kept:
            whole = list(made)
            self.kept[key] = whole, copy.deepcopy(tally), [worker.clock for worker in workers]
            if len(self.kept) > FEW:
                del self.kept[next(iter(self.kept))]
        whole, counted, clocks = self.kept[key]
        tally.go_on(counted)
        for worker, clock in zip(workers, clocks, strict=True):
            worker.clock = clock
        for until, some in whole:
            yield until, [(*x, one.with_first_token()) for *x, one in some]
