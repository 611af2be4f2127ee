"""Pass over a stage of the build whose inputs and outputs are as they were when it last ended."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from .files import BUILD, ROOT, replace_text

MARKS = BUILD / "stages.json"
Result = TypeVar("Result")


def once(
    name: str,
    work: Callable[[], Result],
    *,
    inputs: Iterable[Path] = (),
    told: object = None,
    outputs: Callable[[], Iterable[Path]] = tuple,
    anyway: bool = False,
    marks: Path = MARKS,
) -> Result | None:
    """Do the work of a stage, or return None if nothing that goes in or came out has changed.

    The code, the records and the locked versions always go in; ``inputs`` are further files,
    ``told`` is what else the work is told; ``anyway`` does it in any case.  Work that raises is
    not done.
    """
    before = _digest([*everywhere(), *inputs])
    before.update(json.dumps(told, sort_keys=True, default=str).encode())
    known = _read(marks)
    if not anyway and known.get(name) == [before.hexdigest(), _digest(outputs()).hexdigest()]:
        return None
    result = work()
    known = _read(marks) | {name: [before.hexdigest(), _digest(outputs()).hexdigest()]}
    replace_text(marks, json.dumps(known, indent=1, sort_keys=True))
    return result


@contextmanager
def timed(clock: dict[str, float], stage: str) -> Iterator[None]:
    """Note how long a stage took, in seconds."""
    begin = time.monotonic()
    yield
    clock[stage] = time.monotonic() - begin


def spent(clock: dict[str, float]) -> str:
    """Say how long each stage took."""
    return "   ".join(f"{stage} {seconds:.1f} s" for stage, seconds in clock.items())


def everywhere() -> list[Path]:
    """Return the files that every stage may read."""
    files = [p for p in (ROOT / "data").rglob("*") if p.is_file()]
    return [*files, *(ROOT / "src").rglob("*.py"), ROOT / "requirements.txt"]


def _digest(files: Iterable[Path]):
    digest = hashlib.sha256()
    for path in sorted(set(files)):
        digest.update(str(path).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest


def _read(marks: Path) -> dict:
    try:
        return json.loads(marks.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):  # absent, or damaged: every stage is done again
        return {}
