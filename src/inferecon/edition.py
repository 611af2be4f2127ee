"""Which edition this is: its name, the fingerprint of its laws, the commit, where laws stand.

On a page the commit is a row of noughts between two letters until the build is done and puts
the real one in, so that Sphinx need not run again for a commit that changed no page.
"""

import hashlib
import re
import subprocess
from functools import cache

from .files import BOOK, ROOT
from .imprint import EDITION

# Stands for the commit until a build is done, which puts the real one in.  It begins and ends with
# a letter: noughts alone would be found a place too early behind the %20 of an address.
UNSTAMPED = f"f{'0' * 38}f"
SHOWN_ON = re.compile(r"^[`:]{3,}\{(law|derivation)\}[ \t]*(\S+)", re.MULTILINE)


@cache
def edition() -> str:
    """Edition of the report and fingerprint of its laws."""
    import sympy as sp

    from .laws.catalogue import LAWS  # seconds that a build without a change need not wait

    text = "\n".join(f"{law.id} {sp.srepr(law.eq)} {law.holds} {law.counts}" for law in LAWS)
    return f"{EDITION}+{hashlib.sha256(text.encode()).hexdigest()[:12]}"


@cache
def pages() -> dict[str, str]:
    """Return on which page each law and derivation stands by itself."""
    found: dict[str, str] = {}
    for path in sorted(BOOK.glob("*.md")):
        for _, id in SHOWN_ON.findall(path.read_text(encoding="utf-8")):
            found.setdefault(id, path.stem)
    return found


def commit() -> str:
    """Return the commit of this checkout, with a mark if it was changed since; else ``unknown``."""
    try:
        head = _git("rev-parse", "HEAD")
        return head + ("+changed" if _git("status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def committed() -> str:
    """Return the day of the commit, as the committer wrote it; else ``unknown``."""
    try:
        return _git("show", "--no-patch", "--format=%cs", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()
