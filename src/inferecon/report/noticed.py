"""Pages that take long and rest on few files: made again only if code or one of those changed.

Which files a page read is not declared but noticed while it is made, in a process of its own.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from ..files import BUILD, DATA, replace_text
from ..stored import code

FOLDER = BUILD / "remembered"


def remembered(name: str, make: Callable[[], str], folder: Path = FOLDER) -> str:
    """Return the text of a page: that of last time if all that it read is as it was.

    Call it once in a process: what is in memory already is not read again, hence not noticed.
    """
    file = folder / f"{name.replace('/', '-')}.json"
    tree = _digest("\n".join(sorted(map(str, DATA.rglob("*")))).encode())
    try:
        last = json.loads(file.read_text(encoding="utf-8"))
        same = [last["code"], last["tree"]] == [code(), tree]
        if same and all(_digest(Path(p).read_bytes()) == d for p, d in last["files"].items()):
            return last["text"]
    except (OSError, ValueError, KeyError, TypeError):
        pass  # absent or damaged: the page is made
    read: set[str] = set()
    sys.addaudithook(lambda event, args: _note(read, event, args))
    text = make()
    content = {
        "code": code(),
        "tree": tree,
        "files": {path: _digest(Path(path).read_bytes()) for path in sorted(read)},
        "text": text,
    }
    replace_text(file, json.dumps(content, ensure_ascii=False))
    return text


def _note(read: set[str], event: str, args: tuple) -> None:
    """Note a file of the records that is opened."""
    if event == "open" and isinstance(args[0], str | os.PathLike):
        path = os.path.abspath(args[0])
        if path.startswith(f"{DATA}{os.sep}"):
            read.add(path)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
