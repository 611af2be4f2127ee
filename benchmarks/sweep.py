"""What a combination costs in a sweep: python benchmarks/sweep.py [--combinations 200] [--dask]

Core seconds are what is paid for; they hardly move when the machine is busy.  The start of the
processes is taken off by running a few combinations and many.  With ``--dask`` the same runs on
as many workers of a local Dask cluster.
"""

import argparse
import os
import resource
import tempfile
import time
from itertools import islice
from pathlib import Path

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--combinations", type=int, default=200)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--dask", action="store_true")
    given = parser.parse_args()
    stated = combinations("deepseek-*,qwen3-*", "all", "bf16,fp8", **WORKLOAD)
    fit = (one.case for one in stated if not one.obstacles)
    cases = [*islice(fit, given.combinations + FEW)]
    few, many = cases[:FEW], cases[FEW:]
    start = measured(few, given.workers, None)
    wall, used = measured(many, given.workers, None)
    extra = len(many) - len(few)
    print(f"{len(many)} combinations, {given.workers} processes on {os.cpu_count()} cores")
    print(f"start, once: {start[1]:.1f} core seconds, with {FEW} combinations")
    print(f"each: {(used - start[1]) / extra:.3f} core seconds, {(wall - start[0]) / extra:.3f} s")
    if given.dask:
        from distributed import LocalCluster

        with LocalCluster(given.workers, threads_per_worker=1, dashboard_address=None) as local:
            cluster = Cluster(local.scheduler_address)
            measured(few, 0, cluster.run)
            seconds, _ = measured(many, 0, cluster.run)
            cluster.close()
        # the workers are warm by then, so the few took next to nothing but their own time
        ratio = (seconds / len(many)) / ((wall - start[0]) / extra)
        print(f"on a Dask cluster: {seconds / len(many):.3f} s each, {ratio:.2f} times as long")


if __name__ == "__main__":
    main()
