"""One replica with continuous batching: sequences join and leave at every step.

Steps in which nothing else happens are taken many at a time: until the next answer is complete,
the cache is full, or somebody could join.  Nothing is computed token by token.
"""

import math
from collections import deque
from collections.abc import Callable

from .sequences import Policy, Sequences
from .steps import Steps
from .tally import Request, Tally


class Replica:
    """A queue, a batch and a clock.  ``role``: ``both``, ``prefill`` alone or ``decode`` alone.

    ``leaves`` is called with each request that is done here, and the time.
    """

    def __init__(
        self,
        steps: Steps,
        policy: Policy,
        tally: Tally,
        leaves: Callable[[Request, float], None],
        role: str = "both",
    ):
        self.steps, self.policy, self.tally, self.leaves = steps, policy, tally, leaves
        self.role, self.clock = role, 0.0
        self.pending: deque[tuple[float, Request]] = deque()  # seen by the scheduler later
        self.waiting: deque[Request] = deque()
        self.filling: deque[Request] = deque()  # prompts of which a part is in the cache
        self.claimed = 0.0  # bytes of those
        self.came = 0.0  # bytes of caches that came over the link and wait
        self.running = Sequences(steps, policy, tally)
        self.closed = False  # nobody comes any more

    @property
    def load(self) -> int:
        """Requests inside, waiting or served."""
        return len(self.pending) + len(self.waiting) + len(self.filling) + self.running.count

    def run(self, until: float) -> None:
        """Take steps until the clock is there; a step under way is ended."""
        pending = self.pending
        while self.clock < until:
            while pending and pending[0][0] <= self.clock:
                self.waiting.append(pending.popleft()[1])
                if self.role == "decode":
                    self._arrived(self.waiting[-1])
            if self.waiting or self.filling:
                pieces = self._pieces()
                if pieces:
                    self._mixed(pieces)
                    continue
            if self.running.count:
                self._decode(until)
                continue
            ahead = pending[0][0] if pending else math.inf
            ahead = min(ahead, until)
            if ahead == math.inf:
                return
            self.tally.rested(ahead - self.clock, self.steps.idle_power)
            self.clock = ahead

    def _arrived(self, request: Request) -> None:
        """Count a cache that came over the link, and waits for a place in the batch."""
        self.came += self.steps.bytes(request.isl)
        self.tally.held(1, self.came + self.claimed + self.running.bytes)

    # Joining ------------------------------------------------------------------------------------

    def _need(self, request: Request) -> float:
        ahead = request.osl if self.policy.reserve else request.made + 1
        return self.steps.bytes(request.isl + ahead)

    def _fits(self, request: Request) -> bool:
        """Say whether a request may join: a place in the batch, and room in memory."""
        running = self.running
        if running.count + len(self.filling) >= self.policy.batch:
            return False
        free = self.steps.room - running.bytes - self.claimed - running.growth
        return self._need(request) <= free or not (running.count or self.filling)

    def _uncached(self, request: Request) -> int:
        """Tokens that a prefill must compute; one that was put out finds nothing of its own."""
        whole = request.isl + request.made
        return whole if request.made else max(whole - int(self.policy.prefix * whole), 1)

    def _admit(self, request: Request) -> None:
        if request.admitted < 0:
            request.admitted = self.clock
            self.tally.started(request, self.clock - request.arrival)
        request.held = self._need(request)
        self.claimed += request.held

    def _pieces(self) -> list[tuple[Request, int]]:
        """Return prompts, or pieces of them, that the next step prefills."""
        policy, waiting, filling = self.policy, self.waiting, self.filling
        budget = policy.chunk - (0 if policy.whole else self.running.count)
        pieces: list[tuple[Request, int]] = []
        for request in filling:  # none, if prompts are whole
            if budget <= 0:
                return pieces
            take = min(request.left, budget)
            pieces.append((request, take))
            budget -= take
        while waiting and budget > 0 and self._fits(waiting[0]):
            request = waiting[0]
            if self.role == "decode" and request.last < 0:  # its prompt came over the link
                self._admit(waiting.popleft())
                self.came = max(self.came - self.steps.bytes(request.isl), 0.0)
                self.tally.waited(request, self.clock - request.first)
                self._join(request)
                self.running.over_link(request, self.clock)
                continue
            left = self._uncached(request)
            if policy.whole and pieces and left > budget:
                break
            self._admit(waiting.popleft())
            request.left = left
            take = left if policy.whole else min(left, budget)
            filling.append(request)
            pieces.append((request, take))
            budget -= take
        return pieces

    def _join(self, request: Request) -> None:
        self.claimed -= request.held
        self.running.join(request)

    # Steps --------------------------------------------------------------------------------------

    def _mixed(self, pieces: list[tuple[Request, int]]) -> None:
        """Take one step that also prefills, with the sequences that decode meanwhile."""
        steps, running = self.steps, self.running
        self._make_room()
        batch = running.count
        tokens = [(take, request.isl + request.made - request.left) for request, take in pieces]
        seconds = steps.prefill(tokens) * (steps.interleave if batch else 1.0)
        joules = steps.prefill_power(sum(take for take, _ in tokens)) * seconds
        self.tally.prefilled(seconds, joules)
        if batch:
            context = running.context / batch
            decode = steps.decode(batch, context)
            seconds += decode
            joules += decode * steps.decode_power(batch, context)
        self.clock += seconds
        self.tally.ran(batch + len(pieces), seconds, joules)
        if batch:
            running.advance(1, seconds, seconds)
            self._leave()
        for request, take in pieces:
            request.left -= take
        while self.filling and self.filling[0].left <= 0:
            self._first_token(self.filling.popleft())

    def _first_token(self, request: Request) -> None:
        if request.made == 0:
            request.made, request.first = 1, self.clock
        else:  # it was put out, and its prompt and answer were computed again
            gap = self.clock - request.last
            self.tally.gaps(gap, 1)
            request.made += 1
            request.longest = max(request.longest, gap)
        if self.role == "prefill" or request.made >= request.osl:
            self.claimed -= request.held
            self.leaves(request, self.clock)
        else:
            self._join(request)

    def _decode(self, until: float) -> None:
        """Take steps of the batch alone, as many as nothing can interrupt."""
        self._make_room()
        steps, running, made = self.steps, self.running, self.policy.tokens
        if not (batch := running.count):
            return
        context, count = running.context / batch, running.left
        if each := running.growth:
            count = min(count, int((steps.room - running.bytes - self.claimed) / each))
        count = max(count, 1)
        first = steps.decode(batch, context)
        horizon = until
        if self.pending and batch + len(self.filling) < self.policy.batch:
            horizon = min(horizon, self.pending[0][0])
        last = steps.decode(batch, context + (count - 1) * made) if count > 1 else first
        ahead = horizon - self.clock
        if count > 1 and ahead < count * (first + last) / 2:
            slope = (last - first) / (count - 1)
            count = min(count, steps_until(ahead, first, slope))
            last = first + slope * (count - 1)
        seconds = count * (first + last) / 2
        watts = steps.decode_power(batch, context + (count - 1) * made / 2)
        self.clock += seconds
        self.tally.ran(batch, seconds, seconds * watts)
        running.advance(count, first, last)
        self._leave()

    def _leave(self) -> None:
        for request in self.running.complete():
            self.leaves(request, self.clock)

    def _make_room(self) -> None:
        """Put sequences out of the batch until the next step has the memory that it needs."""
        running, most = self.running, self.steps.room * (1 + 1e-9)
        while running.count and running.count + len(self.filling) > 1:
            if running.bytes + self.claimed + running.growth <= most or self.policy.reserve:
                return
            self.waiting.appendleft(running.put_out(self.clock))


def steps_until(ahead: float, first: float, slope: float) -> int:
    """Return the fewest steps that reach a time, the first of a length, each a slope longer."""
    half = first - slope / 2
    root = math.sqrt(max(half**2 + 2 * slope * ahead, 0.0))
    return max(math.ceil(2 * ahead / (half + root) - 1e-9), 1)
