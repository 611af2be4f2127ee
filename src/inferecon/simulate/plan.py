"""What is to be simulated: a service, and the load on it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from ..errors import BadInput, nearest
from ..predictions import ENGINES
from ..scenario import Scenario
from ..service.promise import Limit
from .arrivals import Changed, Lengths, Piece, arriving, traced
from .batches import RULES
from .fleet import ROUTES
from .steps import Speculation

CONTINUOUS = ("continuous", "chunked")
POLICIES = (*CONTINUOUS, *RULES)
REQUESTS, MOST = 10_000, 10**8  # usually, and at most
BURSTS = 20  # variation of gaps at most: of 10,000 with more, a few are all the time


@dataclass(frozen=True)
class Service:
    """A combination on an engine, how it batches, and how many of it there are.

    ``chunk`` is the most tokens of a step; ``prefill_workers`` and ``decode_workers`` stand for
    replicas that do one phase each, ``link`` is the bandwidth out of each that prefills and into
    each that decodes, in bytes a second.  With ``alike`` one of the ``parts`` that do the same is
    simulated, and stands for all: dealt out in turn, its requests are every n-th that arrives, and
    Gamma gaps of a variation v add up to Gamma gaps of v over the root of n.
    Raises BadInput for what does not go together.
    """

    case: Scenario
    engine: str = "vllm"
    policy: str = "continuous"
    batch: int = 256
    chunk: int = 8192
    delay: float = 0.05
    reserve: bool = False
    prefix: float = 0.0
    speculation: Speculation = field(default_factory=Speculation)
    replicas: int = 1
    route: str = "round-robin"
    prefill_workers: int = 0
    decode_workers: int = 0
    link: float = 0.0
    alike: bool = False

    def __post_init__(self):
        for name, known in (("policy", POLICIES), ("route", ROUTES), ("engine", ENGINES)):
            value = getattr(self, name)
            if value not in known:
                raise BadInput(f"--{name}: no {name} {value!r}{nearest(value, known)}")
        for name, most in (("batch", 10**5), ("chunk", 10**9), ("replicas", 10**4)):
            if not 1 <= getattr(self, name) <= most:
                raise BadInput(f"--{name} must be 1 to {most:,}, not {getattr(self, name)}")
        if not (0 <= self.prefill_workers <= 10**4 and 0 <= self.decode_workers <= 10**4):
            raise BadInput("--prefill-workers and --decode-workers must be 0 to 10,000")
        if not 0 <= self.prefix < 1:
            raise BadInput(f"--prefix is a share from 0 to below 1, not {self.prefix}")
        for name in ("delay", "link"):
            if not 0 <= getattr(self, name) < math.inf:
                raise BadInput(f"--{name} must not be negative, and finite")
        self._check_pairs()

    def _check_pairs(self):
        spec, apart = self.speculation, bool(self.prefill_workers or self.decode_workers)
        if not 0 <= spec.drafts <= 64:
            raise BadInput(f"--drafts must be 0 to 64, not {spec.drafts}")
        if spec.drafts and not 0 < spec.acceptance < 1:
            raise BadInput("--drafts needs --acceptance, a share between 0 and 1")
        if not 0 <= spec.draft_cost < math.inf:
            raise BadInput("--draft-cost must not be negative, and finite")
        if apart and not (self.prefill_workers and self.decode_workers):
            raise BadInput("prefill and decode apart need --prefill-workers and --decode-workers")
        if apart and (self.policy not in CONTINUOUS or self.replicas > 1):
            raise BadInput("prefill and decode apart go with --policy continuous, no --replicas")
        if self.alike and self.route != "round-robin":
            raise BadInput(f"--alike goes with --route round-robin, not {self.route}")
        if spec.drafts and self.policy not in CONTINUOUS:
            raise BadInput(f"--drafts goes with --policy continuous, not {self.policy}")

    @property
    def apart(self) -> bool:
        return self.prefill_workers > 0

    @property
    def instances(self) -> int:
        return self.prefill_workers + self.decode_workers if self.apart else self.replicas

    @property
    def parts(self) -> int:
        """How many parts do the same, if one of them stands for all."""
        if not self.alike:
            return 1
        return math.gcd(self.prefill_workers, self.decode_workers) if self.apart else self.replicas

    @property
    def part(self) -> "Service":
        """What is simulated."""
        if self.parts == 1:
            return self
        many = ("prefill_workers", "decode_workers") if self.apart else ("replicas",)
        return replace(self, alike=False, **{x: getattr(self, x) // self.parts for x in many})


@dataclass(frozen=True)
class Load:
    """Requests: so many, at a rate, in a closed loop of clients, or as a trace has them.

    ``variation`` of the gaps between arrivals: 1 is Poisson, more is bursts, 0 is a clock.
    ``count`` is how many, of a trace at most; ``requests`` is how many there are.  ``warm`` is
    the share of them that are served before anything is measured.
    """

    lengths: Lengths
    count: int = REQUESTS
    rate: float = 0.0
    variation: float = 1.0
    clients: int = 0
    trace: Path | None = None
    speed: float = 1.0
    seed: int = 1
    limits: tuple[Limit, ...] = ()
    warm: float = 0.1

    def __post_init__(self):
        ways = [bool(self.rate), bool(self.clients), self.trace is not None]
        if sum(ways) != 1:
            raise BadInput("say how requests come: one of --rate, --clients and --trace")
        if not 1 <= self.count <= MOST:
            raise BadInput(f"--requests must be 1 to {MOST:,}, not {self.count}")
        if not 0 <= self.warm < 1:
            raise BadInput(f"--warm is a share from 0 to below 1, not {self.warm}")
        if not 0 <= self.rate < math.inf:
            raise BadInput("--rate must not be negative, and finite")
        if not 0 < self.speed < math.inf:
            raise BadInput("--speed must be more than 0, and finite")
        if not 0 <= self.variation <= BURSTS:
            raise BadInput(f"--burst must be 0 to {BURSTS}, not {self.variation}")
        if not 0 <= self.clients <= 10**6:
            raise BadInput(f"--clients must be 0 to 1,000,000, not {self.clients}")

    @cached_property
    def requests(self) -> int:
        """How many are served.  Raises BadInput for a trace that has none, or cannot be read."""
        if self.trace is None:
            return self.count
        found = sum(len(arrival) for arrival, _, _ in self.pieces())
        if not found:
            raise BadInput(f"{self.trace.name} has no request of at least one token in and one out")
        return found

    def part(self, parts: int) -> "Load":
        """Return what one of some parts gets that take turns.  Raises BadInput for no rate."""
        if parts == 1:
            return self
        if not self.rate:
            raise BadInput("--alike goes with --rate: clients and traces are dealt out to all")
        return replace(self, rate=self.rate / parts, variation=self.variation / math.sqrt(parts))

    def pieces(self, changed: Changed | None = None) -> Iterator[Piece]:
        if self.trace is not None:
            return traced(self.trace, self.count, self.speed, self.lengths, changed)
        # clients send when they are answered, so their times are set then
        rate = self.rate or 1.0
        return arriving(rate, self.variation, self.lengths, self.count, self.seed, changed)
