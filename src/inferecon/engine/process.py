"""The driver's hold on a warm process and on the child that runs its present notebook.

One driver process has one warm process, started at its first notebook, and one child at a time.
What happens inside them is `inferecon.engine_child`.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait

from nbclient.exceptions import DeadKernelError

# Native thread pools in the warm process would make a fork unsafe; a fixed hash seed keeps the
# order of sets, and so the bytes of a notebook, the same from run to run.
WARM_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "PYTHONHASHSEED": "0",
}
DEFAULT_PRELOAD = "inferecon.book:warm,inferecon.predicting:warm"
GRACE = 0.5  # seconds a cell has after its timeout to show where it was


def preload_list() -> list[str]:
    """Return INFERECON_PRELOAD (comma-separated `module` or `module:function`) or the default."""
    given = os.environ.get("INFERECON_PRELOAD", DEFAULT_PRELOAD)
    return [entry for entry in given.split(",") if entry]


class WarmUpError(RuntimeError):
    """The warm process could not import what it was told to; no notebook can run."""


class Warm:
    """A warm process and the socket on which it is asked for children."""

    current: "Warm | None" = None

    def __init__(self, preload: list[str]):
        self.owner = os.getpid()
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        call = f"serve({theirs.fileno()}, {preload!r})"
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"from inferecon.engine_child.server import serve; {call}"],
            pass_fds=[theirs.fileno()],
            env=os.environ | WARM_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is the driver's to handle
        )
        theirs.close()
        atexit.register(self.close)
        self.event("ready")

    @classmethod
    def get(cls) -> "Warm":
        """Return this process's warm process, starting one if there is none."""
        if cls.current and cls.current.owner == os.getpid():
            if cls.current.process.poll() is None:
                return cls.current
            cls.current.close()
        cls.current = cls(preload_list())
        return cls.current

    def close(self) -> None:
        """End the warm process and all its children."""
        atexit.unregister(self.close)
        if self.owner == os.getpid():
            self.control.close()
            self.process.wait()

    def event(self, kind: str) -> dict:
        """Wait for the next event of a kind, passing over the deaths of earlier children."""
        while raw := self.control.recv(4096):
            event = json.loads(raw)
            if "failed" in event:
                raise WarmUpError(f"the warm process did not start: {event['failed']}")
            if kind in event:
                return event
        raise DeadKernelError("the warm process of the engine ended")


class Child:
    """One forked child, for one notebook."""

    def __init__(self, warm: Warm):
        self.warm = warm
        mine, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(warm.control, [b"fork"], [theirs.fileno()])
        self.pipe = Connection(mine.detach())
        self.pid, self.code = warm.event("forked")["forked"], None
        start = {"cwd": os.getcwd(), "environment": dict(os.environ)}
        self.pipe.send_bytes(json.dumps(start).encode())

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_) -> None:
        self.kill()
        self.pipe.close()

    def kill(self) -> None:
        """End the child and whatever the notebook has started."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def run(self, source: str, timeout: float | None) -> Iterator[tuple[str, dict]]:
        """Yield the messages of a cell, its reply last.

        Raises TimeoutError, after asking the cell to show where it is, and DeadKernelError.
        """
        self.pipe.send_bytes(source.encode())
        if timeout is None or timeout < 0:
            yield from self.messages(None)
            return
        try:
            yield from self.messages(timeout)
        except TimeoutError:
            os.kill(self.pid, signal.SIGINT)
            try:
                yield from self.messages(GRACE)
            except (TimeoutError, DeadKernelError):
                pass
            raise

    def messages(self, limit: float | None) -> Iterator[tuple[str, dict]]:
        """Yield messages up to a reply, for at most a number of seconds."""
        end = None if limit is None else time.monotonic() + limit
        kind = None
        while kind != "execute_reply":
            left = None if end is None else end - time.monotonic()
            ready = wait([self.pipe, self.warm.control], left)
            if not ready:
                raise TimeoutError
            if self.pipe not in ready:
                self.note_death()
                continue
            try:
                kind, content = json.loads(self.pipe.recv_bytes())
            except (EOFError, ConnectionError):
                while self.code is None:
                    self.note_death()
                raise DeadKernelError(f"the kernel {ending(self.code)}") from None
            yield kind, content

    def note_death(self) -> None:
        """Read one report of a death; it may be that of an earlier child."""
        event = self.warm.event("exited")
        if event["exited"] == self.pid:
            self.code = event["code"]
            self.kill()  # what the notebook has started may hold our socket open


def ending(code: int) -> str:
    """Say how a process ended."""
    if code == -signal.SIGKILL:
        return "was ended by SIGKILL, as a machine does that runs out of memory"
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"exited with code {code}"
