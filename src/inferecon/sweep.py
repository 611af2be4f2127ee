"""Run many notebooks: a few driver processes, each with its own warm process; resumable.

A job whose target carries its key already is kept, so an interrupted sweep can go on.
What the keys are made of is left to the caller, one notebook to `engine`.
"""

import json
import os
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .engine import Outcome, WarmUpError, check_parameters, run_notebook
from .engine.notebook import partial_name
from .engine_child.server import die_with_parent

TAIL = 1 << 16  # bytes at the end of a notebook in which its metadata are


@dataclass(frozen=True)
class Job:
    """One notebook to run; `key` names everything that its result depends on."""

    source: Path
    target: Path
    key: str
    parameters: Mapping[str, object] = field(default_factory=dict)


def is_done(job: Job) -> bool:
    """Say whether the target carries the job's key."""
    try:
        with job.target.open("rb") as file:
            file.seek(max(0, os.path.getsize(job.target) - TAIL))
            # nbformat sorts keys and indents by one: only the notebook's own metadata match
            _, found, metadata = file.read().rpartition(b'\n "metadata": ')
        notebook = json.loads(b'{"metadata": ' + metadata) if found else {"metadata": {}}
        return notebook["metadata"].get("inferecon", {}).get("key") == job.key
    except (FileNotFoundError, ValueError, AttributeError):  # absent, or damaged: run it again
        return False


def sweep(
    jobs: Sequence[Job],
    *,
    workers: int,
    progress: Callable[[Outcome], None] | None = None,
    engine: str = "inferecon",
    timeout: float = 600,
    preload: Sequence[str] | None = None,
) -> list[Outcome]:
    """Run the jobs that are not done and return all outcomes, in the order of the jobs.

    `progress` is called after each notebook; without it a bar is drawn on standard error.
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
    outcomes = [Outcome(job.target, "kept") if is_done(job) else None for job in jobs]
    todo = deque(number for number, outcome in enumerate(outcomes) if outcome is None)
    kept = len(jobs) - len(todo)
    options, environment = {"engine": engine, "timeout": timeout}, dict(os.environ)
    if preload is not None:
        environment["INFERECON_PRELOAD"] = ",".join(preload)
    running: dict[Connection, tuple[Driver, int]] = {}
    try:
        with progress_bar(len(todo), kept) if progress is None else plain(progress) as note:
            for _ in range(min(workers, len(todo))):
                driver, number = Driver(environment), todo.popleft()
                driver.give(jobs[number], options)
                running[driver.pipe] = driver, number
            while running:
                for pipe in wait(list(running)):
                    driver, number = running.pop(pipe)
                    outcomes[number] = driver.take(jobs[number])
                    note(outcomes[number])
                    if not todo:
                        driver.end()
                        continue
                    if outcomes[number].status == "died" and driver.process.poll() is not None:
                        driver = Driver(environment)
                    number = todo.popleft()
                    driver.give(jobs[number], options)
                    running[driver.pipe] = driver, number
    except KeyboardInterrupt:
        finished = sum(outcome is not None for outcome in outcomes)
        print(
            f"Interrupted: {finished} of {len(jobs)} notebooks are done and kept; "
            "run the same command again for the rest.",
            file=sys.stderr,
        )
        raise SystemExit(130) from None
    finally:
        for driver, number in running.values():
            driver.kill()
            partial_name(jobs[number].target).unlink(missing_ok=True)
    return outcomes


class Driver:
    """A process that runs one notebook after another."""

    def __init__(self, environment: Mapping[str, str]):
        self.pipe, theirs = Pipe()
        code = f"from inferecon.sweep import drive; drive({theirs.fileno()})"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            pass_fds=[theirs.fileno()],
            env=environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches the sweep only
        )
        theirs.close()

    def give(self, job: Job, options: dict) -> None:
        """Hand over a job; if the driver is dead, `take` will say so."""
        with suppress(BrokenPipeError):
            self.pipe.send((job, options))

    def take(self, job: Job) -> Outcome:
        """Receive the outcome of a job."""
        try:
            received = self.pipe.recv()
        except (EOFError, ConnectionError):
            code = self.process.wait()
            self.pipe.close()
            partial_name(job.target).unlink(missing_ok=True)
            return Outcome(job.target, "died", f"the driver process ended with code {code}")
        if isinstance(received, WarmUpError):
            self.end()
            raise received
        return received

    def end(self) -> None:
        """Let the process end by itself, as it does when nobody can give it a job."""
        self.pipe.close()
        self.process.wait()

    def kill(self) -> None:
        """End the process; its warm process and child die with it."""
        self.process.kill()
        self.end()


def drive(descriptor: int) -> None:
    """Run jobs in a driver process until the sweep closes the connection."""
    die_with_parent()
    pipe = Connection(descriptor)
    while True:
        try:
            job, options = pipe.recv()
        except EOFError:
            return
        try:
            outcome = run_notebook(job.source, job.target, job.parameters, key=job.key, **options)
        except WarmUpError as error:
            outcome = error
        except Exception as error:  # a full disk, an unreadable notebook: this job's failure only
            outcome = Outcome(job.target, "error", f"{type(error).__name__}: {error}")
        pipe.send(outcome)


@contextmanager
def plain(progress: Callable[[Outcome], None]) -> Iterator[Callable[[Outcome], None]]:
    """Pass a caller's function through."""
    yield progress


@contextmanager
def progress_bar(total: int, kept: int) -> Iterator[Callable[[Outcome], None]]:
    """Draw a bar with the time left and a count of each outcome on standard error."""
    counts = Counter({"kept": kept} if kept else {})
    columns = [TextColumn("notebooks"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    columns.append(TextColumn("{task.fields[counts]}"))

    def text() -> str:
        return "  ".join(f"{n} {status}" for status, n in sorted(counts.items()))

    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=total, counts=text())

        def note(outcome: Outcome) -> None:
            counts[outcome.status] += 1
            bar.update(task, advance=1, counts=text())

        yield note
