"""What a folder of results holds: which notebooks are kept, and why others run again.

One file, ``index.json``, has the key of each notebook with its parts, and the size and clock of
the file when it was written.  A notebook whose size or clock is another, or that the index does
not know, is asked itself: its metadata carry the key.  So a removed or damaged result is seen.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from . import keys, store
from .running import Job

TAIL = 1 << 16  # bytes at the end of a notebook in which its metadata are
NEW, GONE, DAMAGED = "no result yet", "the result is gone", "the result is no whole notebook"
OTHER = "it was made by another edition"
FORMAT = 1


class Index:
    """The index of a folder; ``folder`` None keeps nothing and asks every notebook itself."""

    def __init__(self, folder: store.Place | None):
        self.folder, self.known, self.groups = folder, {}, {}
        if folder is None:
            return
        try:
            read = json.loads(store.read(store.under(folder, "index.json")))
            if read["format"] == FORMAT:
                self.known, self.groups = dict(read["results"]), dict(read["groups"])
        except (OSError, ValueError, KeyError, TypeError):
            pass  # absent or damaged: the notebooks know

    def reasons(self, jobs: Sequence[Job]) -> list[str]:
        """Return for each job why it must run, empty where its result is kept."""
        folder = self.folder if self.folder is not None else Path()
        stamps = store.stamps(folder, [job.target for job in jobs])
        return [self._reason(job, stamps.get(job.target)) for job in jobs]

    def _reason(self, job: Job, stamp: str | None) -> str:
        entry = self.known.get(self._name(job.target))
        if stamp is None:
            return GONE if entry else NEW
        if entry is None or entry["stamp"] != stamp:
            entry = _told(job.target)
            if entry is None:
                return DAMAGED
            if entry["key"] == job.key:
                self._note(job, stamp)
        if entry["key"] == job.key:
            return ""
        old = {kind: self._items(kind, digest, job) for kind, digest in entry["parts"].items()}
        return keys.changes(old, job.parts) if old else OTHER

    def _items(self, kind: str, digest: str, job: Job) -> dict | None:
        """Return the parts behind a fingerprint; None if nobody knows them any more."""
        if kind in job.parts and job.parts[kind].digest == digest:
            return dict(job.parts[kind].items)
        return self.groups.get(digest)

    def note(self, jobs: Sequence[Job]) -> None:
        """Take note of results that were just written."""
        if self.folder is None:
            return
        stamps = store.stamps(self.folder, [job.target for job in jobs])
        for job in jobs:
            if job.target in stamps:
                self._note(job, stamps[job.target])

    def _note(self, job: Job, stamp: str) -> None:
        parts = {kind: group.digest for kind, group in job.parts.items()}
        self.known[self._name(job.target)] = {"key": job.key, "stamp": stamp, "parts": parts}
        for one in job.parts.values():
            self.groups[one.digest] = one.items

    def save(self) -> None:
        """Write the index, without groups that no result rests on any more."""
        if self.folder is None:
            return
        used = {digest for entry in self.known.values() for digest in entry["parts"].values()}
        content = {
            "format": FORMAT,
            "groups": {
                digest: dict(self.groups[digest]) for digest in sorted(used & self.groups.keys())
            },
            "results": dict(sorted(self.known.items())),
        }
        store.write(store.under(self.folder, "index.json"), json.dumps(content).encode())

    def _name(self, target: store.Place) -> str:
        start, text = f"{self.folder}/", str(target)
        if text.startswith(start):
            return text[len(start) :]
        return os.path.relpath(text, self.folder) if isinstance(self.folder, Path) else text


def _told(target: store.Place) -> dict | None:
    """Return what a notebook says of its own key; None if it is damaged."""
    try:
        if isinstance(target, Path):
            with target.open("rb") as file:
                file.seek(max(0, os.path.getsize(target) - TAIL))
                end = file.read()
        else:
            end = store.read(target)
        # nbformat sorts keys and indents by one: only the notebook's own metadata match
        _, found, metadata = end.rpartition(b'\n "metadata": ')
        about = json.loads(b'{"metadata": ' + metadata)["metadata"] if found else {}
        about = about.get("inferecon", {})
        return {"key": about["key"], "parts": about.get("parts", {})}
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return None
