"""Does a candidate keep the promise when it is simulated?  And with how many replicas?

Dealt out in turn, the requests of a replica are every n-th that arrives, and gaps that are Gamma
of a variation v add up to Gamma gaps of v over the root of n.  So one replica stands for all of
them, exactly.  Where prefill and decode are apart, all workers are simulated.

Near the most that can be served a queue needs long to show: what arrives in a time strays by the
root of it, what could be served beyond it grows with it, and they meet after v / (1 - load)
squared requests.  A run lasts many times that, and a load whose run would not end is refused.
"""

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from statistics import fmean, stdev

from ..errors import BadInput
from ..scenario import Scenario
from ..simulate.arrivals import Lengths
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
TRIES = 8
NEAR, AGAIN = 0.03, 4  # shares so near to what was asked are judged by so many runs
NINETY_FIVE = 2.35  # Student's t of four runs, one side


@dataclass
class Confirmed:
    """A candidate with the replicas that a simulation found, and what that run told.

    ``good`` is the share of requests that kept every limit; ``keeps`` whether that is enough.
    ``reached`` is the largest batch of any run: a higher limit would have changed nothing.
    ``load`` is what arrives over the most that can be served; ``full`` says that it is too near
    to one for any run to tell.
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

    @property
    def devices(self) -> int:
        return self.candidate.devices(self.replicas)

    @property
    def usd(self) -> float:
        return self.candidate.usd(self.replicas)

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
        hourly = self.joules * ask.rps * ask.osl * 3600
        one = self.candidate
        return hourly * (one.wh / 1e3 if ask.by == "kwh" else one.grams / 1e3)


@lru_cache(maxsize=64)
def tables(case: Scenario, engine: str, context: int) -> Steps:
    """Return the step times of a replica, made once for all batch limits and questions."""
    return steps(case, engine, BATCHES[-1], context)


def alike(replicas: tuple[int, int]) -> int:
    """Return how many parts of a service do the same, of which one is simulated."""
    prefills, others = replicas
    return math.gcd(prefills, others) if prefills else others


def settled(ask: Ask, load: float, replicas: tuple[int, int]) -> float:
    """Return the requests of a run in which the queue of a load shows; infinite for none."""
    if not load < 1:
        return math.inf
    return SETTLED * ask.burst**2 / alike(replicas) / (1 - load) ** 2


def run(ask: Ask, one: Candidate, replicas: tuple[int, int], least: int = LEAST) -> Outcome:
    """Simulate a candidate with so many replicas, and at least so many requests."""
    prefills, others = replicas
    stay, common = one.latency["e2e"], alike(replicas)
    rate, variation = ask.rps / common, ask.burst / math.sqrt(common)
    if prefills:
        prefills, others = prefills // common, others // common
        service = Service(
            one.option.case,
            engine=ask.engine,
            batch=one.batch,
            prefill_workers=prefills,
            decode_workers=others,
        )
    else:
        service = Service(one.option.case, engine=ask.engine, batch=one.batch)
    count = max(int(min(STAYS * rate * stay, MOST)), least)
    load = Load(
        Lengths(ask.isl, ask.osl),
        count=count,
        rate=rate,
        variation=variation,
        seed=ask.seed,
        limits=ask.limits,
        warm=WARM,
    )
    made = tables(one.option.case, ask.engine, ask.isl + ask.osl)
    return simulate(service, load, tables=made)


def judged(ask: Ask, one: Candidate, replicas: tuple[int, int]) -> Confirmed:
    """Run a candidate and say whether enough requests kept their promise.

    A run too short to fill a slow queue misses less than a long one, so who fails it is out.
    Where the share is near to what was asked, or a slow queue was seen, other requests are
    simulated as well, and the mean of all runs must be above it by its own error.
    """
    found = [_judged(ask, one, replicas, ask.seed, LEAST)]
    if found[0].good < ask.share - NEAR:
        return found[0]
    long = settled(ask, found[0].load, replicas)
    if long > LONGEST:
        found[0].keeps, found[0].full = False, True
        return found[0]
    slow, least = long > LEAST, max(LEAST, math.ceil(long))
    if long > found[0].told["requests"]["completed"]:
        found = [_judged(ask, one, replicas, ask.seed, least)]
    good = found[0].good
    if abs(good - ask.share) < NEAR or (slow and ask.share <= good < SURE):
        found += [_judged(ask, one, replicas, ask.seed + i, least) for i in range(1, AGAIN)]
        goods = [x.good for x in found]
        mean = fmean(goods)
        error = NINETY_FIVE * stdev(goods) / math.sqrt(len(goods))
        found[0].good, found[0].keeps = mean, mean - error >= ask.share
    return found[0]


def _judged(ask: Ask, one: Candidate, replicas, seed: int, least: int) -> Confirmed:
    ran = run(replace(ask, seed=seed), one, replicas, least)
    told = report(ran)
    load = ran.rate / ran.most if ran.most > 0 else math.inf
    share = told["good_share"]
    good = 0.0 if told["saturated"] else 1.0 if share is None else float(share)
    keeps = not told["saturated"] and good >= ask.share
    joules = told["spent"]["J_per_output_token"]
    return Confirmed(one, replicas, good, keeps, told, joules, load=load)


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
    best = seen[high] if high is not None else max(seen.values(), key=lambda x: x.good)
    return _with_runs(best, seen)


def _with_runs(best: Confirmed, seen: dict) -> Confirmed:
    """Return what was found with all the runs that led to it."""
    best.runs = len(seen)
    best.tried = {count: None if x.full else x.good for count, x in sorted(seen.items())}
    best.reached = max(max(x.told["batch"]["seconds"], default=0) for x in seen.values())
    return best


def _workers(ask: Ask, one: Candidate) -> Confirmed:
    """Find both numbers of workers: more where a limit is missed, fewer where none is."""
    seen: dict[tuple[int, int], Confirmed] = {}

    def at(pair: tuple[int, int]) -> Confirmed:
        if pair not in seen:
            seen[pair] = judged(ask, one, pair)
        return seen[pair]

    pair = one.likely
    while not at(pair).keeps and len(seen) < TRIES:
        found = at(pair)
        first = found.told["latency_s"]["ttft"]
        late = {x.name: x.seconds for x in ask.limits}
        slow = first is None or first["p95"] > late.get("ttft", math.inf)
        if found.full:  # more decode workers that leave the load as it is were not short
            same = [x for x in seen.values() if x.full and x.replicas[0] == pair[0]]
            same = [x for x in same if math.isclose(x.load, found.load, rel_tol=1e-6)]
            slow, pair = len(same) > 1, min(x.replicas for x in same)
        grow = max(1, pair[0] // 10), max(1, pair[1] // 10)
        pair = (pair[0] + grow[0], pair[1]) if slow else (pair[0], pair[1] + grow[1])
    if at(pair).keeps:
        for place in (0, 1):
            low, step = one.fewest[place] - 1, 1  # twice as far down each time, halves after a miss
            while pair[place] - low > 1 and len(seen) < 2 * TRIES:
                fewer = max(pair[place] - step, low + 1)
                less = (fewer, pair[1]) if place == 0 else (pair[0], fewer)
                if at(less).keeps:
                    pair, step = less, 2 * step
                else:
                    low, step = fewer, max((pair[place] - fewer) // 2, 1)
    best = at(pair) if at(pair).keeps else max(seen.values(), key=lambda x: x.good)
    return _with_runs(best, seen)


def confirmable(ask: Ask, one: Candidate) -> Confirmed | str:
    """Return what a simulation found, or the sentence that says why there is none."""
    try:
        return confirm(ask, one)
    except BadInput as mistake:
        return str(mistake)
