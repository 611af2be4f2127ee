"""Time papermill's own engine against the forking one on copies of one notebook, in one run.

    python benchmarks/engine.py NOTEBOOK [--copies 40] [--stock-copies 4] [--workers 2]

Both go through `inferecon.sweep` with the same number of workers; the start of the drivers and
of their warm processes is part of the time.  Prints JSON, then the same in words.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from inferecon.running import Job
from inferecon.sweep import sweep


def seconds_each(source: Path, engine: str, copies: int, workers: int) -> float:
    """Run copies of a notebook from nothing and return the seconds per copy."""
    with tempfile.TemporaryDirectory() as folder:
        jobs = [Job(source, Path(folder) / f"{n}.ipynb", "benchmark") for n in range(copies)]
        begin = time.perf_counter()
        outcomes = sweep(jobs, workers=workers, engine=engine, progress=lambda _: None)
        seconds = time.perf_counter() - begin
    if failed := [outcome for outcome in outcomes if outcome.status != "ok"]:
        sys.exit(f"{len(failed)} of {copies} runs failed, the first with: {failed[0].reason}")
    return seconds / copies


def main() -> None:
    """Run both engines and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--copies", type=int, default=100, help="copies for the forking engine")
    parser.add_argument("--stock-copies", type=int, default=6, help="copies for papermill's own")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    stock = seconds_each(given.notebook, "stock", given.stock_copies, given.workers)
    fork = seconds_each(given.notebook, "inferecon", given.copies, given.workers)
    result = {
        "notebook": given.notebook.name,
        "workers": given.workers,
        "stock_seconds_each": round(stock, 4),
        "fork_seconds_each": round(fork, 4),
        "ratio": round(stock / fork, 2),
    }
    print(json.dumps(result))
    print(
        f"{given.notebook.name}, {given.workers} at a time: {stock:.3f} s each with papermill's "
        f"own engine, {fork:.3f} s with inferecon's, {stock / fork:.1f} times as fast"
    )


if __name__ == "__main__":
    main()
