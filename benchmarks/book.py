"""How long the report takes after a change: python benchmarks/book.py

The report of this checkout is built first, so that only the change counts; then with a sentence
more in a chapter, and with the status of a device's record worded otherwise, which moves no
number and yet runs all notebooks of that device again.  Files are put back, and the report is
built as it was.  Seconds are the clock's: keep the machine quiet.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from measured import Result, printed

ROOT = Path(__file__).parents[1]
CHAPTER = ROOT / "book" / "latency.md"
RECORD = ROOT / "data" / "hardware" / "l40s.yaml"
BUILD = [sys.executable, "-c", "from inferecon.cli import main; main()", "build"]


def built() -> float:
    """Build the report; return the seconds."""
    begin = time.perf_counter()
    subprocess.run(BUILD, check=True, cwd=ROOT, capture_output=True)
    return time.perf_counter() - begin


def after(path: Path, change: Callable[[str], str]) -> float:
    """Return the seconds of a build after a file was changed; the file is put back."""
    text = path.read_text(encoding="utf-8")
    changed = change(text)
    if changed == text:
        raise ValueError(f"{path.name} is not as this benchmark expects it")
    try:
        path.write_text(changed, encoding="utf-8")
        return built()
    finally:
        path.write_text(text, encoding="utf-8")


def measure() -> dict[str, Result]:
    """Return the seconds of each kind of build."""
    built()
    found = {"book.same": Result("report, nothing changed", built(), "s")}
    sentence = after(CHAPTER, lambda text: text.rstrip("\n") + "\n\nOne sentence more.\n")
    found["book.sentence"] = Result("report, one sentence changed", sentence, "s")
    built()
    record = after(RECORD, lambda text: text.replace("release:", "release: about", 1))
    found["book.record"] = Result("report, the record of one device changed", record, "s")
    built()
    return found


if __name__ == "__main__":
    printed(measure())
