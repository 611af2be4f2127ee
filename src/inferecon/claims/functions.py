"""What an expression of a claim may call: law values, facts of records, measured rows."""

import csv
import math
from dataclasses import fields
from functools import cache

from ..errors import BadInput, nearest
from ..files import DATA
from ..laws import SERVICE
from ..laws.catalogue import BESIDE
from ..matrix import activations_for
from ..records import load
from ..scenario import Scenario, opened
from ..symbols import GLOSSARY, SYMBOLS
from ..units import ureg
from .exhibits import found
from .register import KINDS, documents

CHOICES = {field.name for field in fields(Scenario)}
OTHERS = {law.symbol: law for law in BESIDE}  # they need what no scenario states
MEASURED = ("decode", "moe_decode", "prefill")


def value(model: str, hardware: str, weights: str, symbol: str, unit: str = "", **choices):
    """Value of a symbol for a combination, in ``unit`` or in base units.

    Choices are those of a scenario; without ``tp`` the fewest devices are taken.
    What a scenario does not state (a cached share, an arrival rate) is given by
    the name of its symbol, in base units.
    """
    extra = {k: v for k, v in choices.items() if k not in CHOICES}
    if unknown := extra.keys() - SYMBOLS.keys():
        name = min(unknown)
        raise BadInput(f"no symbol and no choice {name!r}{nearest(name, [*SYMBOLS, *CHOICES])}")
    chosen = {k: int(v) if isinstance(v, float) else v for k, v in choices.items() if k in CHOICES}
    values = dict(_values(model, hardware, weights, tuple(sorted(chosen.items()))))
    values |= {SYMBOLS[name]: number for name, number in extra.items()}
    if name := SYMBOLS.get(symbol):
        _solve(name, values)
    return _shown(values, symbol, unit, f"{model} on {hardware}")


def _solve(symbol, values: dict) -> None:
    """Add a symbol that only a law beside the scenario defines, with what that law needs."""
    law = OTHERS.get(symbol)
    if law is None or not math.isnan(float(values.get(symbol, math.nan))):
        return
    for needed in law.needs:
        _solve(needed, values)
    given = [float(values.get(needed, math.nan)) for needed in law.needs]
    # NaN would fail the law's regime first, and hide that an input is missing
    values[symbol] = math.nan if any(map(math.isnan, given)) else float(law(values))


@cache
def _values(model: str, hardware: str, weights: str, choices: tuple) -> dict:
    chosen = {"activations": activations_for(weights), **dict(choices)}
    return opened(model=model, hardware=hardware, weights=weights, **chosen).values


def count(model: str, symbol: str, unit: str = ""):
    """Value of a symbol that the shapes of a model alone decide."""
    return _shown(_counts(model), symbol, unit, model)


@cache
def _counts(model: str) -> dict:
    return SERVICE.solve({**load("constants", "counting").given, **load("models", model).given})


def fact(kind: str, id: str, key: str, unit: str = ""):
    """A recorded fact, ``symbol`` or ``symbol@case``; a part that a model lacks is zero."""
    record = load(kind, id)
    if "@" in key:
        return _converted(record.get(key), key.partition("@")[0], unit, record.path)
    return _shown(record.given, key, unit, record.path)


def stated(kind: str, id: str, key: str) -> bool:
    """Say whether a record states a fact; what a device lacks has none."""
    if key.partition("@")[0] not in SYMBOLS:
        raise BadInput(f"no symbol {key!r}{nearest(key, SYMBOLS)}")
    return key in load(kind, id).facts


def about(kind: str, id: str, key: str) -> str:
    """What a record says about its thing beside the facts, as text."""
    said = load(kind, id).about
    if key not in said:
        raise BadInput(f"{kind}/{id} says no {key}{nearest(key, said)}")
    return str(said[key])


def price(hardware: str, provider: str, kind: str = "on-demand") -> float:
    """The price of one device that a provider asks, USD an hour."""
    for offer in load("prices", hardware).offers:
        if offer.provider.startswith(provider) and offer.price and offer.kind == kind:
            return offer.usd_per_second * 3600
    raise BadInput(f"prices/{hardware}: no {kind} offer of {provider}")


def measured(file: str, column: str, **row) -> float:
    """A column of the one row of ``data/measurements/`` that has these values."""
    if file not in MEASURED:
        raise BadInput(f"no measurements {file!r}; known: {', '.join(MEASURED)}")
    fitting = [r for r in _rows(file) if all(_same(r.get(k, ""), v) for k, v in row.items())]
    if len(fitting) != 1:
        raise BadInput(f"{len(fitting)} rows of {file}.csv have {row}, not one")
    if column not in fitting[0]:
        raise BadInput(f"{file}.csv has no column {column!r}{nearest(column, fitting[0])}")
    return float(fitting[0][column])


@cache
def _rows(file: str) -> tuple[dict, ...]:
    with (DATA / "measurements" / f"{file}.csv").open(encoding="utf-8", newline="") as lines:
        return tuple(csv.DictReader(lines))


def _same(cell: str, wanted: float | str) -> bool:
    return cell == wanted if isinstance(wanted, str) else cell.isdecimal() and int(cell) == wanted


def claims_made(document: float, first: float, last: float, kind: str = "") -> int:
    """How many claims a document makes between two of its lines, of one kind or of any."""
    if kind and kind not in KINDS:
        raise BadInput(f"no kind of claim {kind!r}{nearest(kind, KINDS)}")
    return sum(
        first <= min(claim.lines) <= last and kind in ("", claim.kind)
        for found in documents()
        if found.document == document
        for claim in found.claims
    )


def _shown(values: dict, name: str, unit: str, of: str) -> float:
    if name not in SYMBOLS:
        raise BadInput(f"no symbol {name!r}{nearest(name, SYMBOLS)}")
    return _converted(values.get(SYMBOLS[name], math.nan), name, unit, of)


def _converted(found: float, name: str, unit: str, of: str) -> float:
    if math.isnan(found := float(found)):
        raise BadInput(f"{name} of {of} is missing")
    if not unit:
        return found
    return float(ureg.Quantity(found, GLOSSARY[SYMBOLS[name]].unit).to(unit).m)


LAWS = {"value": value, "count": count}
RECORDS = {
    "fact": fact,
    "stated": stated,
    "about": about,
    "price": price,
    "found": found,
    "measured": measured,
    "claims_made": claims_made,
}
