"""One replica with continuous batching: sequences join and leave at every step.

Steps in which nothing else happens are taken many at a time: until the next answer is complete,
the cache is full, or somebody could join.  Nothing is computed token by token.
"""

import math
from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush

from .steps import Steps
from .tally import Request, Tally

KEPT = 256  # long steps remembered before the forgotten are swept out


@dataclass(frozen=True)
class Policy:
    """How a replica serves: at most ``batch`` sequences, ``chunk`` tokens a step.

    ``whole``: a prompt is prefilled in one step; else it is cut, and the tokens of a step are
    those of its sequences and of pieces of prompts.  ``reserve``: a sequence enters only if its
    last token will fit; else it enters when its prompt fits, and the youngest is put out when
    memory ends.  ``prefix`` is the share of each prompt that is in the cache already,
    ``tokens`` what a step makes of a sequence, drafts included.
    """

    batch: int = 256
    chunk: int = 8192
    whole: bool = True
    reserve: bool = False
    prefix: float = 0.0
    tokens: float = 1.0


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
        self.clock, self.counter, self.serial = 0.0, 0, 0
        self.pending: deque[tuple[float, Request]] = deque()  # seen by the scheduler later
        self.waiting: deque[Request] = deque()
        self.filling: deque[Request] = deque()  # prompts of which a part is in the cache
        self.ends: list[tuple[int, int, Request]] = []  # running: step at which each is complete
        self.order: list[tuple[int, Request]] = []  # running, in the order they joined
        # of the running, and of prompts on their way in; all of an answer, if that is reserved
        self.batch, self.context, self.bytes, self.claimed = 0, 0.0, 0.0, 0.0
        self.slow: list[tuple[int, float]] = []  # (step, seconds), no later one longer
        self.closed = False  # nobody comes any more
        self.role, self.counted = role, 0  # gaps of the next step that are counted already

    # From outside -------------------------------------------------------------------------------

    def offer(self, request: Request, visible: float) -> bool:
        """Take a request that the scheduler sees at a time, not before that of the one before.

        Return whether it could ever be held in memory.
        """
        if self.steps.bytes(request.isl + request.osl) > self.steps.room:
            self.tally.refused += 1
            return False
        self.pending.append((visible, request))
        return True

    @property
    def load(self) -> int:
        """Requests inside, waiting or served."""
        return len(self.pending) + len(self.waiting) + len(self.filling) + self.batch

    def run(self, until: float) -> None:
        """Take steps until the clock is there; a step under way is ended."""
        pending = self.pending
        while self.clock < until:
            while pending and pending[0][0] <= self.clock:
                self.waiting.append(pending.popleft()[1])
            if self.waiting or self.filling:
                pieces = self._pieces()
                if pieces:
                    self._mixed(pieces)
                    continue
            if self.batch:
                self._decode(until)
                continue
            ahead = pending[0][0] if pending else math.inf
            ahead = min(ahead, until)
            if ahead == math.inf:
                return
            self.tally.rested(ahead - self.clock, self.steps.idle_power)
            self.clock = ahead

    # Joining ------------------------------------------------------------------------------------

    def _need(self, request: Request) -> float:
        ahead = request.osl if self.policy.reserve else request.made + 1
        return self.steps.bytes(request.isl + ahead)

    def _fits(self, request: Request) -> bool:
        """Say whether a request may join: a place in the batch, and room in memory."""
        if self.batch + len(self.filling) >= self.policy.batch:
            return False
        free = self.steps.room - self.bytes - self.claimed
        if not self.policy.reserve:  # the others need room for the next step
            free -= self.batch * self.steps.token_bytes * self.policy.tokens
        return self._need(request) <= free or not (self.batch or self.filling)

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
        budget = policy.chunk - (0 if policy.whole else self.batch)
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
                self._join(request)
                self._first_gap(request)
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
        """Let a request with its prompt in the cache and one token at least into the batch."""
        self.serial += 1
        steps = math.ceil((request.osl - request.made) / self.policy.tokens - 1e-9)
        request.serial, request.joined = self.serial, self.counter
        heappush(self.ends, (self.counter + steps, self.serial, request))
        self.order.append((self.serial, request))
        if len(self.order) > 2 * self.policy.batch + KEPT:  # most have left
            self.order = [(serial, one) for serial, one in self.order if one.serial == serial]
        context = request.isl + request.made
        self.claimed -= request.held
        self.bytes += request.held if self.policy.reserve else self.steps.bytes(context)
        self.batch += 1
        self.context += context

    def _first_gap(self, request: Request) -> None:
        """Count the gap in which a cache came over the link: as long as that, and the next step."""
        step = self.steps.decode(self.batch, self.context / self.batch)
        request.longest = self.clock - request.first + step
        self.tally.gaps(request.longest, 1)
        self.counted += 1

    # Steps --------------------------------------------------------------------------------------

    def _mixed(self, pieces: list[tuple[Request, int]]) -> None:
        """Take one step that also prefills, with the sequences that decode meanwhile."""
        steps, batch, tally = self.steps, self.batch, self.tally
        while batch and self._full():
            self._put_out()
            batch = self.batch
        tokens = [(take, request.isl + request.made - request.left) for request, take in pieces]
        prefill = steps.prefill(tokens)
        joules = steps.prefill_power(sum(take for take, _ in tokens)) * prefill
        seconds = prefill
        if batch:
            decode = steps.decode(batch, self.context / batch)
            seconds = decode + steps.interleave * prefill
            joules = joules * steps.interleave + decode * steps.decode_power(
                batch, self.context / batch
            )
        self.clock += seconds
        tally.ran(batch + len(pieces), seconds, joules)
        if batch:
            self._advance(1, seconds, seconds)
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
        while self.batch and self._full():
            self._put_out()
        if not self.batch:
            return
        steps, batch, made = self.steps, self.batch, self.policy.tokens
        context = self.context / batch
        count = self.ends[0][0] - self.counter
        if not self.policy.reserve:
            each = batch * steps.token_bytes * made
            if each:
                count = min(count, int((steps.room - self.bytes - self.claimed) / each))
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
        self._advance(count, first, last)
        self._leave()

    def _advance(self, count: int, first: float, last: float) -> None:
        """Let every running sequence gain the tokens of so many steps."""
        batch, tally, made = self.batch, self.tally, self.policy.tokens
        if self.counted:
            tally.gaps(first, batch * count - self.counted)
            self.counted = 0
        elif count < 8 or last < first * 1.005:
            tally.gaps((first + last) / 2, count * batch)
        else:  # longer at their end: in four parts
            part = (last - first) / 4
            for quarter in range(4):
                tally.gaps(first + part * (quarter + 0.5), count * batch / 4)
        self.counter += count
        self.context += count * batch * made
        if not self.policy.reserve:
            self.bytes += count * batch * made * self.steps.token_bytes
        slow = self.slow
        while slow and slow[-1][1] <= last:
            slow.pop()
        slow.append((self.counter, last))
        if len(slow) > KEPT:
            oldest = min(request.joined for _, _, request in self.ends)
            del slow[: bisect_left(slow, (oldest, math.inf))]

    def _leave(self) -> None:
        """Send away the sequences that are complete."""
        ends = self.ends
        while ends and (ends[0][0] <= self.counter or ends[0][2].serial != ends[0][1]):
            _, serial, request = heappop(ends)
            if request.serial != serial:
                continue  # it was put out meanwhile
            self._forget(request)
            self.leaves(request, self.clock)

    def _longest(self, request: Request) -> float:
        """Return the longest step since a sequence joined."""
        place = bisect_left(self.slow, (request.joined, math.inf))
        return self.slow[place][1] if place < len(self.slow) else 0.0

    def _forget(self, request: Request) -> None:
        """Take a sequence out of the batch, with all the tokens that it has made."""
        steps, policy = self.counter - request.joined, self.policy
        context = request.isl + request.made + steps * policy.tokens
        self.batch -= 1
        self.context -= context
        self.bytes -= request.held if policy.reserve else self.steps.bytes(context)
        if not self.batch:
            self.context = self.bytes = 0.0  # no rounding is carried on
        gained = min(round(steps * policy.tokens), request.osl - request.made)
        if gained > steps and self.tally.measuring:  # tokens that came with another one
            self.tally.latency["gap"].add(0.0, gained - steps)
        request.made += gained
        request.longest = max(request.longest, self._longest(request))
        request.serial = 0

    # Memory -------------------------------------------------------------------------------------

    def _full(self) -> bool:
        """Say whether the next step would need more memory than there is."""
        if self.policy.reserve or self.batch + len(self.filling) < 2:
            return False
        each = self.batch * self.steps.token_bytes * self.policy.tokens
        return self.bytes + self.claimed + each > self.steps.room * (1 + 1e-9)

    def _put_out(self) -> None:
        """Take the youngest out of the batch; what it had is computed again when it returns."""
        while True:
            serial, request = self.order.pop()
            if request.serial == serial:
                break
        self._forget(request)
        request.last = self.clock
        self.tally.preempted += 1
        self.tally.recomputed += request.isl + request.made
        self.waiting.appendleft(request)


def steps_until(ahead: float, first: float, slope: float) -> int:
    """Return the fewest steps that reach a time, the first of a length, each a slope longer."""
    half = first - slope / 2
    root = math.sqrt(max(half**2 + 2 * slope * ahead, 0.0))
    return max(math.ceil(2 * ahead / (half + root) - 1e-9), 1)
