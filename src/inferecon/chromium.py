"""Find a Chromium that starts, or get one: the pages are tested in it and printed by it.

First one that is installed, then Playwright's own, then, where this machine allows it, what
Playwright or apt can install.  ``python -m inferecon.chromium`` does so and says what it found.
"""

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import BadInput

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# No sandbox, which containers do not allow: only pages of our own are opened.  No name but this
# machine's resolves, so that a page which asks for anything else is found out.
ARGUMENTS = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
PATIENCE = 600  # seconds for an installation
PLAYWRIGHT = [sys.executable, "-m", "playwright"]
APT = ["apt-get", "-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=10"]
NONE = (
    "no Chromium starts here and none can be installed; install one "
    "(apt-get install chromium, or playwright install --with-deps chromium) "
    "or name it in INFERECON_CHROMIUM"
)


@contextmanager
def browser():
    """Give a running Chromium.  Raises BadInput if Playwright is absent or none starts."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise BadInput("this needs Playwright: pip install '.[dev]'") from None
    with sync_playwright() as playwright:
        found = _started(playwright)
        try:
            yield found
        finally:
            found.close()


def _started(playwright):
    """Return the first Chromium that starts; the reasons of the others stand in the error."""
    from playwright.sync_api import Error

    said = []
    for path in [*installed(), None]:
        try:
            return playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        except Error as error:
            said.append(f"{path or 'of Playwright'}: {error.message.splitlines()[0]}")
    raise BadInput(f"{NONE} ({'; '.join(said)})")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # a connection serves all files of a page

    def log_message(self, *arguments):
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder from this process; give its address."""
    handler = functools.partial(_Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def installed() -> list[str]:
    """Return the paths of installed Chromiums, the one that is asked for first."""
    if named := os.environ.get("INFERECON_CHROMIUM"):
        return [named]
    return [path for name in NAMES if (path := shutil.which(name))]


def get() -> None:
    """Install a Chromium unless one starts.  Raises BadInput if that is not possible."""
    if _starts():
        return
    ways = [[[*PLAYWRIGHT, "install", "--only-shell", "chromium"]]]
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        ways.append([[*PLAYWRIGHT, "install-deps", "chromium"]])
        ways.append([[*APT, "update"], [*APT, "install", "-y", "chromium", "fonts-dejavu-core"]])
    for commands in ways:
        if all(map(_ran, commands)) and _starts():
            return
    raise BadInput(NONE)


def _starts() -> bool:
    try:
        with browser():
            return True
    except BadInput:
        return False


def _ran(command: list[str]) -> bool:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


if __name__ == "__main__":
    try:
        get()
    except BadInput as error:
        sys.exit(f"chromium: {error}")
