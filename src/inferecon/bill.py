"""What a number of tokens takes: device hours, kilowatt-hours, kilograms of CO2e and dollars.

Tokens are output tokens, the prefill of their prompts included.  The derived figures are the
laws at datasheet peak rates; beside them stands what an engine is predicted to take.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from . import configs, records
from . import symbols as s
from .errors import BadInput
from .forecast import outlook
from .numbers import KNOWN, Interval, digits
from .predictions import ENGINES, HOSTS
from .scenario import Scenario

HOUR, KWH, KG = 3600.0, 3.6e6, 1e3
MOST = 1e18  # tokens; the world does not make so many


class Line(NamedTuple):
    """One figure: derived, predicted, the ends of its 90 % interval; None where there is none."""

    says: str
    unit: str
    derived: float | None
    predicted: float | None
    low: float | None
    high: float | None


class Bill(NamedTuple):
    """All figures for a number of output tokens, how predictions are known, and remarks."""

    case: Scenario
    tokens: float
    engine: str
    lines: list[Line]
    known: str
    remarks: list[str]


@contextmanager
def own_model(config: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the id under which the model of a config.json can be asked for, its format, and why.

    Raises BadInput if the file is no config.json that a rule covers.
    """
    text = config.read_text(encoding="utf-8", errors="replace")
    id = f"own-{sha256(text.encode()).hexdigest()[:8]}"  # what is kept of it is of this file alone
    try:
        record, (format, says) = configs.record(text, id), configs.weights(configs.loads(text))
    except BadInput as error:
        raise BadInput(f"{config}: {error}") from None
    with TemporaryDirectory(prefix="inferecon-") as folder:
        models = Path(folder) / "models"
        models.mkdir()
        (models / f"{id}.yaml").write_text(record, encoding="utf-8")
        with records.also(Path(folder)):
            yield id, format, says


def bill(case: Scenario, tokens: float, engine: str = "vllm") -> Bill:
    """Return what ``tokens`` output tokens take.

    Raises BadInput for a number of tokens that is none, an unknown engine, or a combination
    that cannot run.
    """
    if not (math.isfinite(tokens) and 1 <= tokens <= MOST):
        raise BadInput(f"--tokens must be from 1 to {MOST:.0e}, not {tokens:g}")
    found = outlook(case, engine, [case.batch], [case.isl])
    values, remarks = case.values, []
    energy, carbon = s.energy_per_token, s.carbon_per_token
    if math.isnan(float(values[energy])):
        energy, carbon = s.energy_at_limit, s.carbon_at_limit
        remarks.append(
            f"no energy constants were measured for {case.hardware}: derived energy is that of "
            "all devices at their power limit"
        )
    if math.isnan(float(values[s.cost_per_token])):
        remarks.append(f"no price of {case.hardware} is on record: state one with --price")
    if found.reason[0]:
        remarks.append(f"not predicted: {found.reason[0]}")
    pue = float(values[s.pue])
    rate, joule, gram, usd = (
        Interval(*(float(end[0]) for end in found.symbols[symbol]))
        for symbol in (
            s.throughput_device,
            s.energy_per_token,
            s.carbon_per_token,
            s.cost_per_token,
        )
    )
    # more tokens a second, less time for each: the ends change places
    time = Interval(*(1 / x if x else math.nan for x in (rate.value, rate.high, rate.low)))
    rows = [
        ("device time", "h", HOUR, values[s.device_time], time),
        ("energy of the devices", "kWh", KWH, values[energy], joule),
        ("energy of the facility", "kWh", KWH, values[energy] * pue, [x * pue for x in joule]),
        ("operational emissions", "kg CO2e", KG, values[carbon], gram),
        ("price", "USD", 1.0, values[s.cost_per_token], usd),
    ]
    lines = [
        Line(says, unit, *(_known(float(x) * tokens / base) for x in (derived, *ends)))
        for says, unit, base, derived, ends in rows
    ]
    return Bill(case, tokens, engine, lines, str(found.known[0]), remarks)


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def as_data(found: Bill) -> dict:
    """Return a bill as JSON has it."""
    case = found.case
    return {
        "tokens": found.tokens,
        "model": case.model,
        "hardware": case.hardware,
        "devices": max(case.tp, case.ep),
        **{name: getattr(case, name) for name in ("weights", "activations", "kv", "tp", "ep")},
        **{name: getattr(case, name) for name in ("batch", "isl", "osl", "grid")},
        "price": _priced(case),
        "pue": float(case.values[s.pue]),
        "grid_kg_per_kwh": float(case.values[s.grid_intensity]) * KWH / KG,
        "engine": found.engine,
        "known": found.known or None,
        "figures": [line._asdict() for line in found.lines],
        "remarks": found.remarks,
    }


def as_text(found: Bill) -> str:
    """Return a bill for the terminal: what was asked, the figures, what they rest on."""
    case = found.case
    devices = max(case.tp, case.ep)
    names = f"{case.model}, {case.weights} weights, {devices} × {case.hardware}"
    head = [
        f"{found.tokens:,.0f} output tokens of {names}",
        f"batch {case.batch}, {case.isl:,} tokens in and {case.osl:,} out a request",
        "",
        f"{'':<24}{'derived':>10}{'predicted':>12}{'90 % interval':>20}",
    ]
    rows = []
    for line in found.lines:
        derived = "–" if line.derived is None else digits(line.derived)
        predicted, between = "–", "–"
        if line.predicted is not None:
            predicted, between = digits(line.predicted), f"{digits(line.low)} – {digits(line.high)}"
        rows.append(f"{line.says:<24}{derived:>10}{predicted:>12}{between:>20} {line.unit}")
    intensity = float(case.values[s.grid_intensity]) * KWH / KG
    rests = [
        "",
        "derived: the laws at datasheet peak rates; predicted: on "
        f"{ENGINES[found.engine]}" + (f", {KNOWN[found.known].says}" if found.known else ""),
        f"price: {_priced(case)}; PUE {digits(float(case.values[s.pue]))}; grid {case.grid}, "
        f"{digits(intensity)} kg CO2e/kWh",
        HOSTS,
        *found.remarks,
    ]
    return "\n".join([*head, *rows, *rests])


def _priced(case: Scenario) -> str:
    """Say which price was used."""
    if case.usd_per_hour is not None:
        return f"{case.usd_per_hour:g} USD an hour and device, as stated"
    if case.offer is None:
        return "none on record"
    return (
        f"{digits(case.offer.usd_per_second * HOUR)} USD an hour and device, {case.offer.provider}"
    )
