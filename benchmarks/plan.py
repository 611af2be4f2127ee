"""Time a plan over all devices of the default sweep: python benchmarks/plan.py

Each run is a process of its own, from the first import to the last printed line; what is given
is processor time, so that a busy machine changes it little.
"""

import json
import subprocess
import sys

from measured import Result, printed, spread

CODE = """
import contextlib, io, json, sys, time
from inferecon.cli import app
arguments = ["plan", "--model", sys.argv[1], "--rps", "20", "--slo", sys.argv[2], "--json"]
out = io.StringIO()
with contextlib.redirect_stdout(out):
    app(arguments, standalone_mode=False)
told = json.loads(out.getvalue())
assert told["ranked"]
print(json.dumps([time.process_time(), told["enumerated"]]))
"""
CASES = {
    "plan.dense": ("llama-3.1-70b", "ttft=500ms,itl=50ms"),
    "plan.experts": ("deepseek-v3", "ttft=2s,itl=50ms"),
}


def run(model: str, slo: str) -> tuple[float, int]:
    """Return processor seconds and candidates of a plan in its own process."""
    command = [sys.executable, "-c", CODE, model, slo]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    return tuple(json.loads(ran.stdout))


def measure() -> dict[str, Result]:
    """Return the time of a plan for a dense model and for one with experts."""
    found = {}
    for name, (model, slo) in CASES.items():
        runs = [run(model, slo) for _ in range(3)]
        says = f"plan of {model}, {runs[0][1]:,} candidates, one core"
        found[name] = spread(says, [seconds for seconds, _ in runs], "s")
    return found


if __name__ == "__main__":
    printed(measure())
