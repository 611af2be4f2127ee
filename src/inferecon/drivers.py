"""Processes of this machine that run notebooks, each one after another with its warm process."""

import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path

from .engine import Outcome, WarmUpError
from .engine.notebook import partial_name
from .engine_child.server import die_with_parent
from .running import Ending, Job, deliver, execute, only_here


class Driver:
    """A process that runs one notebook after another."""

    def __init__(self, environment: Mapping[str, str] = os.environ):
        self.pipe, theirs = Pipe()
        code = f"from inferecon.drivers import drive; drive({theirs.fileno()})"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            pass_fds=[theirs.fileno()],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches the sweep only
        )
        theirs.close()

    def give(self, job: Job, options: Mapping[str, object]) -> None:
        """Hand over a job; if the driver is dead, `take` will say so."""
        with suppress(BrokenPipeError):
            self.pipe.send((job, {"comes_back": only_here(job), **options}))

    def take(self, job: Job) -> Ending:
        """Receive how a job ended."""
        try:
            received = self.pipe.recv()
        except (EOFError, ConnectionError):
            code = self.process.wait()
            self.pipe.close()
            clear(job)
            reason = f"the driver process ended with code {code}"
            return Ending(Outcome(job.target, "died", reason))
        if isinstance(received, WarmUpError):
            self.end()
            raise received
        return received

    @property
    def alive(self) -> bool:
        return not self.pipe.closed and self.process.poll() is None

    def end(self) -> None:
        """Let the process end by itself, as it does when nobody can give it a job."""
        self.pipe.close()
        self.process.wait()

    def kill(self) -> None:
        """End the process; its warm process and child die with it."""
        self.process.kill()
        self.end()


def clear(job: Job) -> None:
    """Remove what a driver that was ended has left half-written."""
    if isinstance(job.target, Path):
        partial_name(job.target).unlink(missing_ok=True)


def run_here(
    jobs: Sequence[Job],
    workers: int,
    options: Mapping[str, object],
    preload: Sequence[str] | None = None,
) -> Iterator[tuple[int, Ending]]:
    """Run jobs in processes of this machine; yield number and ending of each as it ends.

    Closing the iterator ends the processes.
    """
    environment = dict(os.environ)
    if preload is not None:
        environment["INFERECON_PRELOAD"] = ",".join(preload)
    todo, running = deque(range(len(jobs))), {}
    try:
        for _ in range(min(workers, len(todo))):
            driver, number = Driver(environment), todo.popleft()
            driver.give(jobs[number], options)
            running[driver.pipe] = driver, number
        while running:
            for pipe in wait(list(running)):
                driver, done = running.pop(pipe)
                ending = driver.take(jobs[done])
                ending = deliver(jobs[done], ending)
                if todo:
                    if ending.outcome.status == "died" and not driver.alive:
                        driver = Driver(environment)
                    number = todo.popleft()
                    driver.give(jobs[number], options)
                    running[driver.pipe] = driver, number
                elif driver.alive:
                    driver.end()
                yield done, ending
    finally:
        for driver, number in running.values():
            driver.kill()
            clear(jobs[number])


def drive(descriptor: int) -> None:
    """Run jobs in a driver process until the other end closes the connection."""
    die_with_parent()
    pipe = Connection(descriptor)
    while True:
        try:
            job, options = pipe.recv()
        except EOFError:
            return
        try:
            ending = execute(job, **options)
        except WarmUpError as error:
            ending = error
        except Exception as error:  # a full disk, an unreadable notebook: this job's failure only
            ending = Ending(Outcome(job.target, "error", f"{type(error).__name__}: {error}"))
        pipe.send(ending)
