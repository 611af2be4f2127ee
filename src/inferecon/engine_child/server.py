"""The warm process: it imports everything once and forks a child for each notebook.

It must have one thread when it forks, which is checked.
Linux only: children are told to die with it, and their output goes through memory files.
What a child does is left to `shell`, what papermill sees of it to `inferecon.engine`.
"""

import ctypes
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection

from ipykernel.zmqshell import ZMQInteractiveShell

from .shell import make_shell, run_notebook_cells

FEW = 20_000  # new objects between two looks for cycles: a child is too short-lived for 700


def die_with_parent() -> None:
    """Ask the kernel of the machine to kill this process when its parent dies; Linux only."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1 = PR_SET_PDEATHSIG


def warm_up(preload: list[str]) -> ZMQInteractiveShell:
    """Import each `module`, call each `module:function`, and check that a fork is safe."""
    shell = make_shell()  # first, because libraries look for one when they are imported
    for entry in preload:
        module, _, function = entry.partition(":")
        loaded = importlib.import_module(module)
        if function:
            getattr(loaded, function)()
    shell.run_cell("pass", silent=True)  # the shell's own first-use costs; leaves no history
    if (threads := len(os.listdir("/proc/self/task"))) != 1:
        raise RuntimeError(f"importing {preload} left {threads} threads, so a fork is not safe")
    gc.collect()
    gc.freeze()  # children then leave these pages shared
    gc.set_threshold(FEW)
    return shell


def serve(descriptor: int, preload: list[str]) -> None:
    """Fork a child for each socket received; report each birth and death; end with the driver."""
    control = socket.socket(fileno=descriptor)

    def report(**event) -> None:
        control.send(json.dumps(event).encode())

    try:
        shell = warm_up(preload)
    except Exception as error:
        report(failed=f"{type(error).__name__}: {error}")
        raise
    report(ready=os.getpid())
    try:
        fork_on_request(control, report, shell)
    except ConnectionError:
        os._exit(0)  # the driver is gone, and with us go our children


def fork_on_request(
    control: socket.socket, report: Callable[..., None], shell: ZMQInteractiveShell
) -> None:
    """Wait for sockets and for the ends of children, without threads, until the driver is gone."""
    awake, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    selector = selectors.DefaultSelector()
    selector.register(control, selectors.EVENT_READ)
    selector.register(awake, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj == awake:
                os.read(awake, 4096)
                reap(report)
                continue
            request, descriptors, _, _ = socket.recv_fds(control, 16, 1)
            if not request:
                raise ConnectionError
            if (child := os.fork()) == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                selector.close()
                control.close()
                be_child(Connection(descriptors[0]), shell)
            os.close(descriptors[0])
            report(forked=child)


def reap(report: Callable[..., None]) -> None:
    """Report each child that has ended."""
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not child:
            return
        report(exited=child, code=os.waitstatus_to_exitcode(status))


def be_child(connection: Connection, shell: ZMQInteractiveShell) -> None:
    """Run one notebook and never return."""
    die_with_parent()
    os.setsid()
    os.set_inheritable(connection.fileno(), False)
    try:
        run_notebook_cells(connection, shell)
    except (EOFError, ConnectionError):
        os._exit(0)  # the driver has what it wanted
    except BaseException:
        traceback.print_exc()
    os._exit(1)
