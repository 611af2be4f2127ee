"""One way to serve: an option with a batch limit, and what is predicted of it."""

import math
from dataclasses import dataclass, field, replace

from .space import Option


@dataclass(frozen=True)
class Candidate:
    """An option with a batch limit and a way to serve; how many, and what they would do.

    ``fewest`` and ``likely`` count replicas, ``prefills`` of them prefill alone (0: together).
    ``latency`` is the mean predicted at the likely number, in seconds.  ``reason`` is why it is
    out: a kind, the numbers, and by how much (a share; 0 where it has no measure).
    """

    option: Option
    mode: str
    batch: int
    fewest: tuple[int, int] = (0, 0)
    likely: tuple[int, int] = (0, 0)
    latency: dict[str, float] = field(default_factory=dict)
    watts: float = math.nan  # of all devices at the likely number
    least_watts: float = math.nan  # at the fewest
    rate: float = 0.0  # requests a second that one replica takes; of those that decode, if apart
    grams: float = math.nan  # a joule of the devices
    wh: float = math.nan
    host: float = 0.0  # watts of a host that count with each device
    reason: tuple[str, str, float] = ("", "", 0.0)
    confirmed: bool = False  # a simulation kept the promise: the numbers are those of it

    @property
    def name(self) -> str:
        one = self.option
        ep = f" ep {one.ep}" if one.ep > 1 else ""
        return f"{one.hardware}/{one.weights} tp {one.tp}{ep} {self.mode} batch {self.batch}"

    def devices(self, replicas: tuple[int, int] | None = None) -> int:
        return sum(self.likely if replicas is None else replicas) * self.option.devices

    def usd(self, replicas: tuple[int, int] | None = None) -> float:
        """USD an hour; NaN without a price."""
        price = self.option.price
        return math.nan if price is None else price * self.devices(replicas)

    def score(self, by: str, bound: bool = False) -> float:
        """What is to be least, an hour: USD, kWh or kg; at the fewest replicas for a bound."""
        if by == "usd":
            return self.usd(self.fewest if bound else None)
        watts = self.least_watts if bound else self.watts
        watts += self.host * self.devices(self.fewest if bound else None)
        return watts * 3600 * (self.wh / 1e3 if by == "kwh" else self.grams / 1e3)

    def lost(self, kind: str, said: str, by: float = 0.0) -> "Candidate":
        return replace(self, reason=(kind, said, by))
