"""Does a candidate keep the promise when it is simulated with so many replicas?

Replicas take turns, so one of them stands for all, exactly (``simulate.plan.Service.alike``).
Where prefill and decode are apart, as many are simulated as do the same.

Near the most that can be served a queue needs long to show: what arrives in a time strays by the
root of it, what could be served beyond it grows with it, and they meet after v / (1 - load)
squared requests.  A run lasts many times that, and a load whose run would not end is refused
before any is made.
"""

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from statistics import fmean, stdev

from ..scenario import Scenario
from ..simulate.apart import FirstHalves
from ..simulate.arrivals import Lengths
from ..simulate.ceiling import ceilings
from ..simulate.plan import Load, Service
from ..simulate.run import Outcome, report, simulate
from ..simulate.steps import Steps, steps
from .ask import BATCHES, Ask
from .candidate import Candidate

LEAST, MOST = 1500, 12000  # requests of a run
STAYS = 6  # runs last so many times as long as a request stays
WARM = 0.2
SETTLED, LONGEST = 20, 25_000  # a run has so many times the requests of a queue's memory, at most
SURE = 0.999  # a share of a slow queue that one run is enough for
FILTER = 2  # times a usual run: what needs a longer one is tried in that first
NEAR, AGAIN = 0.03, 4  # shares so near to what was asked are judged by so many runs
NINETY_FIVE = 2.35  # Student's t of four runs, one side


@dataclass
class Confirmed:
    """A candidate with the replicas that a simulation found, and what that run told.

    ``good`` is the share of requests that kept every limit; ``keeps`` whether that is enough.
    ``reached`` is the largest batch of any run: a higher limit would have changed nothing.
    ``load`` is what arrives over the most that can be served; ``full`` says that it is too near
    to one for any run to tell, so none was made; ``short`` is what is full then, where phases are
    apart.  ``count`` are the requests of the run that is told, ``seeds`` the runs of which
    ``good`` is the mean.
    """

    candidate: Candidate
    replicas: tuple[int, int]
    good: float
    keeps: bool
    told: dict
    joules: float  # an output token, of all devices
    runs: int = 1
    tried: dict = field(default_factory=dict)
    reached: int = 0
    load: float = 0.0
    full: bool = False
    short: str = ""
    count: int = 0
    seeds: int = 1

    @property
    def devices(self) -> int:
        return self.candidate.devices(self.replicas)

    @property
    def usd(self) -> float:
        return self.candidate.usd(self.replicas)

    def served(self, ask: Ask) -> Service:
        return served(ask, self.candidate, self.replicas)

    def standing(self, ask: Ask) -> Candidate:
        """The candidate with the replicas, the watts and the mean latencies of the simulation."""
        latency = self.told["latency_s"]
        means = {name: latency[name]["mean"] if latency[name] else 0.0 for name in latency}
        return replace(
            self.candidate,
            likely=self.replicas,
            latency=self.candidate.latency | means,
            watts=self.joules * ask.rps * ask.osl,
            confirmed=True,
        )

    def score(self, ask: Ask) -> float:
        """What is to be least, an hour."""
        if ask.by == "usd":
            return self.usd
        return self.hourly(ask, self.candidate.wh if ask.by == "kwh" else self.candidate.grams)

    def watts(self, ask: Ask) -> float:
        """Watts of all devices, and of those hosts that count with them."""
        return self.joules * ask.rps * ask.osl + self.candidate.host * self.devices

    def hourly(self, ask: Ask, each: float) -> float:
        """kWh or kg an hour, from Wh or grams a joule."""
        return self.watts(ask) * 3600 * each / 1e3


@lru_cache(maxsize=64)
def tables(case: Scenario, engine: str, context: int) -> Steps:
    """Return the step times of a replica, made once for all batch limits and questions."""
    return steps(case, engine, BATCHES[-1], context)


def served(ask: Ask, one: Candidate, replicas: tuple[int, int]) -> Service:
    """Return a candidate as a service, of which one of the parts that do the same is simulated."""
    prefills, others = replicas
    apart = dict(prefill_workers=prefills, decode_workers=others)
    many = apart if prefills else dict(replicas=others)
    return Service(one.option.case, engine=ask.engine, batch=one.batch, alike=True, **many)


def asked(ask: Ask, count: int) -> Load:
    """Return so many of the requests that are asked for."""
    return Load(
        Lengths(ask.isl, ask.osl),
        count=count,
        rate=ask.rps,
        variation=ask.burst,
        seed=ask.seed,
        limits=ask.limits,
        warm=WARM,
    )


def settled(ask: Ask, load: float, parts: int) -> float:
    """Return the requests of a run in which the queue of a load shows; infinite for none."""
    if not load < 1:
        return math.inf
    return SETTLED * ask.burst**2 / parts / (1 - load) ** 2


def usual(ask: Ask, one: Candidate, service: Service) -> int:
    """Return the requests of a run that lasts some times as long as one of them stays."""
    return max(int(min(STAYS * ask.rps / service.parts * one.latency["e2e"], MOST)), LEAST)


def run(
    ask: Ask,
    one: Candidate,
    replicas: tuple[int, int],
    least: int = LEAST,
    halves: FirstHalves | None = None,
) -> Outcome:
    """Simulate a candidate with so many replicas, and at least so many requests."""
    service = served(ask, one, replicas)
    count = max(usual(ask, one, service), least)
    made = tables(one.option.case, ask.engine, ask.isl + ask.osl)
    return simulate(service, asked(ask, count), tables=made, halves=halves)


def full(ask: Ask, one: Candidate, service: Service) -> tuple[str, float]:
    """Return what of a service is nearest to full, and the load on it over the most it can do."""
    made = tables(one.option.case, ask.engine, ask.isl + ask.osl)
    limits = ceilings(service, asked(ask, LEAST), made)
    short, most = min(limits.items(), key=lambda pair: pair[1])
    return short, ask.rps / most if most > 0 else math.inf


def refused(ask: Ask, one: Candidate, replicas: tuple[int, int]) -> Confirmed | None:
    """Return a candidate whose load no run would show to end, or None.

    A larger batch limit may let it through where the limit is what it is full to: that counts
    as if the limit had been reached.
    """
    service = served(ask, one, replicas)
    short, load = full(ask, one, service)
    if settled(ask, load, service.parts) <= LONGEST:
        return None
    wider = full(ask, one, replace(service, batch=BATCHES[-1]))[1]
    reached = one.batch if wider < load * (1 - 1e-9) else 0
    found = Confirmed(one, replicas, 0.0, False, {}, math.nan, reached=reached, load=load)
    found.full, found.short = load < 1, short
    return found


def judged(
    ask: Ask, one: Candidate, replicas: tuple[int, int], halves: FirstHalves | None = None
) -> Confirmed:
    """Run a candidate and say whether enough requests kept their promise.

    A run too short to fill a slow queue misses less than a long one, so who fails it is out.
    Where the share is near to what was asked, or a slow queue was seen, other requests are
    simulated as well, and the mean of all runs must be above it by its own error.
    """
    if out := refused(ask, one, replicas):
        return out
    service = served(ask, one, replicas)
    long = settled(ask, full(ask, one, service)[1], service.parts)
    slow, least = long > LEAST, max(LEAST, math.ceil(long))
    if least > FILTER * usual(ask, one, service):
        first = _judged(ask, one, replicas, ask.seed, LEAST, halves)
        if first.good < ask.share - NEAR:
            return first
    found = [_judged(ask, one, replicas, ask.seed, least, halves)]
    if found[0].good < ask.share - NEAR:
        return found[0]
    good = found[0].good
    if abs(good - ask.share) < NEAR or (slow and ask.share <= good < SURE):
        seeds = range(ask.seed + 1, ask.seed + AGAIN)
        found += [_judged(ask, one, replicas, seed, least, halves) for seed in seeds]
        goods = [x.good for x in found]
        mean = fmean(goods)
        error = NINETY_FIVE * stdev(goods) / math.sqrt(len(goods))
        found[0].good, found[0].keeps = mean, mean - error >= ask.share
        found[0].seeds = len(found)
    return found[0]


def _judged(ask: Ask, one: Candidate, replicas, seed: int, least: int, halves) -> Confirmed:
    ran = run(replace(ask, seed=seed), one, replicas, least, halves)
    told = report(ran)
    load = ran.rate / ran.most if ran.most > 0 else math.inf
    share = told["good_share"]
    good = 0.0 if told["saturated"] else 1.0 if share is None else float(share)
    keeps = not told["saturated"] and good >= ask.share
    reached = max(told["batch"]["seconds"], default=0)
    joules = told["spent"]["J_per_output_token"]
    return Confirmed(
        one, replicas, good, keeps, told, joules, reached=reached, load=load, count=ran.load.count
    )
