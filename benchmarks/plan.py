"""Time a plan over all devices of the default sweep: python benchmarks/plan.py

Each run is a process of its own, from its start to the last printed line, at 20 and at 2,000
requests a second.  Given is the time on the clock, candidates simulated on all cores, and beside
it that of all processors, which a busy machine changes little.
"""

import resource
import subprocess
import sys
import time

from measured import Result, printed, spread

CODE = """
import contextlib, io, json, sys
from inferecon.cli import app
arguments = ["plan", "--model", sys.argv[1], "--rps", sys.argv[2], "--slo", sys.argv[3], "--json"]
out = io.StringIO()
with contextlib.redirect_stdout(out):
    app(arguments, standalone_mode=False)
told = json.loads(out.getvalue())
assert told["ranked"]
print(told["enumerated"])
"""
DENSE = ("llama-3.1-70b", "ttft=500ms,itl=50ms")
EXPERTS = ("deepseek-v3", "ttft=2s,itl=50ms")
CASES = {
    "plan.dense": (*DENSE, 20),
    "plan.experts": (*EXPERTS, 20),
    "plan.dense.busy": (*DENSE, 2000),
    "plan.experts.busy": (*EXPERTS, 2000),
}


def run(model: str, slo: str, rps: int) -> tuple[float, float, int]:
    """Return seconds of the clock and of all processors, and candidates, of a plan."""
    command = [sys.executable, "-c", CODE, model, str(rps), slo]
    began, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    took, now = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return took, worked, int(ran.stdout)


def measure() -> dict[str, Result]:
    """Return the time of plans for a dense model and for one with experts, at two loads."""
    found = {}
    for name, (model, slo, rps) in CASES.items():
        runs = [run(model, slo, rps) for _ in range(3)]
        says = f"plan of {model} at {rps:,} requests/s, {runs[0][2]:,} candidates"
        found[name] = spread(f"{says}, on the clock", [took for took, _, _ in runs], "s")
        found[f"{name}.work"] = spread(f"{says}, all cores", [x for _, x, _ in runs], "s")
    return found


if __name__ == "__main__":
    printed(measure())
