"""What runs the cells of one notebook: ipykernel's own shell, with a socket in place of ZeroMQ.

Output, display and error messages leave as JSON, with the content that a Jupyter kernel would send.
Forking and reporting deaths are left to `server`.
"""

import asyncio
import builtins
import codecs
import io
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from ipykernel.compiler import XCachingCompiler
from ipykernel.zmqshell import ZMQInteractiveShell
from IPython.core.error import StdinNotImplementedError
from jupyter_client.jsonutil import json_default
from jupyter_client.session import Session
from traitlets.config import Config

INLINE = "module://matplotlib_inline.backend_inline"  # what a stock kernel sets
MOST = 50_000_000  # characters that a notebook may show: more than a reader's browser can open
WIDGET = "application/vnd.jupyter.widget-view+json"
AS_TEXT = (
    "Widgets are shown as text: this engine keeps no kernel for them. "
    "Run the notebook with papermill's own engine for their state.\n"
)


class TooMuchOutput(RuntimeError):
    """A notebook shows more than anybody can open."""


class JsonSession(Session):
    """A Jupyter session whose messages go to `connection`, from the process that owns it only."""

    connection = None
    owner = 0
    left = MOST
    told = False

    def spend(self, size: int) -> bool:
        """Count what is shown and say whether it is still little enough."""
        self.left -= size
        return self.left >= 0

    def check(self) -> None:
        """Raise if too much was shown."""
        if self.left < 0:
            raise TooMuchOutput(f"this notebook shows more than {MOST:,} characters")

    def as_text(self, content: dict) -> dict:
        """Take the view of a widget from what is shown, and say so once."""
        if not self.told:
            self.told = True
            sys.stderr.write(AS_TEXT)
            sys.stderr.flush()
        return {**content, "data": {k: v for k, v in content["data"].items() if k != WIDGET}}

    def send(self, stream, msg_or_type, content=None, *args, **kwargs):
        """Send one message, given whole or as a type and its content."""
        if os.getpid() != self.owner:
            return  # a process forked by the notebook: two writers would mix their bytes
        if isinstance(msg_or_type, dict):
            msg_or_type, content = msg_or_type["header"]["msg_type"], msg_or_type["content"]
        if WIDGET in content.get("data", ()):
            content = self.as_text(content)
        message = json.dumps([msg_or_type, content], default=json_default)
        if "data" in content and not self.spend(len(message)):
            self.check()
        self.connection.send_bytes(message.encode())


class Stream(io.TextIOBase):
    """Standard output or error, including what subprocesses write to the descriptor."""

    encoding = "utf-8"

    def __init__(self, name: str, descriptor: int, session: JsonSession):
        self.name, self.session, self.descriptor = name, session, descriptor
        self.owner, self.parts, self.seen = os.getpid(), [], 0
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        file = os.memfd_create(name)
        os.dup2(file, descriptor)
        os.close(file)

    def fileno(self) -> int:
        return self.descriptor

    def writable(self) -> bool:
        return True

    def collect(self) -> None:
        """Take over what was written to the descriptor since the last look."""
        while raw := os.pread(self.descriptor, 1 << 20, self.seen):
            self.seen += len(raw)
            self.take(self.decoder.decode(raw))

    def take(self, text: str) -> None:
        if self.session.spend(len(text)):
            self.parts.append(text)

    def write(self, text: str) -> int:
        if os.getpid() != self.owner:
            os.write(self.descriptor, text.encode())
            return len(text)
        self.collect()
        self.take(text)
        self.session.check()  # here and not in `flush`, which the shell calls to show an error
        return len(text)

    def flush(self) -> None:
        if os.getpid() != self.owner:
            return
        self.collect()
        if self.parts:
            text, self.parts = "".join(self.parts), []
            self.session.send(None, "stream", {"name": self.name, "text": text})


def refuse_input(*_) -> None:
    """Stand in for input(), as nbclient does."""
    raise StdinNotImplementedError(
        "raw_input was called, but this frontend does not support input requests."
    )


async def run_cell(shell: ZMQInteractiveShell, source: str) -> dict:
    """Run one cell as IPythonKernel.do_execute does and return the content of its reply."""
    try:
        transformed, failure = shell.transform_cell(source), None
    except Exception:  # a syntax error shows again, with its traceback, when the cell is run
        transformed, failure = source, sys.exc_info()
    how = {"transformed_cell": transformed, "preprocessing_exc_tuple": failure}
    if shell.should_run_async(source, **how):
        result = None
        try:
            result = await shell.run_cell_async(source, store_history=True, **how)
        finally:
            shell.events.trigger("post_execute")
            shell.events.trigger("post_run_cell", result)
    else:
        result = shell.run_cell(source, store_history=True)
    sys.stdout.flush()
    sys.stderr.flush()
    if result.success:
        try:
            shell.displayhook.session.check()
        except TooMuchOutput as error:  # of a child of the cell
            shell.showtraceback()
            return failed(shell, type(error), error)
    reply = {"execution_count": shell.execution_count - 1, "status": "ok"}
    if not result.success or shell._last_traceback_during_displayhook:
        error = result.error_before_exec or result.error_in_exec
        return failed(shell, type(error), error)
    return reply


def failed(shell: ZMQInteractiveShell, kind: type, error: BaseException) -> dict:
    """Return the content of the reply to a cell that failed."""
    return {
        "execution_count": shell.execution_count - 1,
        "status": "error",
        "ename": kind.__name__,
        "evalue": str(error),
        "traceback": shell._last_traceback or [],
    }


def limit_memory(environment: dict[str, str]) -> None:
    """Let a cell that wants too much memory get a MemoryError, before others lose theirs.

    INFERECON_MEMORY is the limit in bytes, else all memory of the machine.  If the machine runs
    out nevertheless, this process is the one to end.
    """
    all_of_it = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = int(float(environment.get("INFERECON_MEMORY", all_of_it)))
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def run_notebook_cells(connection: Connection, shell: ZMQInteractiveShell) -> None:
    """Receive a working directory and an environment, then cells, until the driver kills us."""
    start = json.loads(connection.recv_bytes())
    limit_memory(start["environment"])
    os.chdir(start["cwd"])
    os.environ.clear()
    os.environ.update(start["environment"])
    os.environ.setdefault("MPLBACKEND", INLINE)
    shell.init_environment()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.modules["__main__"] = shell.user_module  # pickle looks up the notebook's classes there
    builtins.input = refuse_input
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()  # the warm process's state would be every child's
    session = shell.displayhook.session
    session.connection, session.owner = connection, os.getpid()
    sys.stdout, sys.stderr = Stream("stdout", 1, session), Stream("stderr", 2, session)

    async def loop() -> None:
        while True:
            source = connection.recv_bytes().decode()
            session.send(None, "execute_reply", await run_cell(shell, source))

    # asyncio.run would take the first SIGINT for itself, and a busy cell would never see it
    events = asyncio.new_event_loop()
    asyncio.set_event_loop(events)
    events.run_until_complete(loop())


def make_shell() -> ZMQInteractiveShell:
    """Build the shell that every child inherits; no history file, no configuration of the user."""
    config = Config()
    config.HistoryManager.enabled = False
    shell = ZMQInteractiveShell.instance(
        config=config, compiler_class=XCachingCompiler, kernel=None
    )
    place_working_directory()
    session = JsonSession(key=b"", check_pid=False)
    shell.displayhook.session = shell.display_pub.session = session
    return shell


def place_working_directory() -> None:
    """Put the working directory on the path where a kernel has it: behind the standard library."""
    if "" not in sys.path:
        return  # PYTHONSAFEPATH keeps it out
    sys.path.remove("")
    packages = (n for n, entry in enumerate(sys.path) if Path(entry).name == "site-packages")
    sys.path.insert(next(packages, len(sys.path)), "")
