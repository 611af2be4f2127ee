"""A Number: a value with a name, a unit a reader knows, and the digits worth showing.

Values inside the laws are in base units; here stands, once, in which unit each
symbol is shown and published.
"""

import math
from functools import cache
from typing import NamedTuple

import sympy as sp

from . import symbols as s
from .units import ureg

SHOWN = {
    s.params_attention: "Gelem",
    s.params_dense: "Gelem",
    s.params_experts: "Gelem",
    s.params_router: "Gelem",
    s.params_embedding: "Gelem",
    s.params_head: "Gelem",
    s.params_vectors: "Gelem",
    s.params_total: "Gelem",
    s.params_active: "Gelem",
    s.params_mtp: "Gelem",
    s.params_vision: "Gelem",
    s.format_width: "bit/elem",
    s.effective_bits: "bit/elem",
    s.weight_bytes: "GB",
    s.weight_bytes_device: "GB",
    s.kv_bytes_per_token: "kB/token",
    s.kv_bytes: "MB",
    s.kv_overstatement: "",
    s.n_devices: "",
    s.memory_needed: "GB",
    s.memory_available: "GB",
    s.largest_batch: "",
    s.context: "token",
    s.experts_decode: "",
    s.flop_decode: "GFLOP/token",
    s.flop_prefill: "GFLOP/token",
    s.intensity: "FLOP/B",
    s.ridge_intensity: "FLOP/B",
    s.ridge_batch: "",
    s.t_math_decode: "ms",
    s.t_memory_decode: "ms",
    s.t_comm_decode: "ms",
    s.ttft: "ms",
    s.itl: "ms",
    s.interactivity: "token/s",
    s.throughput: "token/s",
    s.throughput_device: "token/s",
    s.device_time: "s/Mtoken",
    s.energy_per_token: "kWh/Mtoken",
    s.energy_at_limit: "kWh/Mtoken",
    s.energy_per_input: "kWh/Mtoken",
    s.energy_per_step_token: "kWh/Mtoken",
    s.energy_per_any: "kWh/Mtoken",
    s.carbon_per_token: "kgCO2e/Mtoken",
    s.carbon_at_limit: "kgCO2e/Mtoken",
    s.cost_per_token: "USD/Mtoken",
    s.cost_per_input_token: "USD/Mtoken",
    s.cost_per_step_token: "USD/Mtoken",
}
# Published for every model, for a combination whether it runs or not, and only if it runs.
COUNTS = (
    s.params_attention,
    s.params_dense,
    s.params_experts,
    s.params_router,
    s.params_embedding,
    s.params_head,
    s.params_vectors,
    s.params_total,
    s.params_active,
    s.params_mtp,
    s.params_vision,
)
STRUCTURE = (
    s.params_total,
    s.params_active,
    s.effective_bits,
    s.weight_bytes,
    s.weight_bytes_device,
    s.kv_bytes_per_token,
    s.kv_overstatement,
    s.n_devices,
    s.memory_needed,
    s.memory_available,
    s.largest_batch,
    s.flop_decode,
    s.flop_prefill,
)
SERVICE = (
    s.intensity,
    s.ridge_intensity,
    s.experts_decode,
    s.t_math_decode,
    s.t_memory_decode,
    s.t_comm_decode,
    s.ttft,
    s.itl,
    s.interactivity,
    s.throughput_device,
    s.device_time,
    s.energy_per_token,
    s.energy_at_limit,
    s.carbon_per_token,
    s.carbon_at_limit,
    s.cost_per_token,
    s.cost_per_input_token,
)
# Published once more at the largest batch that fits, under the id with @full.
FULL = (
    s.itl,
    s.interactivity,
    s.throughput_device,
    s.device_time,
    s.energy_per_token,
    s.energy_at_limit,
    s.carbon_per_token,
    s.carbon_at_limit,
    s.cost_per_token,
)
GRID = (
    s.context,
    s.memory_needed,
    s.kv_bytes,
    s.flop_decode,
    *SERVICE,
)
# Predicted for an engine, of a combination that runs: the case itself, and each grid point.
PREDICTED = (
    s.ttft,
    s.itl,
    s.throughput,
    s.throughput_device,
    s.energy_per_token,
    s.carbon_per_token,
    s.cost_per_token,
)
PREDICTED_GRID = (s.ttft, s.itl, s.throughput, s.energy_per_token, s.cost_per_token)
PUBLISHED = "inferecon"  # key of the output metadata that carries published numbers
DIGITS = 10  # last bits differ between processors; published values carry this many digits
UNIT_NAMES = {
    "Gelem": "billion",
    "bit/elem": "bit",
    "kB/token": "kB/token",
    "token": "tokens",
    "token/s": "tok/s",
    "GFLOP/token": "GFLOP/token",
    "s/Mtoken": "s/Mtok",
    "kWh/Mtoken": "kWh/Mtok",
    "kgCO2e/Mtoken": "kg CO2e/Mtok",
    "USD/Mtoken": "USD/Mtok",
}


class Interval(NamedTuple):
    """A prediction and the ends of its 90 % interval, in base units; floats or arrays."""

    value: float
    low: float
    high: float


class Number(NamedTuple):
    """A value in ``unit``; NaN or None is a missing fact and shown as a dash.

    ``low`` and ``high`` bound a 90 % interval and ``known`` says what the prediction rests
    on, a word of ``KNOWN``; a number derived from records and laws has none of the three.
    """

    value: float | None
    unit: str
    low: float | None = None
    high: float | None = None
    known: str = ""

    @property
    def missing(self) -> bool:
        return self.value is None or math.isnan(self.value)

    @property
    def text(self) -> str:
        """Three digits and the unit, as on the page, with mark and interval of a prediction."""
        if not self.known:
            return self.shown
        return f"{self.shown} {KNOWN[self.known].mark} ({digits(self.low)}–{digits(self.high)})"

    @property
    def shown(self) -> str:
        """Value and unit alone."""
        name = "" if self.missing else UNIT_NAMES.get(self.unit, self.unit)
        return f"{digits(self.value)} {name}".strip()

    @property
    def said(self) -> str:
        """The same in words, for a citation."""
        if not self.known:
            return "missing" if self.missing else self.shown
        interval = f"90 % interval {digits(self.low)} to {self._replace(value=self.high).shown}"
        return f"{self.shown}, {interval}, {self.known}"


class Known(NamedTuple):
    """How a prediction is known: the mark behind it, and what it means."""

    mark: str
    says: str


KNOWN = {
    "calibrated": Known("≈", "this model, card, engine and number format were measured together"),
    "extrapolated": Known(
        "~",
        "model, card, engine and number format were not measured together; "
        "constants come from each apart",
    ),
}


def number(symbol: sp.Symbol, value: float) -> Number:
    """Return a base-unit value as it is published."""
    return Number(_published(symbol, value), SHOWN[symbol])


def prediction(symbol: sp.Symbol, found: Interval, known: str) -> Number:
    """Return a base-unit prediction as it is published; one without a value has no interval."""
    value, low, high = (_published(symbol, float(x)) for x in found)
    if not (math.isfinite(low) and math.isfinite(value) and math.isfinite(high)):
        return Number(math.nan, SHOWN[symbol])
    return Number(value, SHOWN[symbol], low, high, known)


def _published(symbol: sp.Symbol, value: float) -> float:
    return rounded(float(value) * _factor(symbol))


@cache
def _factor(symbol: sp.Symbol) -> float:
    """Shown units in one base unit."""
    return ureg.Quantity(1.0, s.GLOSSARY[symbol].unit).to(SHOWN[symbol]).m


def rounded(value: float) -> float:
    """Round to the digits that are the same on every processor."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else value


def digits(value: float | None, significant: int = 3) -> str:
    """Write a value with three significant digits and no exponent."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    if float(value).is_integer() and abs(value) < 10**significant:
        return f"{value:,.0f}".replace("-", "−")
    places = significant - 1 - math.floor(math.log10(abs(value)))
    text = f"{round(value, places):,.{max(places, 0)}f}"
    return text.replace("-", "−")
