"""Time papermill's own engine against the forking one on copies of one notebook, in one run.

    python benchmarks/engine.py [NOTEBOOK] [--copies 60] [--stock-copies 6] [--rounds 3]

Both go through `inferecon.sweep` with the same number of workers, by turns.  Every worker's first
notebook waits for its driver, and with the forking engine for its warm process; that start-up is
given apart, and the seconds for each notebook are those between the first ends and the last.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from measured import Result, printed, spread

from inferecon.running import Job
from inferecon.sweep import sweep

SCENARIO = Path(__file__).parents[1] / "notebooks" / "scenario.ipynb"


def run(source: Path, engine: str, copies: int, workers: int) -> tuple[float, float]:
    """Return the seconds until each worker has ended a notebook, and those for each one after."""
    with tempfile.TemporaryDirectory() as folder:
        jobs = [Job(source, Path(folder) / f"{n}.ipynb", "benchmark") for n in range(copies)]
        ends: list[float] = []
        begin = time.perf_counter()
        outcomes = sweep(
            jobs,
            workers=workers,
            engine=engine,
            progress=lambda _: ends.append(time.perf_counter() - begin),
        )
    if failed := [outcome for outcome in outcomes if outcome.status != "ok"]:
        sys.exit(f"{len(failed)} of {copies} runs failed, the first with: {failed[0].reason}")
    first = ends[workers - 1]
    return first, (ends[-1] - first) / (copies - workers)


def measure(
    source: Path = SCENARIO,
    copies: int = 60,
    stock_copies: int = 6,
    rounds: int = 3,
    workers: int = 2,
) -> dict[str, Result]:
    """Run both engines by turns and return seconds, start-up and ratios."""
    stock, fork, warm = [], [], []
    for _ in range(rounds):
        stock.append(run(source, "stock", stock_copies, workers)[1])
        start, each = run(source, "inferecon", copies, workers)
        fork.append(each)
        warm.append(start - each)
    ratios = [slow / fast for slow, fast in zip(stock, fork, strict=True)]
    how = f"{source.stem}, {workers} at a time"
    return {
        "engine.stock": spread(f"papermill's own engine, a notebook ({how})", stock, "s"),
        "engine.fork": spread(f"the forking engine, a notebook ({how})", fork, "s"),
        "engine.start": spread("start-up of its driver and warm process, once a worker", warm, "s"),
        "engine.ratio": spread(f"times as fast as papermill's own engine ({how})", ratios, "x"),
        "engine.ratio_1000": Result(
            "the same for 1,000 notebooks, start-up of the warm processes included",
            statistics.median(
                s * 1000 / (f * 1000 + w) for s, f, w in zip(stock, fork, warm, strict=True)
            ),
            "x",
        ),
    }


def main() -> None:
    """Run both engines and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=Path, nargs="?", default=SCENARIO)
    parser.add_argument("--copies", type=int, default=60, help="copies for the forking engine")
    parser.add_argument("--stock-copies", type=int, default=6, help="copies for papermill's own")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    printed(measure(given.notebook, given.copies, given.stock_copies, given.rounds, given.workers))


if __name__ == "__main__":
    main()
