"""A sweep as a user asks for it: every combination of a matrix, and one dataset of them all.

What cannot run is said by law and has no notebook; the rest is executed by papermill.
"""

import json
from typing import NamedTuple

from . import keys, store
from .cluster import Cluster
from .dataset import FILE, Dataset
from .engine import Outcome
from .errors import BadInput
from .matrix import Combination, combinations, job_for, parameters_of
from .running import read
from .sweep import sweep


class Reason(NamedTuple):
    """Why a combination has no numbers, and what is known of it all the same."""

    obstacles: tuple[str, ...]
    parameters: tuple[tuple[str, object], ...]
    records: str

    def published(self) -> dict:
        records = json.loads(self.records)
        known = {"obstacles": self.obstacles, "records": records}
        return {**known, "parameters": dict(self.parameters)}


def reason(one: Combination) -> Reason:
    """Return why a combination is not executed."""
    if one.case is None:
        chosen = {"model": one.model, "hardware": one.hardware, "weights": one.weights}
        return Reason((one.refused,), tuple(chosen.items()), "{}")
    records = {record.path: record.hash for record in one.case.records()}
    parameters = tuple(parameters_of(one.case).items())
    return Reason(tuple(one.obstacles), parameters, json.dumps(records))


class Campaign:
    """All combinations of a matrix, with their dataset in a folder or at an address.

    Raises BadInput if none of them can even be stated.
    """

    def __init__(self, out: store.Place, models: str, hardware: str, formats: str, **workload):
        self.out, self.jobs, self.reasons = out, {}, {}
        self.refused: list[str] = []
        self.notebooks = store.under(out, "notebooks")
        for one in combinations(models, hardware, formats, **workload):
            if one.refused:
                self.refused.append(f"{one.name}: {one.refused}")
            if one.obstacles:
                self.reasons[one.name] = reason(one)
            else:
                self.jobs[one.name] = job_for(one.case, self.notebooks)
        if len(self.refused) == len(self.jobs) + len(self.reasons):
            raise BadInput(f"none of the combinations can be stated; the first: {self.refused[0]}")
        self.outcomes: dict[str, Outcome] = {}
        self.rows = 0

    def run(self, *, workers: int, cluster: Cluster | None = None, resume: bool = True) -> None:
        """Run what is not done and write the dataset of all that is, also if it is interrupted."""
        ids, jobs = [*self.jobs], [*self.jobs.values()]
        facts = {id: job.key for id, job in self.jobs.items()}
        facts |= {id: keys.uses.sha(repr(said)) for id, said in self.reasons.items()}
        data = Dataset(self.out, facts, self._published)
        for id in self.reasons:
            data.add(id, None)

        def published(number: int, found: dict | None) -> None:
            self.outcomes[ids[number]] = Outcome(jobs[number].target, "kept" if not found else "ok")
            data.add(ids[number], found)

        try:
            outcomes = sweep(
                jobs,
                workers=workers,
                index=self.notebooks,
                resume=resume,
                run=cluster.run if cluster else None,
                published=published,
            )
            self.outcomes = dict(zip(ids, outcomes, strict=True))
        finally:
            self.rows = data.finish()

    def _published(self, id: str) -> dict:
        return self.reasons[id].published() if id in self.reasons else read(self.jobs[id].target)

    @property
    def failed(self) -> list[Outcome]:
        return [o for o in self.outcomes.values() if o.status not in ("ok", "kept")]

    @property
    def summary(self) -> dict[str, object]:
        """Return the counts that a user is told."""
        done = sum(o.status in ("ok", "kept") for o in self.outcomes.values())
        counts = {
            "combinations": len(self.jobs) + len(self.reasons),
            "run": done,
            "cannot_run": len(self.reasons) - len(self.refused),
            "failed": len(self.failed),
            "refused": len(self.refused),
        }
        if left := len(self.jobs) - len(self.outcomes):
            counts["left"] = left
        return {**counts, "rows": self.rows, "dataset": str(store.under(self.out, FILE))}
