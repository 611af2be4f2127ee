"""Run many notebooks: only those whose inputs changed, and say which change it was.

Where they run, on this machine or on a cluster, is left to `drivers` and `cluster`; what the
keys are made of, to `matrix`.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from . import store
from .drivers import run_here
from .engine import Outcome, check_parameters
from .index import NEW, Index
from .running import Job

SAVED_EVERY = 30  # seconds between two savings of the index
MANY = 50  # notebooks whose progress a log is told


class Interrupted(SystemExit):
    """Ctrl-C: what is finished is kept.  Uncaught, it ends the process with status 130."""

    def __init__(self, finished: int, jobs: int):
        super().__init__(130)
        self.finished = finished
        print(
            f"Interrupted: {finished} of {jobs} notebooks are done and kept; "
            "run the same command again for the rest.",
            file=sys.stderr,
        )


def sweep(
    jobs: Sequence[Job],
    *,
    workers: int = 1,
    index: store.Place | None = None,
    resume: bool = True,
    run: Callable[..., Iterator] | None = None,
    published: Callable[[int, dict | None], None] | None = None,
    progress: Callable[[Outcome], None] | None = None,
    engine: str = "inferecon",
    timeout: float = 600,
    preload: Sequence[str] | None = None,
) -> list[Outcome]:
    """Run the jobs that are not done and return all outcomes, in the order of the jobs.

    `index` is the folder that keeps the index of the results; `resume` False runs everything.
    `run` takes jobs and options and yields number and ending of each; the default are `workers`
    processes of this machine.  `published` is called with the number of each job that is done
    and what it published, None for a result that was kept.
    `progress` is called after each notebook; without it a bar is drawn on standard error, and
    what changed is said.
    `preload` replaces the list of what each warm process imports (`module` or `module:function`).
    Raises, before anything runs, if a parameter does not fit or two jobs share a target;
    WarmUpError if a module of the preload list fails.
    Ctrl-C ends the children, keeps what is finished and leaves with exit status 130.
    """
    shared = [target for target, n in Counter(job.target for job in jobs).items() if n > 1]
    if shared:
        raise ValueError(f"{len(shared)} targets have several jobs, the first {shared[0]}")
    for job in jobs:
        check_parameters(job.source, job.parameters)
    known = Index(index)
    reasons = known.reasons(jobs) if resume else ["all are asked for"] * len(jobs)
    outcomes = [None if reason else Outcome(job.target, "kept")
                for job, reason in zip(jobs, reasons, strict=True)]  # fmt: skip
    todo = [number for number, outcome in enumerate(outcomes) if outcome is None]
    console = Console(stderr=True, soft_wrap=True)
    if progress is None:
        explain(reasons, console)
    for number in sorted(set(range(len(jobs))) - set(todo)) if published else ():
        published(number, None)
    asked, options = [jobs[number] for number in todo], {"engine": engine, "timeout": timeout}
    endings = run(asked, options) if run else run_here(asked, workers, options, preload)
    saved, fresh = time.monotonic(), []
    try:
        kept = len(jobs) - len(todo)
        with (
            progress_bar(len(todo), kept, console) if progress is None else plain(progress) as note
        ):
            for place, ending in endings:
                number, outcome = todo[place], ending.outcome
                outcomes[number] = outcome
                if outcome.status == "ok":
                    fresh.append(jobs[number])
                    if published:
                        published(number, ending.found)
                note(outcome)
                if time.monotonic() - saved > SAVED_EVERY:
                    known.note(fresh)
                    known.save()
                    saved, fresh = time.monotonic(), []
    except KeyboardInterrupt:
        raise Interrupted(sum(o is not None for o in outcomes), len(jobs)) from None
    finally:
        endings.close()
        known.note(fresh)
        known.save()
    return outcomes


def explain(reasons: Sequence[str], console: Console) -> None:
    """Say how many notebooks run, by reason, the most frequent first."""
    counts = Counter(reason for reason in reasons if reason)
    for reason, n in counts.most_common(10):
        what = "notebook" if n == 1 else "notebooks"
        again = "run" if reason == NEW else "run again"
        again = again.replace("run", "runs", 1) if n == 1 else again
        console.print(f"{n:,} {what} {again}: {reason}", highlight=False, markup=False)
    if more := counts.total() - sum(n for _, n in counts.most_common(10)):
        console.print(f"{more:,} more run for other reasons", highlight=False)


@contextmanager
def plain(progress: Callable[[Outcome], None]) -> Iterator[Callable[[Outcome], None]]:
    """Pass a caller's function through."""
    yield progress


@contextmanager
def progress_bar(total: int, kept: int, console: Console) -> Iterator[Callable[[Outcome], None]]:
    """Draw a bar with the time left and a count of each outcome on standard error.

    Where no terminal is, as in a log, a line for each tenth of many notebooks says the same.
    """
    counts = Counter({"kept": kept} if kept else {})
    columns = [TextColumn("notebooks"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    columns.append(TextColumn("{task.fields[counts]}"))

    def text() -> str:
        return "  ".join(f"{n} {status}" for status, n in sorted(counts.items()))

    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=total, counts=text())

        def note(outcome: Outcome) -> None:
            counts[outcome.status] += 1
            bar.update(task, advance=1, counts=text())
            done = counts.total() - kept
            tenth = done * 10 // total > (done - 1) * 10 // total
            if total >= MANY and tenth and not console.is_terminal:
                left = bar.tasks[task].time_remaining or 0.0
                console.print(f"{done:,} of {total:,} notebooks, about {left:.0f} s left")

        yield note
