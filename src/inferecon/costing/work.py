"""What replicas do for the requests of a service, as one of them is simulated.

Dealt out in turn, the requests of a replica are every n-th that arrives, so one replica stands
for all (``planner/confirm`` says why).  Times and energies are kept for each request, so what a
run has at its two ends, a queue that fills and one that empties, is not taken for its middle.
A run that is all ends has no middle, so it lasts some times as long as a request stays.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from ..errors import BadInput
from ..simulate.plan import CONTINUOUS, Load, Service
from ..simulate.run import Outcome, report, simulate

TRIES = 12
STAYS = 5  # a run is at least so many times as long as a request stays
MOST = 10**6  # replicas


@dataclass(frozen=True)
class Work:
    """Requests a second, and what a replica spends on each of them.

    ``seconds`` and ``joules`` of its prefill and of its decode steps, ``devices`` of a replica,
    ``resting`` its watts while it waits, ``stay`` the seconds a request is inside.
    """

    rps: float
    replicas: int
    devices: float
    isl: float
    osl: float
    seconds: tuple[float, float]
    joules: tuple[float, float]
    resting: float
    stay: float

    @property
    def busy(self) -> float:
        """Share of the time in which a replica runs steps."""
        return min(self.rps / self.replicas * sum(self.seconds), 1.0)

    @property
    def powers(self) -> np.ndarray:
        """Watts of all devices in prefill and in decode, mean over all time."""
        return self.rps * np.array(self.joules)

    @property
    def rest(self) -> float:
        """Watts of all devices while they wait, mean over all time."""
        return self.replicas * self.resting * (1 - self.busy)

    @property
    def draw(self) -> float:
        """Watts of one device, mean over work and waiting."""
        return (self.powers.sum() + self.rest) / (self.replicas * self.devices)


def work_of(found: Outcome, replicas: int) -> Work:
    """Return what a run of one replica of several says of each request.

    Steps that take more time than there is are those of the ends of a run: the replica is taken
    to run steps all the time, and draws what they draw.
    """
    tally, done = found.tally, max(found.tally.done, 1)
    fits = done * max(found.load.rate * tally.busy / done, 1.0)
    return Work(
        rps=found.load.rate * replicas,
        replicas=replicas,
        devices=found.steps.devices,
        isl=tally.tokens_in / done,
        osl=tally.tokens_out / done,
        seconds=(tally.prefill / fits, (tally.busy - tally.prefill) / fits),
        joules=(tally.prefill_energy / fits, (tally.energy - tally.prefill_energy) / fits),
        resting=found.steps.idle_power,
        stay=tally.latency["e2e"].mean,
    )


def enough(found: Outcome) -> int:
    """Return the requests of a run that is long enough to say what each of them takes."""
    return math.ceil(STAYS * found.load.rate * found.tally.latency["e2e"].mean)


def served(
    service: Service, load: Load, replicas: int = 0, longer: bool = False
) -> tuple[Work, dict]:
    """Return the work of the fewest replicas that serve a load, or of so many, and the report.

    Raises BadInput where they cannot serve it, or where the run is too short to tell; with
    ``longer`` more requests are simulated then.
    """
    if service.policy not in CONTINUOUS:
        ways = " or ".join(CONTINUOUS)
        raise BadInput(f"--policy: a cost is asked of {ways}, not of {service.policy}")
    if service.apart or load.clients or load.trace is not None:
        raise BadInput("a cost is asked of replicas that all do the same, at a rate of requests")
    count, tables = replicas or 1, None
    for _ in range(TRIES):
        if count > MOST:
            raise BadInput(
                f"{load.rate:g} requests a second on {count:,} replicas of {service.case.name}: "
                f"at most {MOST:,} are billed"
            )
        part = replace(load, rate=load.rate / count, variation=load.variation / math.sqrt(count))
        found = simulate(replace(service, replicas=1), part, tables=tables)
        if not found.saturated:
            needed = enough(found)
            if load.count >= needed:
                return work_of(found, count), report(found)
            if not longer:
                raise BadInput(
                    f"--requests {load.count:,} end before they say what one of many takes: one "
                    f"stays {found.tally.latency['e2e'].mean:.3g} s; simulate {needed:,} or more"
                )
            load, tables = replace(load, count=math.ceil(1.2 * needed)), found.steps
            continue
        if replicas:
            raise BadInput(
                f"{replicas} replicas of {service.case.name} cannot serve {load.rate:g} requests "
                f"a second: {found.saturated}"
            )
        tables = found.steps
        needed = math.floor(load.rate / found.most) + 1
        count = max(count + max(1, count // 10), needed)
    raise BadInput(
        f"{load.rate:g} requests a second are more than {count:,} replicas of "
        f"{service.case.name} serve; say how many with --replicas"
    )
