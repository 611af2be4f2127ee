"""The search index of the site, made by Pagefind from the words that pages left when written.

The whole index is made anew each time, so its bytes do not depend on what was built before;
from words alone that takes a second or two.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from .errors import BuildFailed

WORDS = "search"  # folder beside the doctrees, where the pages leave their words
INDEX = "pagefind"  # folder of the site
# Pagefind brings three interfaces and a highlighter; the site has its own search.js.
UNUSED = ("*ui.js", "*ui.css", "pagefind-highlight.js", "wasm.unknown.pagefind")


def write_index(doctrees: Path, html: Path) -> None:
    """Write the index into the site; raise BuildFailed with what Pagefind said."""
    index = html / INDEX
    shutil.rmtree(index, ignore_errors=True)  # names are hashes: old ones would stay
    command = [sys.executable, "-m", "pagefind", "--site", str(doctrees / WORDS)]
    done = subprocess.run(
        [*command, "--output-path", str(index), "--quiet"], text=True, capture_output=True
    )
    if done.returncode:
        raise BuildFailed(f"Pagefind wrote no index: {done.stdout}{done.stderr}")
    for pattern in UNUSED:
        for path in index.glob(pattern):
            path.unlink()
