"""Time the laws of a scenario: python benchmarks/laws.py

Every point gives every metric of the report.  Times are processor time of one core, which a
busy machine moves less than the clock's, and rates are the fastest of a few tries.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from measured import Result, printed, spread

from inferecon import symbols as s
from inferecon.compiled import compiled
from inferecon.laws import SERVICE
from inferecon.scenario import Scenario

CASE = dict(weights="fp8", activations="fp8", tp=8, ep=8, batch=32)
POINTS = 1 << 18


def best(work: Callable[[], object], tries: int = 5, times: int = 1) -> list[float]:
    """Return seconds of each try of doing something a number of times, for one time."""
    found = []
    for _ in range(tries):
        begin = time.process_time()
        for _ in range(times):
            work()
        found.append((time.process_time() - begin) / times)
    return found


def rate(given: dict) -> list[float]:
    return [POINTS / seconds for seconds in best(lambda: SERVICE.solve(given))]


def first_answer() -> float:
    """Return seconds from nothing to the numbers of a scenario, in a new process."""
    code = (
        "import time; from inferecon.scenario import Scenario; "
        "Scenario('deepseek-v3', 'h200-sxm').values; print(time.process_time())"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(ran.stdout)


def measure() -> dict[str, Result]:
    """Return rates over arrays and times of single questions."""
    case, draw = Scenario("deepseek-v3", "h200-sxm", **CASE), np.random.default_rng(1)
    given = case.given()
    lengths = {
        s.batch: draw.integers(1, 512, POINTS).astype(float),
        s.isl: draw.integers(128, 32768, POINTS).astype(float),
    }
    every = {x: v * draw.uniform(0.9, 1.1, POINTS) for x, v in given.items()}
    chain = [(symbol, law.eq.rhs) for symbol, law in SERVICE.laws.items()]
    batches = iter(range(1, 10**6))
    count = len(SERVICE.laws)
    fast, slow = rate({**given, **lengths}), rate(every)
    return {
        "laws.points": _fastest(f"{count} metrics over batch and prompt length", fast, "point/s"),
        "laws.points_all": _fastest(
            f"{count} metrics, all {len(every)} inputs different at each point", slow, "point/s"
        ),
        "laws.whatif": spread(
            "a what-if: a scenario with another batch, all its metrics",
            [t * 1e3 for t in best(lambda: replace(case, batch=next(batches)).values, 5, 200)],
            "ms",
        ),
        "laws.solve": spread(
            "the same from given values alone",
            [t * 1e3 for t in best(lambda: SERVICE.solve(given), 5, 500)],
            "ms",
        ),
        "laws.compile": spread(
            "compiling all laws of a scenario",
            [t * 1e3 for t in best(lambda: compiled(SERVICE.inputs, list(SERVICE.laws), chain))],
            "ms",
        ),
        "laws.first": spread(
            "from a new process to the first scenario's numbers",
            [first_answer() for _ in range(3)],
            "s",
        ),
    }


def _fastest(says: str, rates: list[float], unit: str) -> Result:
    return Result(says, max(rates), unit, min(rates), max(rates))


if __name__ == "__main__":
    printed(measure())
