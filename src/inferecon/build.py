"""Build the report: what the notebooks publish, then the pages as HTML.

Whether anything in front of the HTML changed is seen from the files alone, so a changed
sentence waits for no notebook, and not for the laws to be imported.
"""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from .edition import pages
from .errors import BuildFailed
from .files import BOOK, BUILD, DATASET, FOLDERS, LEDGER, NUMBERS, ROOT, SWEEP
from .html import HTML, build_html
from .stages import once, spent, timed


def build(*, accept: bool = False, jobs: int | None = None) -> None:
    """Run all stages.  Raises BuildFailed; whatever was built before stays in place."""
    for name, why in (
        ("INFERECON_DATA", "is built from its own records only"),
        ("INFERECON_CALIBRATION", "predicts by its own constants"),
    ):
        if name in os.environ:
            raise BuildFailed(f"{name} is set; the report {why}")
    BUILD.mkdir(exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BuildFailed("another build of this report is running; wait for it") from None
        stages(accept, jobs or os.cpu_count() or 1)


def stages(accept: bool, jobs: int) -> None:
    """Run the stages one after the other; only one build at a time may write the folder."""
    console, clock = Console(stderr=True), {}

    def make() -> str:
        from .making import make  # with all laws, which a changed sentence need not wait for

        return make(accept, jobs)

    with timed(clock, "results"):
        said = once(
            "results",
            make,
            inputs=filter(Path.is_file, read()),
            told=pages(),
            outputs=made,
            anyway=accept,
        )
    with timed(clock, "HTML"):
        build_html(NUMBERS, jobs, places=True)
    console.print(said or "notebooks, numbers and generated pages are as they were")
    console.print(spent(clock))
    print(HTML / "index.html")


def read() -> list[Path]:
    """Return the files that go into the results, beside code, records and locked versions."""
    texts = [BOOK / "examples.yaml", BOOK / "anchors.yaml"]
    return [*texts, *(ROOT / "notebooks").iterdir(), *(ROOT / "benchmarks" / "results").iterdir()]


def made() -> Iterator[Path]:
    """Yield all that the stages in front of the HTML write."""
    yield from filter(Path.exists, (DATASET, NUMBERS, LEDGER))
    for folder in (SWEEP, *(BOOK / name for name in ("chapters", *FOLDERS))):
        yield from (path for path in folder.rglob("*") if path.suffix in (".md", ".ipynb"))
