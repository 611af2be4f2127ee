"""From the options of a command to a service and its load."""

import csv
import math
from dataclasses import replace
from pathlib import Path

from .. import symbols as s
from ..errors import BadInput
from ..opening import written
from ..records import load as record
from ..scenario import Scenario, opened
from ..service.promise import promise
from ..service.table import NEEDED
from .arrivals import Lengths, rows_of
from .plan import CONTINUOUS, MOST, POLICIES, REQUESTS, Load, Service
from .run import Outcome, simulate
from .steps import Speculation

USUAL = 32  # sequences that devices are chosen for, where they are not named
LONGEST = 32768  # tokens of a request whose length is drawn or traced, unless the model ends before


# An option that another one makes pointless, and one that says nothing without another.
INSTEAD = {
    "trace": ("isl", "osl", "spread", "lengths", "burst"),
    "lengths": ("isl", "osl", "spread"),
    "clients": ("burst",),
}
NEEDS = {
    "speed": "trace",
    "acceptance": "drafts",
    "draft_cost": "drafts",
    "link": "prefill_workers",
}
OF_POLICIES = {"delay": ("dynamic", "inverted"), "chunk": CONTINUOUS, "reserve": CONTINUOUS}


def fitting(said: set[str], values: dict) -> None:
    """Raise BadInput for an option that was said, and that the others leave without effect."""
    for option, others in INSTEAD.items():
        for other in others:
            if values[option] and other in said:
                raise BadInput(f"{_flag(other)} says nothing with {_flag(option)}: leave one out")
    for option, other in NEEDS.items():
        if option in said and not values[other]:
            raise BadInput(f"{_flag(option)} says nothing without {_flag(other)}")
    for option, policies in OF_POLICIES.items():
        if option in said and values["policy"] in POLICIES and values["policy"] not in policies:
            raise BadInput(
                f"{_flag(option)} goes with --policy {' or '.join(policies)}, "
                f"not {values['policy']}"
            )


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def simulated(
    model: str,
    hardware: str,
    format: str,
    *,
    isl: int,
    osl: int,
    spread: float,
    lengths: Path | None,
    slo: str,
    load: dict,
    service: dict,
    spec: dict,
    combination: dict,
    log: Path | None = None,
) -> Outcome:
    """Run what the options say: without a number of requests, all those of a trace.

    Raises BadInput for any that cannot be.
    """
    limits = tuple(promise(slo))
    case = case_of(model, hardware, format, isl, osl, combination)
    if spread < 0 or not math.isfinite(spread):
        raise BadInput("--spread must be 0 (all equal) or more")
    most = int(min(record("models", model)[s.max_context.name], LONGEST))
    most = max(most, isl + osl)
    rows = None if lengths is None else rows_of(lengths)
    drawn = Lengths(isl, osl, spread, spread, most, rows)
    if load["count"] is None:
        load = load | {"count": REQUESTS if load["trace"] is None else MOST}
    asked = Service(case, speculation=Speculation(**spec), **service)
    served = Load(drawn, limits=limits, **load)
    if log is None:
        return simulate(asked, served)
    with written(log, "--log") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*NEEDED, "longest_gap"])
        return simulate(asked, served, log=writer.writerow)


def case_of(
    model: str, hardware: str, format: str, isl: int, osl: int, combination: dict
) -> Scenario:
    """Return the combination that a replica runs, on devices that hold a usual batch.

    How many are served together comes of the load.
    """
    case = opened(
        model=model,
        hardware=hardware,
        weights=format,
        batch=USUAL if combination["tp"] is None else 1,
        isl=isl,
        osl=osl,
        **combination,
    )
    return replace(case, batch=1)
