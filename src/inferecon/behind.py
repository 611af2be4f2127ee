"""What stands behind published numbers: the values put in, the bound that won, the records.

A number is known by its id (``naming``); the scenario that it was published for is opened
again, and the laws say which of its values the number rests on.
"""

import math
from collections.abc import Iterable
from dataclasses import fields, replace
from functools import cache

import sympy as sp

from . import naming, provenance
from .givens import Origin
from .law import NAME
from .laws import SERVICE
from .matrix import HARDWARE, WORKLOAD
from .numbers import SHOWN, digits
from .predictions import ENGINES, IMPLIED
from .records import Offer, Record, load, sources
from .response import INPUTS
from .scenario import Scenario, choose_devices, opened
from .substitution import PREFIXES, parts
from .symbols import GLOSSARY, SYMBOLS
from .units import ureg
from .worked import scenario

COUNTED = 1e6  # a count below is written in full
PUT_IN = 5  # digits of what is put into an equation: of fewer the reader's sum would be another
MANY = 6  # facts of one record that are named; of more the number is
CHOSEN = {field.name for field in fields(Scenario)}
PAGES = {"formats": "data/formats", "constants": "data/sources"}


def behind(ids: Iterable[str], numbers: dict) -> dict:
    """Return what the box says of the values and records behind some numbers.

    ``values[case][symbol]`` is written as a reader would; ``won[case][time]`` says which
    bound set a time, and ``bound[case][symbol]`` the derived value beside a prediction.
    ``of[case][symbol]`` is which of ``sets`` a number rests on, and the times behind it; a set
    has places in ``inputs``, records with the facts used of them and places in ``sources``.
    """
    values, won, of, bound = {}, {}, {}, {}
    inputs, sets, texts = {}, {}, {}  # what each is: which one it is
    for id in sorted(ids):
        name, symbol = naming.split(id)
        case, known = _opened(name, numbers)
        if case is None:
            continue
        own, how = naming.bare(name)
        law = naming.law_of(id)
        for part in sorted(law.eq.rhs.free_symbols, key=NAME) if law else ():
            value = known.get(part, math.nan)
            if not math.isnan(value):
                values.setdefault(name, {})[part.name] = plain(part, float(value), PUT_IN)
        target = SYMBOLS.get(_target(name, symbol))
        if target is None:
            continue
        times = () if how in ENGINES else _times(target)
        if how in ENGINES:
            derived = numbers.get(f"{own}:{symbol}")
            if derived is not None and not derived.missing and symbol != "ttft":
                bound.setdefault(name, {})[symbol] = derived.shown
        for time in times:
            won.setdefault(name, {})[time.name] = _winner(case, time)
        rests = _records(case, SERVICE.inputs_of(target))
        places = tuple(inputs.setdefault(one, len(inputs)) for one in rests)
        of.setdefault(name, {})[symbol] = [
            sets.setdefault(places, len(sets)),
            *(time.name for time in times),
        ]
    told = [dict(_told(*one)) for one in inputs]
    for one in told:
        one["sources"] = [texts.setdefault(text, len(texts)) for text in one["sources"]]
    return {
        "values": values,
        "won": won,
        "bound": bound,
        "inputs": told,
        "sources": [*texts],
        "sets": [list(places) for places in sets],
        "of": of,
    }


def _target(case: str, symbol: str) -> str:
    """Return the quantity that a number is of; an elasticity is of what it moves."""
    first, *rest = case.split("/")
    return rest[3].partition("=")[0] if first == "sensitivity" else symbol


def _opened(case: str, numbers: dict) -> tuple[Scenario | None, dict]:
    """Return the scenario of a case, and its values; of a prediction, what was predicted."""
    own, how = naming.bare(case)
    first, *rest = own.split("/")
    if first == "formats":
        return None, {}
    if first == "counts":
        found = _counted(rest[0])
    elif first == "scenario":
        given = {k: v for k, v in naming.defaults("scenario").items() if k in CHOSEN}
        found = _chosen(tuple(given.items()))
    else:
        found = _named("/".join(rest[:3] if first == "sensitivity" else (first, *rest)))
    if how == naming.FULL:
        found = _full(found, int(numbers[f"{own}:largest_batch"].value))
    known = found.values
    if how in ENGINES:
        known = {x: known[x] for x in found.given()} | _predicted(case, numbers)
    return found, known


def _predicted(case: str, numbers: dict) -> dict:
    """Return what was predicted of a case, in base units, with the device time it makes."""
    found = {}
    for symbol in SHOWN:
        one = numbers.get(f"{case}:{symbol.name}")
        if one is not None and not one.missing and symbol not in IMPLIED:
            found[symbol] = one.value / _shown_in_a_base_unit(symbol)
    rate = numbers.get(f"{case}:throughput_device")
    if rate is not None and not rate.missing:
        found[SYMBOLS["device_time"]] = 1 / rate.value  # token/s is the base unit
    return found


@cache
def _shown_in_a_base_unit(symbol: sp.Symbol) -> float:
    return ureg.Quantity(1.0, GLOSSARY[symbol].unit).to(SHOWN[symbol]).m


@cache
def _named(name: str) -> Scenario:
    return scenario(name)


@cache
def _chosen(given: tuple) -> Scenario:
    return opened(**{name: value for name, value in given if value is not None})


@cache
def _full(case: Scenario, batch: int) -> Scenario:
    return replace(case, batch=batch)


@cache
def _counted(model: str) -> Scenario:
    """Return a scenario whose lengths fit the model: the counts do not depend on them."""
    half = int(load("models", model).given[SYMBOLS["max_context"]]) // 2
    lengths = {name: min(WORKLOAD[name], half) for name in ("isl", "osl")}
    return choose_devices(model, HARDWARE[0], **WORKLOAD | lengths)


# Which bound won -------------------------------------------------------------------------------


@cache
def _times(target: sp.Symbol) -> tuple[sp.Symbol, ...]:
    """Return the times behind a quantity that the greater of several bounds sets."""
    found, open_ = set(), [target]
    while open_:
        law = SERVICE.laws.get(symbol := open_.pop())
        if law is not None and symbol not in found:
            found.add(symbol)
            open_ += law.needs
    return tuple(x for x in SERVICE.laws if x in found and _bounds(x))


@cache
def _bounds(time: sp.Symbol) -> tuple[sp.Symbol, ...]:
    if GLOSSARY[time].unit != ureg.second:
        return ()
    for greatest in SERVICE.laws[time].eq.rhs.atoms(sp.Max):
        if all(one.is_Symbol for one in greatest.args):
            return tuple(sorted(greatest.args, key=str))
    return ()


def _winner(case: Scenario, time: sp.Symbol) -> str:
    def size(one):
        return float(case.values[one])

    if any(math.isnan(size(one)) for one in _bounds(time)):
        return ""
    first, *others = sorted(_bounds(time), key=size, reverse=True)
    beaten = " and ".join(f"{_name(one)} {plain(one, size(one))}" for one in others)
    return f"{_name(first)} {plain(first, size(first))}, above {beaten}"


def _name(symbol: sp.Symbol) -> str:
    return GLOSSARY[symbol].meaning


# Values as text --------------------------------------------------------------------------------


def plain(symbol: sp.Symbol, value: float, significant: int = 3) -> str:
    """Write a base-unit value in a unit that a reader knows; a count in full."""
    if rate := _rate(symbol):
        scale, unit = rate
        return f"{_bare(digits(value * scale, significant))} {unit}"
    if symbol not in SHOWN and value.is_integer() and 1000 <= value < COUNTED:
        return f"{value:,.0f} {GLOSSARY[symbol].unit:~}".replace(" / ", "/").strip()
    shown, prefix, unit = parts(symbol, value)
    if unit and significant > 3:
        factor = 1.0 / _shown_in_a_base_unit(symbol) if symbol in SHOWN else PREFIXES[prefix]
        shown = _bare(digits(value / factor, significant))
    return f"{shown} {prefix}{unit}".strip()


def _bare(text: str) -> str:
    """Return digits without noughts at the end of a fraction."""
    return text.rstrip("0").rstrip(".") if "." in text else text


@cache
def _rate(symbol: sp.Symbol) -> tuple[float, str] | None:
    """Return the unit in which a reader states a rate, 3.39 USD/h and not 942 µUSD/s."""
    unit = INPUTS.get(symbol, ("",))[0]
    if "/" not in unit or symbol in SHOWN:
        return None
    return ureg.Quantity(1.0, GLOSSARY[symbol].unit).to(unit).m, unit


# Records ---------------------------------------------------------------------------------------


@cache
def _records(case: Scenario, inputs: frozenset[sp.Symbol]) -> list[tuple]:
    """Return record, facts used of it, and the offer, of everything that some inputs come from."""
    origins = _origins(case)
    used: dict[str, tuple[str, str, set[str], str]] = {}
    for symbol in inputs:
        origin = origins.get(symbol)
        if origin is None or origin.record is None:
            continue
        kind, id = origin.record.kind, origin.record.id
        facts = used.setdefault(origin.record.path, (kind, id, set(), origin.choice or ""))[2]
        if origin.fact:
            facts.add(origin.fact)
    found = (used[path] for path in sorted(used))
    return [(kind, id, tuple(sorted(facts)), offer) for kind, id, facts, offer in found]


@cache
def _origins(case: Scenario) -> dict[sp.Symbol, Origin]:
    return case.origins_of_given()


@cache
def _told(kind: str, id: str, facts: tuple[str, ...], provider: str) -> dict:
    """Return name, place, values and sources of a record, of which some facts are used."""
    record = load(kind, id)
    found = [record.facts[fact] for fact in facts]
    if provider:
        offer = next(one for one in record.offers if one.provider == provider and one.price)
        return _entry(record, [_offered(record, offer)], [offer.source])
    words = [provenance.known(record, fact) for fact in facts]
    said = [
        f"{fact} = {provenance.described(one, word)}"
        for fact, one, word in zip(facts, found, words, strict=True)
    ]
    if len(said) > MANY:
        said = [", ".join([f"{len(said)} facts", *provenance.counted(words)])]
    if kind == "formats":
        said.append(record.about["formula"])
    return _entry(record, said, [key for one in found for key in one.source])


def _offered(record: Record, offer: Offer) -> str:
    mark = provenance.marked(provenance.known_offer(record, offer))
    said = [offer.price, offer.provider, offer.kind, f"date: {offer.date}", mark]
    return ", ".join(filter(None, said))


def _entry(record: Record, said: list[str], keys: list[str]) -> dict:
    texts = []
    for key in dict.fromkeys(keys):
        source = sources()[key]
        texts.append(source.what + (f", read {source.read}" if source.read else ""))
    return {"name": record.name, "at": f"{_page(record)}.html", "says": said, "sources": texts}


def _page(record: Record) -> str:
    if record.kind == "prices":
        return _page(load("hardware", record.id))
    if record.kind in ("models", "hardware"):
        return naming.page_of(record.kind, record.id)
    return PAGES.get(record.kind, "data/assumptions")
