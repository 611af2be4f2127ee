"""The sequences that decode together, and steps in which all of them gain a token.

Each is known by the step at which it will be complete, so a block of steps costs the same however
many sequences it moves.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator
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


class Sequences:
    """A batch: how many, their context and memory together, and the steps they have made.

    With ``reserve`` the memory is that of whole answers.
    """

    def __init__(self, steps: Steps, policy: Policy, tally: Tally):
        self.steps, self.policy, self.tally = steps, policy, tally
        self.count, self.context, self.bytes = 0, 0.0, 0.0
        self.made, self.serial = 0, 0  # steps; sequences that ever joined
        self.ends: list[tuple[int, int, Request]] = []  # step at which each is complete
        self.order: list[tuple[int, Request]] = []  # as they joined
        self.slow: list[tuple[int, float]] = []  # (step, seconds), no later one longer
        self.counted = 0  # gaps of the next step that are counted already

    @property
    def growth(self) -> float:
        """Bytes that the next step adds."""
        return 0.0 if self.policy.reserve else self.count * self._step_bytes

    @property
    def _step_bytes(self) -> float:
        return self.steps.token_bytes * self.policy.tokens

    @property
    def left(self) -> int:
        """Steps until the next one is complete."""
        return self.ends[0][0] - self.made

    def join(self, request: Request) -> None:
        """Let a request with its prompt in the cache and one token at least into the batch."""
        self.serial += 1
        steps = math.ceil((request.osl - request.made) / self.policy.tokens - 1e-9)
        request.serial, request.joined = self.serial, self.made
        heappush(self.ends, (self.made + steps, self.serial, request))
        self.order.append((self.serial, request))
        if len(self.order) > 2 * self.policy.batch + KEPT:  # most have left
            self.order = [(serial, one) for serial, one in self.order if one.serial == serial]
        context = request.isl + request.made
        self.bytes += request.held if self.policy.reserve else self.steps.bytes(context)
        self.count += 1
        self.context += context

    def over_link(self, request: Request, clock: float) -> None:
        """Count the gap in which a cache came over the link: as long as that, and the next step."""
        step = self.steps.decode(self.count, self.context / self.count)
        request.longest = clock - request.first + step
        self.tally.gaps(request.longest, 1)
        self.counted += 1

    def advance(self, count: int, first: float, last: float) -> None:
        """Let every sequence gain the tokens of so many steps, the first and last of a length."""
        batch, tally = self.count, self.tally
        if self.counted:
            tally.gaps(first, batch * count - self.counted)
            self.counted = 0
        elif count < 8 or last < first * 1.005:
            tally.gaps((first + last) / 2, count * batch)
        else:  # longer at their end: in four parts
            part = (last - first) / 4
            for quarter in range(4):
                tally.gaps(first + part * (quarter + 0.5), count * batch / 4)
        self.bytes += count * self.growth
        self.made += count
        self.context += count * batch * self.policy.tokens
        slow = self.slow
        while slow and slow[-1][1] <= last:
            slow.pop()
        slow.append((self.made, last))
        if len(slow) > KEPT:
            oldest = min(request.joined for _, _, request in self.ends)
            del slow[: bisect_left(slow, (oldest, math.inf))]

    def complete(self) -> Iterator[Request]:
        """Yield the sequences that have all their tokens, and take them out."""
        ends = self.ends
        while ends and (ends[0][0] <= self.made or ends[0][2].serial != ends[0][1]):
            _, serial, request = heappop(ends)
            if request.serial == serial:  # it was not put out meanwhile
                self._forget(request)
                yield request

    def put_out(self, clock: float) -> Request:
        """Take the youngest out; what it had is computed again when it returns."""
        while True:
            serial, request = self.order.pop()
            if request.serial == serial:
                break
        self._forget(request)
        request.last = clock
        self.tally.preempted += 1
        self.tally.recomputed += request.isl + request.made
        return request

    def _forget(self, request: Request) -> None:
        """Take a sequence out of the batch, with all the tokens that it has made."""
        steps, policy = self.made - request.joined, self.policy
        context = request.isl + request.made + steps * policy.tokens
        self.count -= 1
        self.context -= context
        self.bytes -= request.held if policy.reserve else self.steps.bytes(context)
        if not self.count:
            self.context = self.bytes = 0.0  # no rounding is carried on
        gained = min(round(steps * policy.tokens), request.osl - request.made)
        if gained > steps:  # tokens that came with another one
            self.tally.gaps(0.0, gained - steps)
        request.made += gained
        place = bisect_left(self.slow, (request.joined, math.inf))
        if place < len(self.slow):
            request.longest = max(request.longest, self.slow[place][1])
        request.serial = 0
