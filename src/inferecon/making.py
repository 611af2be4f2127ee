"""All of the report but its HTML: constants, notebooks, dataset, ledger, generated pages.

Each stage reads what the one before wrote and does only what changed.  The
ledger says *unchanged*, never *right*: behind each number stands a truth test
or a hand test.
"""

import hashlib
from pathlib import Path

from rich.console import Console

from . import anchors, report
from .book import impossible
from .calibration.calibrate import calibrate, stale
from .claims import differences
from .dataset import write_dataset
from .edition import pages
from .errors import BuildFailed
from .files import DATASET, LEDGER, NUMBERS, ROOT, SWEEP, replace_text
from .matrix import (
    FORMATS,
    HARDWARE,
    MODELS,
    WORKLOAD,
    chapter_job,
    combinations,
    job_for,
    parameters_of,
)
from .report import readme
from .results import moved, numbers_of, numbers_text, read_numbers
from .running import read
from .stages import once, spent, timed
from .sweep import sweep

PAGES = (
    "scenario",
    "figures",
    "counts",
    "sensitivity",
    "serving",
    "disaggregation",
    "improvement",
    "costs",
    "plan",
    "tiers",
)  # notebooks that are pages of the book


def make(accept: bool, jobs: int) -> str:
    """Run all stages in front of the HTML, each only on what changed; return what there is."""
    console, clock = Console(stderr=True), {}
    with timed(clock, "constants"):
        if stale():
            console.print("rows or laws changed: the constants are fitted anew")
            calibrate(judging=False, say=console.print)
    with timed(clock, "notebooks"):
        found, numbers = run_notebooks(jobs)
    with timed(clock, "dataset"):
        rows = write_dataset(DATASET, found)
        replace_text(NUMBERS, numbers_text(numbers))
    check_ledger(numbers, accept, console)
    check_anchors(accept, console)
    with timed(clock, "claims"):
        once("claims", check_claims)
    with timed(clock, "pages"):
        changed = once(
            "pages",
            lambda: report.write_pages(found, numbers),
            inputs=report.inputs(),
            told=[found, numbers, pages()],
            outputs=report.written,
        )
    running = sum(not item.get("obstacles") for item in found.values())
    console.print(spent(clock))
    return (
        f"{len(found):,} combinations ({running:,} run, {len(found) - running:,} cannot), "
        f"{rows:,} rows, {len(numbers):,} published numbers, {changed or 0} generated pages changed"
    )


def run_notebooks(workers: int) -> tuple[dict, dict]:
    """Run what changed; return what each combination published, and all numbers by id."""
    asked = [*combinations(",".join(MODELS), ",".join(HARDWARE), ",".join(FORMATS), **WORKLOAD)]
    if refused := [one for one in asked if one.refused]:
        raise BuildFailed("the default sweep asks for the impossible: " + refused[0].refused)
    planned = {one.name: job_for(one.case) for one in asked if not one.obstacles}
    chapters = {name: chapter_job(name) for name in PAGES}
    outcomes = sweep([*planned.values(), *chapters.values()], workers=workers, index=SWEEP)
    failed = [o for o in outcomes if o.status not in ("ok", "kept")]
    if failed:
        first = failed[0]
        raise BuildFailed(
            f"{len(failed)} notebooks failed, the first {first.target.name}: {first.reason}"
        )
    remove_strangers(SWEEP, {job.target for job in planned.values()})
    found = {
        one.name: read(planned[one.name].target)
        if one.name in planned
        else {**impossible(one.case), "parameters": parameters_of(one.case)}
        for one in asked
    }
    numbers: dict = {}
    for id, item in found.items():
        numbers |= numbers_of(id, item)
    for name, job in chapters.items():
        numbers |= numbers_of(name, read(job.target))
    return found, numbers


def remove_strangers(folder: Path, wanted: set[Path]) -> None:
    """Remove executed notebooks that no combination of this matrix owns."""
    for path in folder.rglob("*.ipynb"):
        if path not in wanted:
            path.unlink()


def check_ledger(numbers: dict, accept: bool, console: Console) -> None:
    """Fail, listing old -> new, if a published number is not the one in the ledger."""
    changes = moved(read_numbers(LEDGER), numbers)
    if accept:
        replace_text(LEDGER, numbers_text(numbers))
        readme.update(numbers)
        console.print(f"ledger: {len(changes):,} numbers written to {LEDGER.relative_to(ROOT)}")
        if changes:
            console.print(
                "now say in CHANGELOG.md which numbers moved and why, "
                f"in a line with {fingerprint()}"
            )
        return
    if changes:
        print(*changes[:40], sep="\n")
        more = " (the first 40 of them above)" if len(changes) > 40 else ""
        raise BuildFailed(
            f"{len(changes):,} published numbers moved{more}; if they should, run make accept "
            "and give the reason in CHANGELOG.md"
        )


def check_anchors(accept: bool, console: Console) -> None:
    """Fail if an id that was published is gone; new ones are put on file by ``accept``."""
    (listed, moved_ids), now = anchors.read(), anchors.published()
    if wrong := anchors.complaints(listed, moved_ids, now):
        print(*wrong, sep="\n")
        raise BuildFailed(f"{len(wrong):,} ids that others may cite have no place; see above")
    new = sorted(set(now) - set(listed))
    if new and accept:
        replace_text(anchors.ANCHORS, anchors.text([*listed, *new], moved_ids))
        console.print(f"anchors: {len(new):,} ids added to {anchors.ANCHORS.relative_to(ROOT)}")
    elif new:
        first = ", ".join(new[:5])
        console.print(f"anchors: {len(new):,} new ids, make accept puts them on file: {first} ...")


def check_claims() -> None:
    """Fail if the verdict on a claim of a source document is not the one on record."""
    if changed := differences():
        print(*changed, sep="\n")
        raise BuildFailed(f"{len(changed):,} claims are judged otherwise than data/claims/ says")


def fingerprint() -> str:
    """The first digits of the ledger's SHA-256, which CHANGELOG.md must name."""
    return hashlib.sha256(LEDGER.read_bytes()).hexdigest()[:12]
