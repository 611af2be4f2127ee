"""Time other tools' estimates and ours in one run: python benchmarks/rivals.py --peers FOLDER

FOLDER (or INFERECON_PEERS) holds a `venv-<tool>` for each tool, made as its driver in
`benchmarks/peers` says, and the sources of those that are run from source.  A tool that is not
there is left out, and a line says so.  Each tool runs in its own environment on the measured
rows that it covers, all of them asked once before.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from measured import Result, printed

from inferecon.laws import SERVICE
from inferecon.scenario import Scenario

HERE = Path(__file__).parent
# driver: (name, environment, source it is run from, whether from inside that source)
TOOLS = {
    "llm_analysis": ("llm-analysis", "venv-llm-analysis", "llm-analysis", False),
    "llm_viewer": ("LLM-Viewer", "venv-llm-viewer", "LLM-Viewer", True),
    "genz": ("GenZ", "venv-genz-llm", "", False),
    "aiconfigurator": ("AIConfigurator, its Python API, warm", "venv-aiconfigurator", "", False),
}
LIMIT = 240  # seconds a tool may take


def pace(folder: Path, driver: str) -> list[float] | str:
    """Return seconds of each estimate of a tool, or why there are none."""
    name, environment, source, inside = TOOLS[driver]
    python = folder / environment / "bin" / "python"
    if not python.exists():
        return f"{name} is left out: there is no {environment} in the folder of the peers"
    if source and not (folder / source).is_dir():
        return f"{name} is left out: there is no {source} in the folder of the peers"
    command = [python.absolute(), HERE.absolute() / "peers" / "pace.py", f"{driver}_rows"]
    ran = subprocess.run(
        command,
        cwd=folder / source if inside else None,
        env={**os.environ, "PYTHONPATH": str((folder / source).absolute()) if source else ""},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    last = (ran.stdout.strip().splitlines() or [""])[-1]
    times = json.loads(last) if last.startswith("[") else []
    return times or f"{name} is left out: {(ran.stderr.strip().splitlines() or ['no row'])[-1]}"


def ours(count: int = 200) -> list[float]:
    """Return seconds of each of our estimates: a scenario with another batch, every metric."""
    case = Scenario("llama-3.1-8b", "h100-sxm")
    times = []
    for batch in range(1, count + 1):
        begin = time.perf_counter()
        replace(case, batch=batch).values  # noqa: B018  the work is to compute them
        times.append(time.perf_counter() - begin)
    return times


def measure(folder: Path | None = None) -> dict[str, Result]:
    """Return each tool's time for an estimate, and how many of ours go into it."""
    named = folder or os.environ.get("INFERECON_PEERS")
    if not named:
        print("Other tools are left out: INFERECON_PEERS names no folder", file=sys.stderr)
        return {}
    own = [t * 1e3 for t in ours()]
    found = {"estimate.ours": quartiles(f"our estimate, {len(SERVICE.laws)} metrics", own)}
    for driver, (name, *_) in TOOLS.items():
        times = pace(Path(named), driver)
        if isinstance(times, str):
            print(times, file=sys.stderr)
            continue
        again = [t * 1e3 for t in ours()]
        theirs = [t * 1e3 for t in times]
        found[f"estimate.{driver}"] = quartiles(f"{name}: an estimate, one figure", theirs)
        ratio = statistics.median(theirs) / statistics.median(again)
        found[f"estimate.{driver}.ratio"] = Result(f"{name}: times our time", ratio, "x")
    return found


def quartiles(says: str, times: list[float]) -> Result:
    """Return the median and the middle half."""
    low, _, high = statistics.quantiles(times, n=4)
    return Result(says, statistics.median(times), "ms", low, high)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, help="folder of the environments")
    printed(measure(parser.parse_args().peers))
