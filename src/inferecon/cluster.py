"""Jobs on a Dask cluster that runs already; how it was started is its user's affair.

No folder is shared.  The source of a notebook travels with its job; records, laws, modules and
versions do not: a worker compares its own with the parts of the job's key, and is passed over
if one differs.  A result that goes to a folder of this machine comes back over the connection;
one that goes to an address is written there by the worker.
"""

import asyncio
import atexit
import logging
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from . import keys, store
from .drivers import Driver
from .engine import Outcome, WarmUpError
from .errors import BadInput
from .running import Ending, Job, deliver, only_here

AHEAD = 2  # jobs a thread of a worker: one runs, the next is there when it ends
PATIENCE = 10  # seconds in which a scheduler must answer
LOOK = 1.0  # seconds between two looks at which workers there are


@dataclass(frozen=True)
class Answer:
    """What a worker made of a job: why it did not run it, or how it ended."""

    worker: str
    refusal: str = ""
    ending: Ending | None = None


# On a worker ---------------------------------------------------------------------------------

_own = threading.local()  # each thread of a worker has a driver process of its own


@lru_cache
def _scratch() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="inferecon-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def work(job: Job, source: bytes, options: Mapping[str, object], comes_back: bool) -> Answer:
    """Run a job that was sent here."""
    from distributed import get_worker

    address = get_worker().address
    if said := keys.differences(job.parts):
        return Answer(address, refusal=said)
    copy = _scratch() / keys.uses.sha(source) / job.source.name
    if not copy.is_file():
        store.write(copy, source)
    here = replace(job, source=copy)
    driver = getattr(_own, "driver", None)
    if driver is None or not driver.alive:
        driver = _own.driver = Driver()
    driver.give(here, {**options, "comes_back": comes_back})
    try:
        return Answer(address, ending=driver.take(here))
    except WarmUpError as error:
        return Answer(address, refusal=str(error))


# On this machine -----------------------------------------------------------------------------


async def _greeted(address: str) -> None:
    """Return once a scheduler has answered in Dask's own words."""
    from distributed import Security
    from distributed.comm import connect

    how = Security().get_connection_args("client")
    async with asyncio.timeout(PATIENCE):  # Dask waits without end for the first word
        comm = await connect(address, timeout=PATIENCE, **how)
    await comm.close()


class Cluster:
    """A connection to a scheduler.  Raises BadInput if none answers."""

    def __init__(self, address: str):
        try:
            from distributed import Client
        except ImportError:
            raise BadInput("--scheduler needs Dask: pip install 'inferecon[dask]'") from None
        logging.getLogger("distributed").setLevel(logging.ERROR)
        try:
            asyncio.run(_greeted(address))  # a client that failed would take long to die, noisily
            self.client = Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            said = str(error) or f"not a word in {PATIENCE} s"
            raise BadInput(f"no Dask scheduler answers at {address}: {said}") from None
        except Exception as error:  # whatever Dask makes of the words of another protocol
            raise BadInput(
                f"what answers at {address} is no Dask scheduler: {type(error).__name__}; its "
                "address is the tcp:// or tls:// one that it prints, not the one of its dashboard"
            ) from None
        self.address, self.refused = address, {}

    def run(
        self, jobs: Sequence[Job], options: Mapping[str, object]
    ) -> Iterator[tuple[int, Ending]]:
        """Run jobs on the workers there are; yield number and ending of each as it ends.

        Workers may come and go.  A job whose worker died is run again by the scheduler, as
        often as its setting ``allowed-failures`` says.  Raises BadInput if the scheduler is
        gone, or no worker is of this edition.
        """
        todo, flying = deque(range(len(jobs))), {}
        self.sources = {job.source: job.source.read_bytes() for job in jobs}
        looked, workers, told = 0.0, {}, False
        try:
            while todo or flying:
                if time.monotonic() - looked > LOOK or not workers:
                    looked, workers = time.monotonic(), self.workers()
                    self._take_back(flying, todo, workers)
                while todo and len(flying) < AHEAD * sum(workers.values()):
                    number = todo.popleft()
                    flying[self._submit(jobs[number], options, workers)] = number, set(workers)
                if not flying:
                    if not told:
                        print(f"{self.address} has no worker yet; waiting", file=sys.stderr)
                    told = True
                    time.sleep(LOOK / 2)
                for future in self._ended(flying):
                    number, _ = flying.pop(future)
                    ending = self._ending(future, jobs[number])
                    if ending is None:
                        todo.appendleft(number)
                        looked = 0.0  # it may be that a worker is gone, or refused from now on
                    else:
                        yield number, ending
        finally:
            self._cancel(list(flying))

    def workers(self) -> dict[str, int]:
        """Return the threads of each worker that may be used, by address."""
        try:
            found = self.client.nthreads()
        except (OSError, TimeoutError) as error:
            raise self._gone() from error
        usable = {address: n for address, n in found.items() if address not in self.refused}
        if found and not usable:
            address, said = next(iter(self.refused.items()))
            raise BadInput(f"no worker of {self.address} is of this edition; {address}: {said}")
        return usable

    def close(self) -> None:
        self.client.close(timeout=2)

    def _submit(self, job: Job, options: Mapping[str, object], workers: Mapping[str, int]):
        comes_back = isinstance(job.target, Path) or only_here(job)
        only = list(workers) if self.refused else None
        sent = replace(job, source=Path(job.source.name))
        return self.client.submit(
            work, sent, self.sources[job.source], options, comes_back, pure=False, workers=only
        )

    def _ended(self, flying: dict) -> list:
        from distributed import wait

        if not flying:
            return []
        try:
            return list(wait(list(flying), timeout=LOOK, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            return []
        except Exception as error:  # futures of a scheduler that is gone are cancelled
            if self.client.status != "running":
                raise self._gone() from error
            return [future for future in flying if future.done()]

    def _ending(self, future, job: Job) -> Ending | None:
        """Return how a job ended; None if it must be run again."""
        from distributed import KilledWorker

        if future.status in ("cancelled", "lost"):
            if self.client.status != "running":
                raise self._gone()
            return None
        try:
            answer = future.result()
        except KilledWorker as error:
            died = error.allowed_failures + 1
            reason = f"{died} workers died with it, the last {error.last_worker.address}: given up"
            return Ending(Outcome(job.target, "died", reason))
        except ModuleNotFoundError as error:
            raise BadInput(f"a worker of {self.address} has no inferecon: {error}") from error
        except Exception as error:  # what only this job meets: a store that refuses it
            return Ending(Outcome(job.target, "error", f"{type(error).__name__}: {error}"))
        if answer.refusal:
            if answer.worker not in self.refused:
                self.refused[answer.worker] = answer.refusal
                print(
                    f"worker {answer.worker} is passed over, it is of another edition: "
                    f"{answer.refusal}",
                    file=sys.stderr,
                )
            return None
        return deliver(job, answer.ending)

    def _take_back(self, flying: dict, todo: deque, workers: Mapping[str, int]) -> None:
        """Take back jobs that only workers may run which are gone or refused since."""
        if not self.refused:
            return
        lost = [f for f, (_, allowed) in flying.items() if not allowed & workers.keys()]
        for future in lost:
            todo.appendleft(flying.pop(future)[0])
        self._cancel(lost)

    def _cancel(self, futures: list) -> None:
        if futures and self.client.status == "running":
            self.client.cancel(futures, force=True)

    def _gone(self) -> BadInput:
        return BadInput(f"the scheduler {self.address} is gone; what was finished is kept")
