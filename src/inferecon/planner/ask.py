"""What a service is planned for: a load, a promise, and where to look for devices."""

import math
import re
from dataclasses import dataclass

from ..errors import BadInput, nearest
from ..matrix import FORMATS, HARDWARE
from ..numbers import digits
from ..predictions import ENGINES
from ..records import matching
from ..regions import MONTH
from ..service.promise import Limit

OBJECTIVES = ("usd", "kwh", "kg")
MODES = ("together", "apart")
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
CARBON = re.compile(
    r"\s*(\d+(?:\.\d+)?(?:e-?\d+)?)\s*kg(?:\s*co2e?)?\s*/\s*(h|hour|month|mo|mtok)\s*", re.I
)
BUDGET = re.compile(r"\s*(\d+(?:\.\d+)?(?:e\d+)?)\s*(?:usd)?\s*/?\s*(h|hour|month|mo)?\s*", re.I)


@dataclass(frozen=True)
class Ask:
    """Requests of one size at a rate, the limits that a share of them must keep, and the space.

    ``budget`` in USD an hour, ``carbon`` in kg CO2e an hour of use and ``devices`` are at most so
    many, 0 for no limit; ``by`` is what is to be least.  ``host`` are watts of a host, a device's
    share, which count with it; without them only devices do.  Raises BadInput for what cannot be
    asked.
    """

    model: str
    rps: float
    isl: int
    osl: int
    limits: tuple[Limit, ...]
    share: float = 0.95
    hardware: tuple[str, ...] = HARDWARE
    formats: tuple[str, ...] = FORMATS
    modes: tuple[str, ...] = MODES
    batches: tuple[int, ...] = BATCHES
    engine: str = "vllm"
    kv: str = "bf16"
    grid: str = "world"
    budget: float = 0.0
    carbon: float = 0.0
    devices: int = 0
    burst: float = 1.0
    by: str = "usd"
    seed: int = 1
    host: float = 0.0

    def __post_init__(self):
        if not 0 < self.rps < math.inf:
            raise BadInput(f"--rps must be more than 0, and finite, not {self.rps}")
        if not 0.5 <= self.share < 1:
            raise BadInput(f"--share is a share from 0.5 to below 1, not {self.share}")
        if not 0 <= self.burst <= 20:
            raise BadInput(f"--burst must be 0 to 20, not {self.burst}")
        for name, known in (("engine", ENGINES), ("by", OBJECTIVES)):
            if getattr(self, name) not in known:
                value = getattr(self, name)
                raise BadInput(f"--{name}: no {name} {value!r}{nearest(value, known)}")
        if not set(self.batches) <= set(BATCHES):
            raise BadInput(f"batches are of {', '.join(map(str, BATCHES))}")
        if min(self.budget, self.carbon, self.devices) < 0:
            raise BadInput("--budget, --carbon-budget and --devices must not be negative")
        if not 0 <= self.host < math.inf:
            raise BadInput(f"--host-power must not be negative, and finite, not {self.host}")

    @property
    def caps(self) -> list[str]:
        """Budget and number of devices that are allowed, written out."""
        found = [f"{self.budget:,.2f} USD/h"] if self.budget else []
        found += [f"{digits(self.carbon * MONTH)} kg CO2e/month"] if self.carbon else []
        return found + (
            [f"{self.devices:,} device{'s' * (self.devices > 1)}"] if self.devices else []
        )

    @property
    def million_an_hour(self) -> float:
        """Million output tokens an hour."""
        return self.rps * self.osl * 3600 / 1e6


def hardware(pattern: str) -> tuple[str, ...]:
    """Return the devices of the default sweep, or those that fit a pattern."""
    return HARDWARE if pattern == "default" else tuple(matching("hardware", pattern))


def formats(pattern: str) -> tuple[str, ...]:
    """Return the weight formats of the default sweep, or those that fit a pattern."""
    return FORMATS if pattern == "default" else tuple(matching("formats", pattern))


def modes(text: str) -> tuple[str, ...]:
    """Return ways to serve, each once; ``both`` are all."""
    if text.strip() == "both":
        return MODES
    found = dict.fromkeys(part.strip() for part in text.split(",") if part.strip())
    for name in found:
        if name not in MODES:
            raise BadInput(f"--modes: no mode {name!r}{nearest(name, (*MODES, 'both'))}")
    return tuple(found)


def budget(text: str) -> float:
    """Return USD an hour from ``5``, ``5 USD/h`` or ``4000/month``; 0 for an empty text."""
    if not text.strip():
        return 0.0
    found = BUDGET.fullmatch(text)
    if not found or not float(found[1]):
        raise BadInput(f"--budget: {text!r} is no price; write 12 USD/h or 9000 USD/month")
    per = (found[2] or "h").lower()
    return float(found[1]) / (MONTH if per.startswith("mo") else 1.0)


def carbon(text: str, rps: float, osl: int) -> float:
    """Return kg CO2e an hour from ``500 kg/month``, ``0.7 kg/h`` or ``0.05 kg/Mtok`` put out."""
    if not text.strip():
        return 0.0
    found = CARBON.fullmatch(text)
    if not found or not float(found[1]):
        raise BadInput(
            f"--carbon-budget: {text!r} is no amount; write 500 kg/month, 0.7 kg/h or 0.05 kg/Mtok"
        )
    per = found[2].lower()
    if per == "mtok":
        return float(found[1]) * rps * osl * 3600 / 1e6
    return float(found[1]) / (MONTH if per.startswith("mo") else 1.0)
