"""What stands behind published numbers: the values put in, the bound that won, the records.

A number is known by its id (``naming``); the scenario that it was published for is opened
again, and the laws say which of its values the number rests on.
"""

import math
from collections.abc import Iterable
from dataclasses import fields, replace
from functools import cache

import sympy as sp

from . import naming
from .basis import Basis, basis
from .law import NAME, Law
from .laws import SERVICE
from .matrix import HARDWARE, WORKLOAD
from .numbers import SHOWN, Number, digits
from .predictions import ENGINES, IMPLIED
from .records import load
from .response import INPUTS
from .scenario import Scenario, choose_devices, opened
from .sourcing import records, told
from .substitution import PREFIXES, parts
from .symbols import GLOSSARY, SYMBOLS
from .units import ureg
from .worked import scenario

COUNTED = 1e6  # a count below is written in full
SAME = 1e-6  # by which a published number and what its law gives may differ: its digits
PUT_IN = 5  # digits of what is put into an equation: of fewer the reader's sum would be another
CHOSEN = {field.name for field in fields(Scenario)}
TTFT = SYMBOLS["ttft"]  # published of a batch that starts together, predicted of one request


def behind(ids: Iterable[str], numbers: dict) -> dict:
    """Return what the box says of the values and records behind some numbers.

    ``values[case][symbol]`` is written as a reader would; ``won[case][time]`` says which
    bound set a time, and ``beside[case][symbol]`` what stands beside a prediction: its bound, and
    whether that cut it.  ``of[case][symbol]`` is which of ``sets`` a number rests on, and the
    times behind it; a set has places in ``inputs``, records with the facts used of them and
    places in ``sources``.  ``fits[case][symbol]`` has places in ``constants``, the fitted ones
    that a prediction rests on, and then that in ``rows``, the measured rows behind them.
    """
    values, won, of, beside, fits = {}, {}, {}, {}, {}
    inputs, sets, texts, constants, rows = {}, {}, {}, {}, {}  # what each is: which one it is
    for id in sorted(ids):
        name, symbol = naming.split(id)
        case, known = _opened(name, numbers)
        if case is None:
            continue
        own, how = naming.bare(name)
        law = naming.law_of(id)
        foretold = basis(case, how) if how in ENGINES else None
        filled = foretold is None or _gives(law, known, numbers[id], symbol)
        for part in sorted(law.eq.rhs.free_symbols, key=NAME) if law and filled else ():
            value = known.get(part, math.nan)
            if not math.isnan(value):
                values.setdefault(name, {})[part.name] = plain(part, float(value), PUT_IN)
        target = SYMBOLS.get(_target(name, symbol))
        if target is None:
            continue
        times = () if how in ENGINES else _times(target)
        if foretold is not None and not numbers[id].missing:
            words = _beside(foretold, target, numbers[id], numbers.get(f"{own}:{symbol}"), filled)
            beside.setdefault(name, {})[symbol] = words
            fitted = [
                [x.symbol.name, _name(x.symbol), plain(x.symbol, x.value), x.levels]
                for x in foretold.constants_of(target)
            ]
            places = [constants.setdefault(tuple(one), len(constants)) for one in fitted]
            alike = foretold.rows_of(target).said
            fits.setdefault(name, {})[symbol] = [*places, rows.setdefault(alike, len(rows))]
        for time in times:
            won.setdefault(name, {})[time.name] = _winner(case, time)
        needs = foretold.records_of(target) if foretold else SERVICE.inputs_of(target)
        rests = records(case, needs)
        places = tuple(inputs.setdefault(one, len(inputs)) for one in rests)
        of.setdefault(name, {})[symbol] = [
            sets.setdefault(places, len(sets)),
            *(time.name for time in times),
        ]
    found = [dict(told(*one)) for one in inputs]
    for one in found:
        one["sources"] = [texts.setdefault(text, len(texts)) for text in one["sources"]]
    return {
        "values": values,
        "won": won,
        "beside": beside,
        "fits": fits,
        "constants": [list(one) for one in constants],
        "rows": [*rows],
        "inputs": found,
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
        foretold = basis(found, how)
        solved = foretold.values if foretold else {}
        known = {x: known[x] for x in found.given()} | solved | _predicted(case, numbers)
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


def _gives(law: Law | None, known: dict, number: Number, symbol: str) -> bool:
    """Say whether a law gives a prediction from these values, and no bound or wait changed it."""
    if law is None or number.missing:
        return False
    value = number.value / _shown_in_a_base_unit(SYMBOLS[symbol])
    found = {x: known.get(x, math.nan) for x in law.needs}
    return math.isclose(float(law(found)), value, rel_tol=SAME)


def _beside(
    foretold: Basis, target: sp.Symbol, number: Number, bound: Number | None, filled: bool
) -> list[str]:
    """Say what stands beside a prediction: its bound, what that cut off, and who has to wait."""
    said = []
    if target == TTFT:
        alone = float(_full(foretold.case, 1).values[TTFT])
        said.append(f"derived bound: {plain(TTFT, alone)}, the prefill of its own prompt")
        if bound is not None and not bound.missing:
            said.append(f"a batch that starts together has {bound.shown}")
    elif bound is not None and not bound.missing:
        ends = [x for x in (number.low, number.high) if math.isclose(x, bound.value, rel_tol=SAME)]
        cut = ", where the interval is cut" if ends and number.value != bound.value else ""
        said.append(f"derived bound: {bound.shown}{cut}")
    if foretold.waits:
        said.append(foretold.waits)
    elif not filled:
        said.append("the law gives less than the bound, and no engine does: the bound is told")
    return said


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
