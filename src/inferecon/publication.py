"""How published numbers travel: in the metadata of the output that shows them.

So an executed notebook is the record of what was computed, and the build reads the numbers
back from there.
"""

import math
from typing import Any

from .numbers import PUBLISHED


def published(notebook) -> dict[str, Any]:
    """Return what an executed notebook published: numbers, obstacles, records, grid."""
    found: dict[str, Any] = {}
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            content = output.get("metadata", {}).get(PUBLISHED, {})
            named = found.get("named", {}) | content.get("named", {})  # several cells may have some
            found |= {**content, **({"named": named} if named else {})}
    return found


def null(value: float):
    """NaN is no JSON: a missing value travels as null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_json(numbers: dict) -> list[list]:
    """Return numbers as they travel in a notebook: name, value, unit, and what a prediction has."""
    return [
        [symbol.name, null(n.value), n.unit, *(n[2:] if n.known else ())]
        for symbol, n in numbers.items()
    ]
