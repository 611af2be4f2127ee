"""A job: one notebook to run, where its result goes, and what it published.

The same function runs a job in a process of this machine and on a worker of a cluster.
"""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import store
from .engine import Outcome, run_notebook
from .keys import Parts
from .publication import published


@dataclass(frozen=True)
class Job:
    """One notebook to run; `key` names everything that its result depends on, `parts` say what."""

    source: Path
    target: store.Place
    key: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    parts: Parts = field(default_factory=dict)


@dataclass(frozen=True)
class Ending:
    """How a job ended, what its notebook published, and files that are still to be put there."""

    outcome: Outcome
    found: dict | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)


def execute(job: Job, *, comes_back: bool = False, **options) -> Ending:
    """Run a job.  A result for a store elsewhere is run in a folder of its own, then put there.

    ``comes_back`` returns the files instead, for whoever asked to ``deliver``.
    """
    parts = {kind: group.digest for kind, group in job.parts.items()}
    options |= {"key": job.key, "about": {"parts": parts} if parts else {}}
    if isinstance(job.target, Path) and not comes_back:
        outcome = run_notebook(job.source, job.target, job.parameters, **options)
        return Ending(outcome, read(job.target) if outcome.status == "ok" else None)
    with tempfile.TemporaryDirectory(prefix="inferecon-") as folder:
        here = Path(folder, store.name(job.target))
        outcome = run_notebook(job.source, here, job.parameters, **options)
        files = {path.name: path.read_bytes() for path in Path(folder).glob("*.ipynb")}
        found = read(here) if outcome.status == "ok" else None
    ending = Ending(replace(outcome, target=job.target), found, files)
    return ending if comes_back else deliver(job, ending)


def deliver(job: Job, ending: Ending) -> Ending:
    """Put the files of a result where they belong."""
    for name, content in ending.files.items():
        store.write(store.under(store.parent(job.target), name), content)
    return replace(ending, files={})


def only_here(job: Job) -> bool:
    """Say whether only the process that asked can write a result: into its own memory."""
    return str(job.target).startswith("memory://")


def read(target: store.Place) -> dict:
    """Return what one executed notebook published, with its parameters."""
    notebook = json.loads(store.read(target))
    return {**published(notebook), "parameters": notebook["metadata"]["inferecon"]["parameters"]}
