"""What a combination costs in a sweep: python benchmarks/sweep.py [--combinations 200]

Core seconds are what is paid for; they hardly move when the machine is busy.  The start of the
processes is taken off by running a few combinations and many.  The same runs then go to as many
workers of a local Dask cluster, by the clock: what they use, nobody here has waited for.
"""

import argparse
import os
import resource
import tempfile
import time
from itertools import islice
from pathlib import Path

from measured import Result, printed

from inferecon.cluster import Cluster
from inferecon.matrix import WORKLOAD, combinations, job_for
from inferecon.sweep import sweep

FEW = 4


def measured(cases: list, workers: int, run) -> tuple[float, float]:
    """Return wall seconds and core seconds of running these, everything that starts included."""
    with tempfile.TemporaryDirectory() as folder:
        jobs = [job_for(case, Path(folder)) for case in cases]
        begin, before = time.perf_counter(), cores()
        outcomes = sweep(jobs, workers=workers, run=run, progress=lambda _: None)
        wall, used = time.perf_counter() - begin, cores() - before
    assert all(outcome.status == "ok" for outcome in outcomes)
    return wall, used


def cores() -> float:
    """Core seconds of this process and of all that it has started and waited for."""
    every = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in every)


def measure(count: int = 200, workers: int | None = None) -> dict[str, Result]:
    """Return what start and combinations cost, here and on a Dask cluster of this machine."""
    from distributed import LocalCluster

    workers = workers or os.cpu_count()
    stated = combinations("deepseek-*,qwen3-*", "all", "bf16,fp8", **WORKLOAD)
    fit = (one.case for one in stated if not one.obstacles)
    cases = [*islice(fit, count + FEW)]
    few, many = cases[:FEW], cases[FEW:]
    start = measured(few, workers, None)
    wall, used = measured(many, workers, None)
    extra = len(many) - len(few)
    each = (wall - start[0]) / extra
    with LocalCluster(workers, threads_per_worker=1, dashboard_address=None) as local:
        cluster = Cluster(local.scheduler_address)
        measured(few, 0, cluster.run)  # the workers are warm after that
        there = measured(many, 0, cluster.run)[0] / len(many)
        cluster.close()
    what = f"a combination of {len(many)}, {workers} processes"
    return {
        "sweep.start": Result(f"start of {workers} processes, {FEW} combinations", start[1], "s"),
        "sweep.each": Result(f"{what}, core seconds", (used - start[1]) / extra, "s"),
        "sweep.clock": Result(f"{what}, by the clock", each, "s"),
        "sweep.dask": Result("the same on as many workers of a Dask cluster", there, "s"),
        "sweep.dask.ratio": Result("on the cluster, times as long", there / each, "x"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--combinations", type=int, default=200)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    given = parser.parse_args()
    printed(measure(given.combinations, given.workers))


if __name__ == "__main__":
    main()
