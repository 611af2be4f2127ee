"""A server that takes a batch, runs it to its end, and only then takes the next.

``static`` waits until the batch is full; ``dynamic`` until it is full or its oldest request has
waited for the delay; ``inverted`` is the second source document's batcher, which takes requests
that have waited *less* than the delay and puts the others back, where nobody takes them.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from .steps import Steps
from .tally import Request, Tally

RULES = ("static", "dynamic", "inverted")


@dataclass(frozen=True)
class Batching:
    """How batches are taken: a rule, the most requests of one, and the delay in seconds."""

    rule: str = "static"
    batch: int = 32
    delay: float = 0.05
    prefix: float = 0.0


class BatchServer:
    """A queue and a server; the same calls as a replica."""

    def __init__(
        self,
        steps: Steps,
        policy: Batching,
        tally: Tally,
        leaves: Callable[[Request, float], None],
    ):
        self.steps, self.policy, self.tally, self.leaves = steps, policy, tally, leaves
        self.clock = 0.0
        self.pending: deque[tuple[float, Request]] = deque()
        self.waiting: deque[tuple[float, Request]] = deque()
        self.closed = False  # nobody comes any more: a batch need not be full

    @property
    def load(self) -> int:
        return len(self.pending) + len(self.waiting)

    def run(self, until: float) -> None:
        """Serve batches until the clock is there; a batch under way is ended."""
        while self.clock < until:
            while self.pending and self.pending[0][0] <= self.clock:
                self.waiting.append(self.pending.popleft())
            if taken := self._taken():
                self._serve(taken)
                continue
            ahead = min(self.pending[0][0] if self.pending else math.inf, self._due(), until)
            if ahead == math.inf:
                return
            self.tally.rested(ahead - self.clock, self.steps.idle_power)
            self.clock = ahead

    def _due(self) -> float:
        """Return when the oldest request has waited long enough, if that matters."""
        if self.policy.rule != "dynamic" or not self.waiting:
            return math.inf
        return self.waiting[0][0] + self.policy.delay

    def _taken(self) -> list[Request]:
        """Return the requests of the next batch; none if it is to be waited for."""
        rule, waiting = self.policy.rule, self.waiting
        if rule == "inverted":  # who was too old once is never young again
            while waiting and self.clock - waiting[0][0] >= self.policy.delay:
                waiting.popleft()
                self.tally.starved += 1
        elif len(waiting) < self.policy.batch and not (self.closed and not self.pending):
            if rule == "static" or self.clock < self._due():
                return []
        taken: list[Request] = []
        held = 0.0
        while waiting and len(taken) < self.policy.batch:
            need = self.steps.bytes(waiting[0][1].isl + waiting[0][1].osl)
            if held + need > self.steps.room:
                break
            held += need
            taken.append(waiting.popleft()[1])
        return taken

    def _serve(self, taken: list[Request]) -> None:
        """Prefill a batch together and decode it to its longest answer, all places kept."""
        steps, tally, size = self.steps, self.tally, len(taken)
        pieces = [
            (max(one.isl - int(self.policy.prefix * one.isl), 1), int(self.policy.prefix * one.isl))
            for one in taken
        ]
        prefill = steps.prefill(pieces)
        tokens = sum(new for new, _ in pieces)
        for one in taken:
            one.admitted, one.first = self.clock, self.clock + prefill
            tally.started(one, self.clock - one.arrival)
        joules = prefill * steps.prefill_power(tokens)
        tally.prefilled(prefill, joules)
        tally.ran(size, prefill, joules)
        self.clock += prefill
        context = sum(one.isl for one in taken) / size + 1
        made = 1
        for one in sorted(taken, key=lambda one: one.osl):
            count = one.osl - made
            if count:
                first = steps.decode(size, context)
                last = steps.decode(size, context + count - 1)
                seconds = count * (first + last) / 2
                running = sum(other.osl > made for other in taken)
                tally.gaps((first + last) / 2, count * running)
                tally.ran(size, seconds, seconds * steps.decode_power(size, context + count / 2))
                self.clock += seconds
                context, made, longest = context + count, one.osl, last
                for other in taken:
                    if other.osl >= one.osl:
                        other.longest = max(other.longest, longest)
            one.made = one.osl
            self.leaves(one, self.clock)
