"""Time the simulator, and what it holds in memory: python benchmarks/simulate.py

One replica serves 100,000 requests of 500 output tokens, and a tenth of them; the table of step
times is made anew for each.  Each run is a process of its own, so that its peak is its own.
"""

import json
import subprocess
import sys

from measured import Result, printed, spread

REQUESTS, TOKENS, RATE = 100_000, 500, 8.0
CODE = """
import json, resource, sys, time
from inferecon.scenario import Scenario
from inferecon.simulate.arrivals import Lengths
from inferecon.simulate.plan import Load, Service
from inferecon.simulate.run import simulate
count, tokens, rate = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
case = Scenario("llama-3.1-8b", "h100-sxm", isl=1024, osl=tokens)
begin = time.process_time()
found = simulate(Service(case), Load(Lengths(1024, tokens), count=count, rate=rate))
spent = time.process_time() - begin
assert found.tally.done == count and not found.saturated
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([spent, peak, found.tally.tokens_out]))
"""


def run(count: int) -> tuple[float, float, float]:
    """Return processor seconds, peak MiB and output tokens of a run in its own process."""
    command = [sys.executable, "-c", CODE, str(count), str(TOKENS), str(RATE)]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    return tuple(json.loads(ran.stdout))


def measure() -> dict[str, Result]:
    """Return the time of a long run, its tokens a second, and its memory over a short one's."""
    long, short = [run(REQUESTS) for _ in range(3)], [run(REQUESTS // 10) for _ in range(3)]
    return {
        "simulate.seconds": spread(
            "100,000 requests of 500 output tokens, one core", [one[0] for one in long], "s"
        ),
        "simulate.rate": spread(
            "output tokens simulated a second", [one[2] / one[0] for one in long], "token/s"
        ),
        "simulate.peak": spread("peak memory of that run", [one[1] for one in long], "MiB"),
        "simulate.memory": spread(
            "peak memory of ten times as many requests",
            [many[1] / few[1] for many, few in zip(long, short, strict=True)],
            "x",
        ),
    }


if __name__ == "__main__":
    printed(measure())
