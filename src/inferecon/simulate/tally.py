"""What is counted while a service runs: requests, tokens, gaps, batches, time, energy."""

from collections import defaultdict
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field

from ..service.promise import Limit
from .arrivals import Changed
from .histogram import Histogram


class Request:
    """One request on its way; times in seconds, lengths in tokens.

    ``made`` counts the tokens that it has, ``left`` those that are to be prefilled, ``held`` the
    bytes it claims meanwhile; ``longest`` is its longest gap so far, ``last`` the time of its last
    token before it was put out of the batch.
    """

    __slots__ = (
        "number", "arrival", "isl", "osl", "made", "admitted", "first", "last", "longest",
        "joined", "serial", "left", "held",
    )  # fmt: skip

    def __init__(self, number: int, arrival: float, isl: float, osl: float):
        self.number, self.arrival, self.isl, self.osl = number, arrival, int(isl), int(osl)
        self.made = self.joined = self.serial = self.left = 0
        self.admitted = self.first = self.last = -1.0
        self.longest = self.held = 0.0

    def with_first_token(self) -> "Request":
        """Return the same request as it left its prefill, to be decoded another time."""
        other = Request(self.number, self.arrival, self.isl, self.osl)
        other.made, other.admitted, other.first = self.made, self.admitted, self.first
        return other


@dataclass
class Tally:
    """Sums over a run.  Requests below ``warm`` are served, and not measured.

    ``blocks`` are mean waits over twentieths of the requests, by their number: a queue that
    grows is seen in them.
    """

    count: int
    warm: int = 0
    limits: list[Limit] = field(default_factory=list)
    watch: int = 0
    log: Callable[[list], object] | None = None  # takes a line of each request that is done

    def __post_init__(self):
        names = ("ttft", "itl", "gap", "e2e", "wait")
        self.latency = {name: Histogram() for name in names}
        self.batches: dict[int, float] = defaultdict(float)  # seconds at each batch
        self.sent = self.done = self.tokens_in = self.tokens_out = 0
        self.measured = self.good = self.measured_out = 0
        self.refused = self.starved = self.preempted = self.recomputed = 0
        self.busy = self.energy = self.idle_energy = 0.0
        self.prefill = self.prefill_energy = 0.0  # of it, the part that was prefill
        self.began = self.ended = None
        self.measuring = False
        self.changed = Changed()
        self.blocks = [[0.0, 0] for _ in range(20)]
        self.most_held = [0.0, 0.0]  # bytes on one worker that prefills, and on one that decodes
        self.seen: list[tuple] = []  # of the first requests: arrival, admitted, first, last

    def go_on(self, other: "Tally") -> None:
        """Go on from where another count of the same run was."""
        vars(self).update(deepcopy(vars(other)))

    def held(self, phase: int, size: float) -> None:
        """Count bytes on a worker, of caches that wait among them."""
        if size > self.most_held[phase]:
            self.most_held[phase] = size

    def gaps(self, seconds: float, number: float) -> None:
        """Count gaps between tokens, all of one length."""
        if self.measuring:
            self.latency["gap"].add(seconds, number)

    def started(self, request: Request, wait: float) -> None:
        """Count the wait of a request that is served for the first time."""
        self.waited(request, wait)
        self._block(request)[1] += 1
        if request.number >= self.warm:
            self.measuring = True
            self.latency["wait"].add(wait)

    def waited(self, request: Request, seconds: float) -> None:
        """Count time in which a request waited, also for a link or for a second server."""
        self._block(request)[0] += seconds

    def _block(self, request: Request) -> list:
        return self.blocks[min(request.number * 20 // max(self.count, 1), 19)]

    def finished(self, request: Request, time: float) -> None:
        """Count a request with all its tokens."""
        self.done += 1
        self.tokens_in += request.isl
        self.tokens_out += request.osl
        if self.log is not None:
            times = (round(x, 6) for x in (request.arrival, request.first, time))
            self.log([*times, request.isl, request.osl, round(request.longest, 6)])
        if request.number < self.watch:
            self.seen.append(
                (request.number, request.arrival, request.admitted, request.first, time)
            )
        if request.number < self.warm:
            return
        if self.began is None or request.arrival < self.began:
            self.began = request.arrival
        if self.ended is None or time > self.ended:
            self.ended = time
        self.measured += 1
        self.measured_out += request.osl
        ttft, e2e = request.first - request.arrival, time - request.arrival
        many = request.osl > 1
        itl = (time - request.first) / (request.osl - 1) if many else 0.0
        self.latency["ttft"].add(ttft)
        self.latency["e2e"].add(e2e)
        if many:
            self.latency["itl"].add(itl)
        told = {"ttft": ttft, "itl": itl, "gap": request.longest, "e2e": e2e}
        self.good += all(told[limit.name] <= limit.seconds for limit in self.limits)

    def ran(self, batch: int, seconds: float, joules: float) -> None:
        """Count time in which steps ran at a batch."""
        self.batches[batch] += seconds
        self.busy += seconds
        self.energy += joules

    def prefilled(self, seconds: float, joules: float) -> None:
        """Count the part of such time that was prefill."""
        self.prefill += seconds
        self.prefill_energy += joules

    def rested(self, seconds: float, watts: float) -> None:
        """Count time in which nothing ran."""
        self.batches[0] += seconds
        self.idle_energy += seconds * watts
