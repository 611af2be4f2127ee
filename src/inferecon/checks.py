"""Can what a notebook is given be asked?  Told before it runs, by the checkers of the commands.

A function for each notebook whose parameters are more than one combination; each raises BadInput.
"""

from dataclasses import fields

from .costing.facts import HOLDS, OPTIONS, gather
from .costs import for_way
from .errors import BadInput, nearest
from .files import ROOT
from .lists import numbers, pairs, positive, seeded, texts
from .planned import ASKED, asked
from .planner.space import askable
from .scenario import Scenario, opened, whole
from .service.metrics import measured
from .service.promise import Limit, promise
from .service.read import read_log
from .serving import written
from .simulate.arrivals import Lengths
from .simulate.plan import Load, Service
from .tiers import ask as tier_ask

COMBINATION = ("model", "hardware", "weights", "activations", "isl", "osl")


def plan(values: dict[str, object]) -> None:
    askable(asked(**{name: values[name] for name in ASKED}))


def costs(values: dict[str, object]) -> None:
    case = _case(values, "grid")
    seed, rps = seeded(values["seed"]), positive("rps", values["rps"])
    for rate in (rps, *numbers("rates", values["rates"])):
        Load(Lengths(case.isl, case.osl), values["requests"], rate=rate, seed=seed)
    numbers("shares", values["shares"], 1.0)
    stated = values["stated"]
    for name, value in stated.items():
        if name not in OPTIONS:
            raise BadInput(f"stated: no fact {name!r}{nearest(name, OPTIONS)}")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadInput(f"stated: {name} must be a number, not {value!r}")
    for hold in HOLDS:
        gather(case, hold, for_way(hold, stated))


def serving(values: dict[str, object]) -> None:
    case = _loaded(values, "slo")
    drawn = texts("drawn", values["drawn"])
    if len(drawn) != 2:
        raise BadInput(f"drawn must name two ways to batch, not {drawn!r}")
    for way in drawn:
        _service("drawn", way, case, {"policy": way})
    _services("policies", case, values)


def disaggregation(values: dict[str, object]) -> None:
    case = _loaded(values, "slo", "tight")
    _services("arrangements", case, values)


def improvement(values: dict[str, object]) -> None:
    _services("tried", _case(values), values)
    measured(read_log(ROOT / values["log"]), _promised(values, "promised"))


def tiers(values: dict[str, object]) -> None:
    for kind, name, slo in (("tier", "tiers", []), ("use", "uses", values["slo"])):
        if not isinstance(values[name], list):
            raise BadInput(f"{name} must be a list of lists, not {values[name]!r}")
        for load in values[name]:
            if not isinstance(load, list) or [*map(type, load[:2])] != [str, str] or len(load) != 3:
                raise BadInput(f"{name} must be lists of {kind}, model and rate, not {load!r}")
            rps = positive(name, load[2])
            askable(
                tier_ask(
                    kind,
                    load[0],
                    load[1],
                    rps,
                    values["isl"],
                    values["osl"],
                    slo,
                    texts("hardware", values["hardware"]),
                    texts("edge", values["edge"]),
                    values["grid"],
                    seeded(values["seed"]),
                )
            )


def _loaded(values: dict[str, object], *slos: str) -> Scenario:
    """Return the combination of a notebook that draws its service under loads."""
    case, seed = _case(values), seeded(values["seed"])
    for name in slos:
        limits = tuple(_promised(values, name))
        for rate in numbers("rates", values["rates"]):
            lengths = Lengths(case.isl, case.osl)
            Load(lengths, count=values["requests"], seed=seed, rate=rate, limits=limits)
    positive("drawn_rate", values["drawn_rate"])
    whole("shown", values["shown"])
    return case


def _promised(values: dict[str, object], name: str) -> list[Limit]:
    return promise(written(pairs(name, values[name], str)))


def _services(name: str, case: Scenario, values: dict[str, object]) -> None:
    if not values[name]:
        raise BadInput(f"{name} must have at least one way to serve")
    for way, told in pairs(name, values[name], dict):
        _service(name, way, case, told)


def _case(values: dict[str, object], *more: str) -> Scenario:
    """Return the combination of a notebook, its price looked up."""
    named = [name for name in (*COMBINATION, *more) if name in values]
    case = opened(batch=1, **{name: values[name] for name in named})
    case.given()
    return case


def _service(name: str, way: str, case: Scenario, told: dict) -> Service:
    """Return the service that a parameter describes."""
    known = [field.name for field in fields(Service)][1:]
    for option in told:
        if option not in known:
            raise BadInput(f"{name}: {way!r} has no option {option!r}{nearest(option, known)}")
    try:
        return Service(case, **told)
    except TypeError as mistake:  # a text where a number belongs
        raise BadInput(f"{name}: {way!r}: {mistake}") from mistake
