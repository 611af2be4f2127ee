"""What a combination will do on an engine: calibrated times and energy, each with its interval.

The bound of the roofline stands beside each, so that a reader sees what an engine loses.
Many workloads of one combination are predicted at once, as rows of one table.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import sympy as sp

from . import symbols as s
from .calibration import inputs as shapes
from .calibration import rows as measured
from .calibration.constants import load
from .calibration.validate import predict
from .errors import BadInput, nearest
from .law import System
from .laws import SERVICE, economics, latency
from .numbers import KNOWN, UNIT_NAMES, Interval, digits, prediction
from .predictions import BY_SYMBOL, ENGINES, IMPLIED, METRICS
from .records import ids
from .records import load as load_record
from .scenario import Scenario

# What follows from a predicted throughput and energy, by laws of the report.
FOLLOWS = System(
    [
        latency.THROUGHPUT_DEVICE,
        economics.CARBON,
        economics.COST_RATE.law("COST-FROM-THROUGHPUT", "the price over the tokens it buys"),
    ]
)


class Outlook(NamedTuple):
    """Predictions of one combination over workloads, one element each, in base units.

    ``metrics`` has the figures of measured rows with their ``bounds`` (NaN where there is
    none), ``symbols`` the quantities of the report.  ``known`` says how they are known, and
    ``reason`` why there are none, "" where there are.
    """

    metrics: dict[str, Interval]
    bounds: dict[str, np.ndarray]
    symbols: dict[sp.Symbol, Interval]
    known: np.ndarray
    reason: np.ndarray


def outlook(case: Scenario, engine: str, batches: list, isls: list) -> Outlook:
    """Predict a combination at each pair of a batch and a prompt length.

    Raises BadInput for an unknown engine or a combination that cannot run.  In a format
    whose speed nobody measured nothing is predicted, and that is the reason.
    """
    if engine not in ENGINES:
        raise BadInput(f"no engine {engine!r}{nearest(engine, ENGINES)}")
    if case.obstacles:
        raise BadInput(f"{case.name} cannot run: {case.obstacles[0]}{_vendors(case)}")
    batch, isl = np.float64(batches), np.float64(isls)
    said = None
    if case.weights in measured.WEIGHTS:
        said = predict(measured.prepared(table(case, engine, batch, isl)))
    limits = bounds(case, batch, isl)
    metrics = {}
    for place, (name, metric) in enumerate(METRICS.items()):
        at = slice(place * len(batch), (place + 1) * len(batch))
        ends = [
            np.full(len(batch), math.nan) if said is None else said[column].to_numpy(float)[at]
            for column in ("predicted", "low", "high")
        ]
        metrics[name] = bounded(Interval(*(x * metric.base for x in ends)), limits[name], name)
    if said is None:
        known = np.full(len(batch), "", object)
        reason = np.full(len(batch), f"no row with weights in {case.weights} was measured", object)
    else:
        known = said.label.to_numpy(object)[: len(batch)]
        reason = reasons(said.reason.to_numpy(object).reshape(len(METRICS), len(batch)))
    return Outlook(metrics, limits, quantities(case, metrics), known, reason)


def _vendors(case: Scenario) -> str:
    """Say which vendors have units on record, of one that has none, as a reader's own may be."""
    known = {x for id in ids("formats") for x in load_record("formats", id).about.get("peak", {})}
    known.discard("all")
    computed = all(rate.case is not None for rate in case.peaks.values())
    if computed or case.device.about["vendor"] in known:
        return ""
    return f"; data/formats names units of {', '.join(sorted(known))}"


def reasons(said: np.ndarray) -> np.ndarray:
    """Return why something is not predicted, point by point; ``said`` has a row a metric."""
    return np.array(["; ".join(dict.fromkeys(filter(None, column))) for column in said.T], object)


def bounds(case: Scenario, batch: np.ndarray, isl: np.ndarray) -> dict[str, np.ndarray]:
    """Return what the roofline says of each figure, in base units; NaN where it says nothing.

    The first token of a request is bounded by the prefill of its own prompt alone.
    """
    given = case.given()
    values = SERVICE.solve(given | {s.batch: batch, s.isl: isl})
    alone = SERVICE.solve(given | {s.batch: np.ones_like(isl), s.isl: isl})
    nothing = np.full(len(batch), math.nan)
    found = {
        name: nothing if metric.symbol is None else values[metric.symbol] * np.ones(len(batch))
        for name, metric in METRICS.items()
    }
    return found | {"ttft_ms": alone[s.ttft] * np.ones(len(batch))}


def bounded(found: Interval, limit: np.ndarray, metric: str) -> Interval:
    """Return prediction and interval, none of them beyond the bound of a time or a rate."""
    if metric.startswith("energy"):
        return found
    cut = np.maximum if metric.endswith("_ms") else np.minimum
    return Interval(*(np.where(np.isfinite(limit), cut(x, limit), x) for x in found))


def quantities(case: Scenario, metrics: dict[str, Interval]) -> dict[sp.Symbol, Interval]:
    """Return the predictions of the report's quantities, and what follows from them."""
    found = {m.symbol: metrics[name] for name, m in METRICS.items() if m.symbol is not None}
    given = case.given() | {s.n_devices: float(case.values[s.n_devices])}
    ends = {symbol: np.stack(found[symbol]) for symbol in (s.throughput, s.energy_per_token)}
    values = FOLLOWS.solve(given | ends)
    for symbol in IMPLIED:
        value, one, other = values[symbol]
        # more tokens a second, fewer dollars a token: the ends change places
        found[symbol] = Interval(value, np.minimum(one, other), np.maximum(one, other))
    return found


def described(case: Scenario, engine: str) -> dict:
    """Return what all rows of a combination have in common."""
    return {
        "model": case.model,
        "hardware": case.hardware,
        "weight_dtype": case.weights,
        "act_dtype": case.activations,
        "kv_dtype": "fp8" if float(case.values[s.kv_width]) <= 1 else "bf16",
        "n_gpus": max(case.tp, case.ep),
        "tp": case.tp,
        "ep": case.ep,
        "osl": case.osl,
        "engine": ENGINES[engine],
        "notes": "closed-loop",
    }


def table(case: Scenario, engine: str, batch: np.ndarray, isl: np.ndarray) -> pd.DataFrame:
    """Return workloads as rows of measurements whose values are to be predicted."""
    rows = {
        "metric": np.repeat(np.array(list(METRICS), object), len(batch)),
        "batch_or_concurrency": np.tile(batch, len(METRICS)),
        "isl": np.tile(isl, len(METRICS)),
    }
    return pd.DataFrame(rows | described(case, engine))


# One workload, for the command line ------------------------------------------------------------


class Forecast(NamedTuple):
    """One figure: predicted, 90 % interval, bound of the roofline (NaN if none), how known.

    ``why`` says what keeps a figure from being predicted, "" for none.
    """

    metric: str
    says: str
    unit: str
    predicted: float
    low: float
    high: float
    bound: float
    known: str
    why: str = ""


# What a figure without a law of its own rests on.
RESTS = {"decode_tok_s": s.decode_time, "avg_power_W": s.energy_served_fit}
BESIDE = {s.carbon_per_token.name: s.grid_intensity, s.cost_per_token.name: s.price}


@cache
def served(symbol: sp.Symbol) -> sp.Symbol:
    """Return the calibrated quantity that a published one is a prediction of, or follows from."""
    if symbol in BY_SYMBOL:
        return BY_SYMBOL[symbol].law.symbol
    (one,) = FOLLOWS.inputs_of(symbol) & BY_SYMBOL.keys()
    return served(one)


def lacking(case: Scenario, engine: str, name: str) -> str:
    """Say which facts no record states of those that a figure rests on."""
    own = METRICS[name].symbol if name in METRICS else s.SYMBOLS[name]
    symbol = RESTS[name] if name in RESTS else served(own)
    rows = measured.prepared(table(case, engine, np.ones(1), np.full(1, float(case.isl))))
    values = shapes.inputs(rows).values
    fitted = {x for group in load().values() for x in group.constants(rows)[0]}
    needed = shapes.CALIBRATED.inputs_of(symbol) & values.keys() - fitted
    gone = sorted(x.name for x in needed if not np.isfinite(values[x]).all())
    said = [f"hardware/{case.hardware}.yaml states no {', '.join(gone)}"] if gone else []
    if BESIDE.get(name) is s.price and case.offer is None:
        said.append(f"no on-demand price of {case.hardware} is on record")
    elif name in BESIDE and math.isnan(case.given().get(BESIDE[name], math.nan)):
        said.append(f"no {BESIDE[name].name} is on record")
    return " and ".join(said)


def forecast(case: Scenario, engine: str) -> list[Forecast]:
    """Return what the constants of an engine give for a scenario.

    Raises BadInput for an unknown engine, a combination that cannot run, or a format whose
    speed nobody measured.
    """
    found = outlook(case, engine, [case.batch], [case.isl])
    if case.weights not in measured.WEIGHTS:
        raise BadInput(f"{found.reason[0]}; measured: {', '.join(measurable())}")
    known = str(found.known[0])
    lines = []
    for name, metric in METRICS.items():
        figures = (*found.metrics[name], found.bounds[name])
        figures = (float(x[0]) / metric.base for x in figures)
        one = Forecast(name, metric.says, metric.unit, *figures, known)
        lines.append(explained(case, engine, one))
    for symbol, says in IMPLIED.items():
        one = prediction(symbol, Interval(*(x[0] for x in found.symbols[symbol])), known)
        bound = prediction(symbol, Interval(*[float(case.values[symbol])] * 3), known).value
        ends = (math.nan if x is None else x for x in (one.value, one.low, one.high, bound))
        unit = UNIT_NAMES.get(one.unit, one.unit)
        one = Forecast(symbol.name, says, unit, *ends, known)
        lines.append(explained(case, engine, one))
    return lines


def explained(case: Scenario, engine: str, one: Forecast) -> Forecast:
    return one._replace(why=lacking(case, engine, one.metric)) if math.isnan(one.predicted) else one


def measurable() -> list[str]:
    """Return the ids of the formats of weights whose speed somebody measured."""
    return [x for x in ids("formats") if x in measured.WEIGHTS]


def as_text(case: Scenario, engine: str, found: list[Forecast]) -> str:
    """Return a table for the terminal."""
    devices = max(case.tp, case.ep)
    head = (
        f"{case.name} on {devices} device{'s' if devices > 1 else ''}, {ENGINES[engine]}, "
        f"batch {case.batch}, {case.isl} tokens in, {case.osl} out"
    )
    lines = [head, "", f"{'':<52}{'predicted':>10}{'90 % interval':>20}{'bound':>10}"]
    for one in found:
        if math.isnan(one.predicted):
            lines.append(f"{one.says:<52}{'missing':>10}")
            continue
        between = f"{digits(one.low)} – {digits(one.high)}"
        bound = "–" if math.isnan(one.bound) else digits(one.bound)
        lines.append(
            f"{one.says:<52}{digits(one.predicted):>10}{between:>20}{bound:>10} {one.unit}"
        )
    known = found[0].known
    lines += ["", f"{known}: {KNOWN[known].says}; a bound is derived"]
    lines += [f"missing: {why}" for why in dict.fromkeys(x.why for x in found if x.why)]
    if not any(math.isnan(x.predicted) for x in found if x.metric in ("tpot_ms", "avg_power_W")):
        lines.append(
            "energy a token is power times the time per output token over the batch; between two "
            "requests a place of the batch is empty, which the throughput of a full batch has in it"
        )
    return "\n".join(lines)
