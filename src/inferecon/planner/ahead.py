"""Confirm candidates on several cores, before it is known whether each will be needed.

Which candidate is simulated next depends on those before it, so the order of a search is kept:
who asks for a candidate gets what a search on one core would have got.  Meanwhile other cores
simulate whom the search will ask for if nobody before it is better; what it never asks for is
thrown away.  Each is a fork, which has the records and curves that were read already.
"""

import multiprocessing
import os
import sys
from collections.abc import Iterable
from multiprocessing.connection import Connection

from .ask import Ask
from .candidate import Candidate
from .confirm import confirmable
from .trial import Confirmed


class Ahead:
    """Confirms candidates, at most so many at once; with one process, when they are asked for."""

    def __init__(self, ask: Ask, processes: int = 1):
        self.ask, self.processes = ask, processes if sys.platform == "linux" else 1
        self.running: dict[int, tuple[multiprocessing.Process, Connection]] = {}
        self.done: dict[int, Confirmed | str] = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process, receives in self.running.values():
            process.terminate()
            process.join()
            receives.close()

    def get(self, one: Candidate, next_: Iterable[Candidate]) -> Confirmed | str:
        """Return what a simulation found of a candidate, others of ``next_`` beside it."""
        if self.processes < 2:
            return confirmable(self.ask, one)
        for other in (one, *next_):
            self._collect()
            if len(self.running) >= self.processes and other is not one:
                break
            if id(other) not in self.running and id(other) not in self.done:
                self._begin(other)
        self._collect(one)
        found = self.done.pop(id(one))
        if isinstance(found, BaseException):
            raise found
        if isinstance(found, Confirmed):
            found.candidate = one  # it came back as a copy
        return found

    def _begin(self, one: Candidate) -> None:
        context = multiprocessing.get_context("fork")
        receives, sends = context.Pipe(duplex=False)
        process = context.Process(target=_confirmed, args=(sends, self.ask, one), daemon=True)
        process.start()
        sends.close()
        self.running[id(one)] = process, receives

    def _collect(self, wanted: Candidate | None = None) -> None:
        """Take what has ended, and wait for who is wanted."""
        for key, (process, receives) in list(self.running.items()):
            if key == id(wanted) or receives.poll():
                self.done[key] = receives.recv()
                process.join()
                receives.close()
                del self.running[key]


def _confirmed(sends: Connection, ask: Ask, one: Candidate) -> None:
    try:
        found = confirmable(ask, one)
        if isinstance(found, Confirmed):
            found.candidate = None
        sends.send(found)
    except BaseException as mistake:
        sends.send(mistake)
    os._exit(0)  # nothing of the parent is flushed or closed twice
