"""Run a plan, and say what came out: or that more arrives than can be served."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from .. import symbols as s
from ..errors import BadInput
from ..law import System
from ..laws import economics, logged, speculation
from ..service.metrics import PERCENTILES
from . import apart, fleet
from .batches import Batching, BatchServer
from .ceiling import carried, ceiling, transfer
from .histogram import ERROR
from .notes import notes
from .plan import CONTINUOUS, Load, Service
from .replica import Replica
from .sequences import Policy
from .steps import Steps, steps
from .tally import Tally

BACKLOG, GROWTH, FEW = 0.05, 1.5, 20  # a queue of more than these is one that grows
RATES = System(logged.LAWS)
CARBON = System([economics.CARBON])


@dataclass
class Outcome:
    """What a run gave.  ``saturated`` says in a sentence that no latency means anything.

    ``tally`` and ``seconds`` are those of one of ``parts`` that do the same.
    """

    service: Service
    load: Load
    tally: Tally
    steps: Steps
    seconds: float
    rate: float
    most: float
    saturated: str = ""

    @property
    def devices(self) -> float:
        return self.steps.devices * self.service.instances

    @property
    def parts(self) -> int:
        return self.service.parts


def simulate(
    service: Service,
    load: Load,
    *,
    watch: int = 0,
    log: Callable[[list], object] | None = None,
    tables: Steps | None = None,
    halves: apart.FirstHalves | None = None,
) -> Outcome:
    """Run a service under a load.

    ``watch`` keeps the times of the first requests, ``log`` takes a line of each that is done:
    what `inferecon metrics` reads.  ``halves`` keeps what prefill workers of one service did, for
    runs with other workers that decode.

    Raises BadInput for a combination that cannot run, or lengths that fit no memory.
    """
    tables = tables or tables_of(service, load)
    many = load.clients // service.replicas
    if service.policy == "static" and load.clients and many < service.batch:
        raise BadInput(
            f"a static batch of {service.batch} never fills: {many} clients a replica; "
            f"use --batch {max(many, 1)}, or more clients"
        )
    count = load.requests
    tally = Tally(count, int(load.warm * count), list(load.limits), watch, log)
    servers = _run(service.part, load.part(service.parts), tally, tables, halves)
    seconds = max(server.clock for server in servers)
    most = ceiling(service, load, tables)
    rate = _rate(load, tally)
    found = Outcome(service, load, tally, tables, seconds, rate, most)
    found.saturated = _saturated(found)
    return found


def tables_of(service: Service, load: Load) -> Steps:
    """Return the times of the steps of a service, as far as a load can go."""
    lengths = load.lengths
    longest = lengths.longest if load.trace is None else lengths.most
    found = steps(service.case, service.engine, service.batch, longest, service.speculation)
    isl, osl = lengths.means
    if load.trace is None and not found.bytes(isl + osl) <= found.room:
        raise BadInput(
            f"a request of {isl:,.0f} + {osl:,.0f} tokens needs "
            f"{found.bytes(isl + osl) / 1e9:.1f} GB of cache, {found.room / 1e9:.1f} GB are free"
        )
    return found


def _run(
    service: Service,
    load: Load,
    tally: Tally,
    tables: Steps,
    halves: apart.FirstHalves | None,
) -> list:
    gap, pieces = tables.request_gap, load.pieces(tally.changed)
    if service.policy in CONTINUOUS:
        spec = service.speculation
        tokens = 1.0
        if spec.drafts:
            given = {s.acceptance: spec.acceptance, s.draft_tokens: float(spec.drafts)}
            tokens = float(speculation.TOKENS(given))
        policy = Policy(
            service.batch,
            service.chunk,
            service.policy == "continuous",
            service.reserve,
            service.prefix,
            tokens,
        )
        one = partial(Replica, tables, policy, tally, tally.finished)
    else:
        policy = Batching(service.policy, service.batch, service.delay, service.prefix)
        one = partial(BatchServer, tables, policy, tally, tally.finished)
    if service.apart:
        if load.clients:
            raise BadInput("--clients needs one server for both phases; give --rate or --trace")
        prefills = [one(role="prefill") for _ in range(service.prefill_workers)]
        decodes = [one(role="decode") for _ in range(service.decode_workers)]
        half = apart.prefilled(prefills, service.route, pieces, gap, tally)
        if halves is not None:
            half = halves.half((service.prefill_workers, load), prefills, half, tally)
        links = apart.Links(len(prefills), len(decodes), transfer(service))
        apart.decoded(half, decodes, service.route, links, tally)
        apart.rest(prefills, decodes[0].clock)
        return [*prefills, *decodes]
    servers = [one() for _ in range(service.replicas)]
    if load.clients:
        fleet.Clients(pieces, gap, tally).serve(servers, load.clients)
    else:
        fleet.open_loop(servers, service.route, pieces, gap, tally)
    return servers


def _rate(load: Load, tally: Tally) -> float:
    """Return requests a second that arrived, NaN for a closed loop."""
    if load.clients:
        return math.nan
    return load.rate or math.nan


def _saturated(found: Outcome) -> str:
    """Say in a sentence that the queue grows as long as requests come; "" if it does not."""
    tally, load = found.tally, found.load
    if load.clients or found.service.policy == "inverted":
        return ""
    if found.rate >= found.most:
        service = found.service
        linked = service.apart and carried(service, load) <= found.most
        done = "carried over --link" if linked else "served"
        return (
            f"{found.rate:.4g} requests arrive a second and at most {found.most:.4g} can be "
            f"{done}: the queue grows without end, and so does every latency"
        )
    waits = [total / count if count else 0.0 for total, count in tally.blocks]
    begun = sum(count for _, count in tally.blocks)
    middle, last = float(np.mean(waits[9:11])), float(np.mean(waits[18:]))
    arriving = load.rate / found.parts or begun / max(found.seconds, 1e-9)
    backlog = arriving * last
    if backlog > max(BACKLOG * begun, FEW) and last > GROWTH * middle:
        return (
            f"the queue grew as long as requests came, to about {backlog:,.0f}: more arrive than "
            "can be served, and every latency grows with the run"
        )
    return ""


def report(found: Outcome) -> dict:
    """Return what a run gave as data; a latency of a saturated service is None."""
    tally, service, load = found.tally, found.service, found.load
    kept = not found.saturated
    rates = {}
    if kept and tally.measured and tally.ended > tally.began:
        rates = RATES.solve(
            {
                s.logged_time: tally.ended - tally.began,
                s.tokens_counted: float(tally.measured_out * found.parts),
                s.requests_done: float(tally.measured * found.parts),
                s.requests_kept: float(tally.good * found.parts),
            }
        )
    latency = {
        name: histogram.spread(PERCENTILES) if kept else None
        for name, histogram in tally.latency.items()
    }
    whole = found.seconds * service.instances / found.parts
    asked = tally.measured + tally.starved  # who is never served keeps no promise
    return {
        "combination": service.case.name,
        "devices": int(found.devices),
        "stands_for": found.parts,
        "seed": load.seed,
        "requests": {
            "completed": tally.done,
            "refused": tally.refused,
            "never served": tally.starved,
            "put out of the batch": tally.preempted,
        },
        "tokens": {
            "in": tally.tokens_in,
            "out": tally.tokens_out,
            "computed again": tally.recomputed,
        },
        "seconds": found.seconds,
        "saturated": found.saturated or None,
        "load_rps": load.rate or None,
        "most_rps": None if math.isnan(found.most) else found.most,
        "tps": _number(rates.get(s.tps)),
        "rps": _number(rates.get(s.rps_logged)),
        "goodput_rps": _number(rates.get(s.goodput_logged)) if load.limits else None,
        "good_share": tally.good / asked if load.limits and asked else None,
        "latency_s": latency,
        "percentile_error": ERROR,
        "utilisation": tally.busy / whole if whole else 0.0,
        "prefill_share": tally.prefill / tally.busy if tally.busy else 0.0,
        "held_bytes": held(found),
        "batch": {"mean": _mean(tally.batches), "seconds": dict(sorted(tally.batches.items()))},
        "spent": spent(found),
        "notes": notes(found),
    }


def held(found: Outcome) -> dict[str, float] | None:
    """Return the most bytes on one worker of each phase, waiting caches among them; of what."""
    if not found.service.apart:
        return None
    prefill, decode = found.tally.most_held
    return {"prefill": prefill, "decode": decode, "free": _number(found.steps.room)}


def _number(value) -> float | None:
    return None if value is None else float(value)


def _mean(batches: dict[int, float]) -> float:
    """Return the mean batch while something ran."""
    ran = sum(time for batch, time in batches.items() if batch)
    return sum(batch * time for batch, time in batches.items()) / ran if ran else 0.0


def spent(found: Outcome) -> dict:
    """Return energy, emissions and price of the whole run, idle time and prefill included.

    Devices are paid for all of the time, whether they work or wait.  Hosts are not in it.
    """
    tally, case = found.tally, found.service.case
    given = case.given()
    joules = (tally.energy + tally.idle_energy) * found.parts
    tokens = max(tally.tokens_out, 1) * found.parts
    grams = CARBON.solve(given | {s.energy_per_token: joules / tokens})[s.carbon_per_token] * tokens
    price = given.get(s.price, math.nan)
    usd = price * found.devices * found.seconds
    return {
        "kWh": joules * given[s.pue] / 3.6e6,
        "idle_share": tally.idle_energy * found.parts / joules if joules else 0.0,
        "kgCO2e": None if math.isnan(grams) else float(grams) / 1e3,
        "USD": None if math.isnan(usd) else usd,
        "USD_per_million_output": None if math.isnan(usd) else usd / tokens * 1e6,
        "J_per_output_token": joules / tokens,
    }
