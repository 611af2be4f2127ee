"""What an expression of a claim may call: law values, facts of records, small simulations."""

import math
from functools import cache

from ..errors import BadInput, nearest
from ..laws import SERVICE
from ..matrix import activations_for
from ..records import load
from ..scenario import opened
from ..symbols import GLOSSARY, SYMBOLS
from ..units import ureg


def value(model: str, hardware: str, weights: str, symbol: str, unit: str = "", **choices):
    """Value of a symbol for a combination, in ``unit`` or in base units.

    Choices are those of a scenario; without ``tp`` the fewest devices are taken.
    """
    choices = {k: int(v) if isinstance(v, float) else v for k, v in choices.items()}
    found = _values(model, hardware, weights, tuple(sorted(choices.items())))
    return _shown(found, symbol, unit, f"{model} on {hardware}")


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


def price(hardware: str, provider: str) -> float:
    """The price of one device that a provider asks, USD an hour."""
    for offer in load("prices", hardware).offers:
        if offer.provider.startswith(provider) and offer.price:
            return offer.usd_per_second * 3600
    raise BadInput(f"prices/{hardware}: no offer of {provider}")


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
RECORDS = {"fact": fact, "stated": stated, "about": about, "price": price}
