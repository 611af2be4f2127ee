"""The promise of a service: limits that each request must keep, ``ttft=500ms,itl=50ms``."""

from typing import NamedTuple

import numpy as np

from ..errors import BadInput, nearest
from ..units import quantity

WORDS = {
    "ttft": "time to first token",
    "itl": "mean gap between the tokens of a request",
    "gap": "longest gap between two tokens of a request",
    "e2e": "time to the last token",
}
ALSO = {"tpot": "itl", "e2el": "e2e"}  # what other tools call them


class Limit(NamedTuple):
    """One part of a promise: which latency, in seconds at most, as it was written."""

    name: str
    seconds: float
    written: str

    @property
    def written_out(self) -> str:
        return f"{self.name}={self.written}"


def promise(text: str) -> list[Limit]:
    """Read limits with commas between; nothing promised is an empty list.

    Raises BadInput for an unknown latency, a limit without a unit of time, or one said twice.
    """
    found: list[Limit] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip().lower() for piece in part.partition("="))
        name = ALSO.get(name, name)
        if not equals:
            raise BadInput(f"--slo: {part!r} is no limit; write ttft=500ms,itl=50ms")
        if name not in WORDS:
            raise BadInput(f"--slo: no latency {name!r}{nearest(name, [*WORDS, *ALSO])}")
        if name in (limit.name for limit in found):
            raise BadInput(f"--slo: {name} is promised twice")
        found.append(Limit(name, _seconds(name, value), value))
    return found


def _seconds(name: str, text: str) -> float:
    try:
        value = quantity(text.replace("µ", "u"))
        seconds = float(value.to("second").m)
    except Exception:  # no number with a unit, or one of another kind: pint raises several classes
        seconds = float("nan")
    if not 0 < seconds < float("inf"):
        raise BadInput(
            f"--slo: {name}={text} is no time above zero; write {name}=500ms or {name}=0.5s"
        )
    return seconds


def kept(limits: list[Limit], latencies: dict[str, np.ndarray]) -> np.ndarray:
    """Say of each request whether it met every limit; one token has no gaps, and keeps them."""
    met = np.ones(len(latencies["ttft"]), bool)
    for limit in limits:
        met &= ~(latencies[limit.name] > limit.seconds * (1 + 1e-9))  # as written, not as rounded
    return met
