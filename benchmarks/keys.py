"""How long it takes to see that nothing changed: python benchmarks/keys.py [--combinations 10000]

Combinations that run are taken from all models and devices; each gets a small notebook that
carries its key.  What is measured is what a sweep does before it runs anything: fingerprints of
code and laws, a key for each combination, and a look at each file.  Seconds are those of a core,
which hardly move when the machine is busy; all of it runs on one.
"""

import argparse
import json
import tempfile
import time
from itertools import islice
from pathlib import Path

from measured import Result, printed

from inferecon.index import Index
from inferecon.matrix import WORKLOAD, combinations, job_for
from inferecon.running import Job


def notebook(job: Job) -> str:
    """Return the end of an executed notebook as nbformat writes it."""
    about = {"key": job.key, "parts": {kind: g.digest for kind, g in job.parts.items()}}
    return json.dumps({"cells": [], "metadata": {"inferecon": about}, "nbformat": 4}, indent=1)


def timed(action, rounds: int = 3):
    """Return what an action gives, and the core seconds of the fastest of a few rounds."""
    least = float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        found = action()
        least = min(least, time.process_time() - begin)
    return found, least


def measure(count: int = 10_000) -> dict[str, Result]:
    """Return the core seconds of each step of a check, and of all that a check repeats."""
    begin = time.process_time()
    stated = combinations("all", "all", "bf16,fp8,int8-w8a8,int4-awq", **WORKLOAD)
    cases = [*islice((one.case for one in stated if not one.obstacles), count)]
    states = time.process_time() - begin
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        begin = time.process_time()
        job_for(cases[0], place)
        once = time.process_time() - begin
        jobs, makes = timed(lambda: [job_for(case, place) for case in cases])
        for job in jobs:
            job.target.parent.mkdir(exist_ok=True)
            job.target.write_text(notebook(job))
        index = Index(place)
        asked, without = timed(lambda: Index(place).reasons(jobs))
        index.note(jobs)
        index.save()
        kept, within = timed(lambda: Index(place).reasons(jobs))
        jobs[7].target.unlink()
        jobs[8].target.write_text("{")
        seen = [reason for reason in Index(place).reasons(jobs) if reason]
    assert not any(asked) and not any(kept) and len(seen) == 2
    n, check = f"{len(jobs):,}", once + makes + within
    return {
        "keys.stated": Result(f"{n} combinations stated, records read and fitted", states, "s"),
        "keys.once": Result("fingerprints of code, laws and versions, once a process", once, "s"),
        "keys.made": Result(f"keys of {n} combinations", makes, "s"),
        "keys.asked": Result(f"{n} results asked for their keys, no index", without, "s"),
        "keys.checked": Result(f"checking {n} keys, with the index", check, "s"),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--combinations", type=int, default=10_000)
    printed(measure(parser.parse_args().combinations))
