"""Lists that a notebook is given: of texts, of numbers, of pairs; or a sentence that says why not.

A command reads its options by type; what is inside a list has none until it is looked at.
"""

import math
from numbers import Real

from .errors import BadInput


def texts(name: str, values: object) -> list[str]:
    """Return a list of at least one text, none of them empty."""
    fine = isinstance(values, list) and values
    if not fine or not all(isinstance(x, str) and x.strip() for x in values):
        raise BadInput(f'{name} must be a list of texts such as ["bf16"], not {values!r}')
    return values


def numbers(name: str, values: object, most: float = math.inf) -> list[float]:
    """Return a list of at least one finite number above 0, none above ``most``."""
    if not isinstance(values, list) or not values:
        raise BadInput(f"{name} must be a list of numbers such as [1, 2.5], not {values!r}")
    return [positive(name, value, most) for value in values]


def positive(name: str, value: object, most: float = math.inf) -> float:
    """Return a finite number above 0, and not above ``most``."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not 0 < value < math.inf or value > most:
        end = "" if most == math.inf else f" and at most {most:g}"
        raise BadInput(f"{name} must be more than 0{end}, and finite, not {value!r}")
    return value


def pairs(name: str, values: object, second: type) -> list[tuple[str, object]]:
    """Return a list of pairs of a text and something of a type."""
    example = '[["ttft", "500 ms"]]' if second is str else '[["as it is", {}]]'
    fine = isinstance(values, list) and all(
        isinstance(x, list | tuple)
        and len(x) == 2
        and isinstance(x[0], str)
        and isinstance(x[1], second)
        for x in values
    )
    if not fine:
        raise BadInput(f"{name} must be a list of pairs such as {example}, not {values!r}")
    return [tuple(x) for x in values]


def seeded(value: object) -> int:
    """Return the seed of a simulation: a whole number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadInput(f"seed must be a whole number of at least 0, not {value!r}")
    return value
