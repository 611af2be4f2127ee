"""Does a candidate keep the promise when it is simulated?  And with how many replicas?

Dealt out in turn, the requests of a replica are every n-th that arrives, and gaps that are Gamma
of a variation v add up to Gamma gaps of v over the root of n.  So one replica stands for all of
them, exactly.  Where prefill and decode are apart, all workers are simulated.
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
TRIES = 8
NEAR, AGAIN = 0.03, 4  # shares so near to what was asked are judged by so many runs
NINETY_FIVE = 2.35  # Student's t of four runs, one side


@dataclass
class Confirmed:
    """A candidate with the replicas that a simulation found, and what that run told.

    ``good`` is the share of requests that kept every limit; ``keeps`` whether that is enough.
    ``reached`` is the largest batch of any run: a higher limit would have changed nothing.
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

    @property
    def devices(self) -> int:
        return self.candidate.devices(self.replicas)

    @property
    def usd(self) -> float:
        return self.candidate.usd(self.replicas)

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


def run(ask: Ask, one: Candidate, replicas: tuple[int, int]) -> Outcome:
    """Simulate a candidate with so many replicas."""
    prefills, others = replicas
    stay = one.latency["e2e"]
    if prefills:
        common = math.gcd(prefills, others)
        prefills, others = prefills // common, others // common
        service = Service(
            one.option.case,
            engine=ask.engine,
            batch=one.batch,
            prefill_workers=prefills,
            decode_workers=others,
        )
        rate, variation = ask.rps / common, ask.burst / math.sqrt(common)
    else:
        service = Service(one.option.case, engine=ask.engine, batch=one.batch)
        rate, variation = ask.rps / others, ask.burst / math.sqrt(others)
    count = int(min(max(LEAST, STAYS * rate * stay), MOST))
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

    Where the share is near to what was asked, other requests are simulated as well, and the mean
    of all runs must be above it by its own error.
    """
    found = [_judged(ask, one, replicas, ask.seed)]
    if abs(found[0].good - ask.share) < NEAR:
        found += [_judged(ask, one, replicas, ask.seed + i) for i in range(1, AGAIN)]
        goods = [x.good for x in found]
        mean = fmean(goods)
        error = NINETY_FIVE * stdev(goods) / math.sqrt(len(goods))
        found[0].good, found[0].keeps = mean, mean - error >= ask.share
    return found[0]


def _judged(ask: Ask, one: Candidate, replicas, seed: int) -> Confirmed:
    told = report(run(replace(ask, seed=seed), one, replicas))
    share = told["good_share"]
    good = 0.0 if told["saturated"] else 1.0 if share is None else float(share)
    keeps = not told["saturated"] and good >= ask.share
    return Confirmed(one, replicas, good, keeps, told, told["spent"]["J_per_output_token"])


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
    best.runs, best.tried = len(seen), {count: x.good for count, x in sorted(seen.items())}
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
        latency = at(pair).told["latency_s"]
        first = latency["ttft"]
        late = {x.name: x.seconds for x in ask.limits}
        slow = first is None or first["p95"] > late.get("ttft", math.inf)
        grow = max(1, pair[0] // 10), max(1, pair[1] // 10)
        pair = (pair[0] + grow[0], pair[1]) if slow else (pair[0], pair[1] + grow[1])
    if at(pair).keeps:
        for place in (0, 1):
            while pair[place] > one.fewest[place] and len(seen) < 2 * TRIES:
                less = (pair[0] - 1, pair[1]) if place == 0 else (pair[0], pair[1] - 1)
                if not at(less).keeps:
                    break
                pair = less
    best = at(pair) if at(pair).keeps else max(seen.values(), key=lambda x: x.good)
    return _with_runs(best, seen)


def confirmable(ask: Ask, one: Candidate) -> Confirmed | str:
    """Return what a simulation found, or the sentence that says why there is none."""
    try:
        return confirm(ask, one)
    except BadInput as mistake:
        return str(mistake)
