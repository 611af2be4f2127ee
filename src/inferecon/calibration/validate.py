"""Predict every row of a table, with an interval, and say how far off the predictions are.

The interval is the spread of rows that were held out of a fit, for the same
kind of figure and engine: ``data/calibration/scatter.csv``.  It widens by what
is expected of each card, engine or format that no row was fitted on.
"""

import csv
import math
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from .. import symbols as s
from ..errors import BadInput
from ..records import load as record
from . import arrivals, structural
from .constants import FITTED, FOLDER, GROUPS, load
from .fit import sensitivities
from .inputs import Inputs, fitting, inputs, timed_layers
from .predict import ENERGIES, FIRST_MS, RATES, TIME_METRICS, energies, times
from .rows import LAYERS, WEIGHTS, each, read

SCATTER = FOLDER / "scatter.csv"
CELLS = FOLDER / "cells.csv"
HELD = ("row", "cell", "card", "engine")  # how rows were held out
NOBODY = {"row": 0.5, "cell": 0.7, "card": 0.7, "engine": 1.0}  # if nothing was ever judged
NAMED = ("model", "hardware", "engine", "format")  # of a cell
COLUMNS = ["id", "metric", "value", "predicted", "low", "high", "ape", "covered", "reason"]
NINETY = 1.645  # standard deviations that hold 90 % of a normal spread
MOST = 1e8  # tokens, sequences or devices: no run comes near
ROOM = 1.5  # sources mix up cards and their halves: by less than this, a run may be possible
MEMORY_SHARE = 0.9  # of a card that laws leave to weights and cache
FEWEST = 30  # held-out rows from which a spread of its own is read
WITHOUT_BATCH = tuple(
    name for name in RATES if name != "decode_tok_s"
)  # a rate without a batch means: as many as memory holds


def kind(metric: str) -> str:
    """What a metric is about: the class whose held-out spread it shares."""
    if metric in FIRST_MS:
        return "prefill"
    if metric in ENERGIES:
        return "energy"
    if metric in RATES:
        return "rate"
    return "whole" if metric == "e2e_latency_s" else "decode"


def reasons(rows: pd.DataFrame, found: Inputs) -> np.ndarray:
    """Say for each row why nothing can be predicted; "" where something can."""
    metric = rows.metric.to_numpy(str)
    known = np.isin(metric, (*TIME_METRICS, *ENERGIES))
    unsaid = ~found.said_batch & ~np.isin(metric, WITHOUT_BATCH)
    odd = impossible(rows)
    rate = rows.notes.str.contains("open-loop").to_numpy() & ~found.said_batch
    with np.errstate(all="ignore"):
        capacity = found.values[s.memory_available] / MEMORY_SHARE
        heavy = found.values[s.weight_bytes_device] > ROOM * capacity
    conditions = [
        (np.isin(metric, structural.METRICS), ""),
        ((rows.metric == "").to_numpy(), "no metric stated"),
        (~known, each(rows.metric, "no law predicts {}".format)),
        ((rows.model == "").to_numpy(), "no model stated"),
        ((rows.model_id == "").to_numpy(), each(rows.model, "no record of the model {!r}".format)),
        ((rows.hardware == "").to_numpy(), "no hardware stated"),
        (
            (rows.hardware_id == "").to_numpy(),
            each(rows.hardware, "no record of the hardware {!r}".format),
        ),
        (
            each(rows.weight_dtype, lambda name: bool(name) and name.lower() not in WEIGHTS).astype(
                bool
            ),
            each(rows.weight_dtype, "no rate is known for weights in {!r}".format),
        ),
        (odd, "batch, lengths or devices are impossible"),
        ((rows.unread != "").to_numpy(), rows.unread.to_numpy(object)),
        (rate, "requests arrive by themselves, at no finite rate, and no batch is stated"),
        (unsaid, "no batch or concurrency stated"),
        (
            each(rows.part, lambda part: bool(part) and not LAYERS.search(part)).astype(bool),
            "a part of a model was timed",
        ),
        (~found.known, "a record lacks a fact that the laws need"),
        (heavy, "its weights do not fit into memory"),
    ]
    texts = [np.broadcast_to(text, len(rows)).astype(object) for _, text in conditions]
    return np.select([where for where, _ in conditions], texts, "")


def impossible(rows: pd.DataFrame) -> np.ndarray:
    """Say of each row whether it states a number that no run can have."""
    wrong = np.zeros(len(rows), bool)
    for column in ("batch_or_concurrency", "isl", "n_gpus", "tp", "pp", "ep"):
        value = rows[column].to_numpy(float)
        wrong |= (value < 1) | (value > MOST)
    wrong |= (rows.osl < 0).to_numpy() | (rows.osl > MOST).to_numpy()
    wrong |= ((rows.osl > 0) & (rows.osl < 1)).to_numpy()
    wrong |= (rows.context < 0).to_numpy() | (rows.context > MOST).to_numpy()
    given = (rows.n_gpus * 1.0).to_numpy(float)
    wrong |= rows.tp.to_numpy(float) * rows.stages.to_numpy(float) > given
    part = each(rows.part, timed_layers).astype(float)
    layers = np.array([known_layers(id) for id in rows.model_id])
    return wrong | (part < 1) | (part > layers)


@cache
def known_layers(model: str) -> float:
    return float(record("models", model).given[s.n_layers]) if model else math.nan


def predict(rows: pd.DataFrame) -> pd.DataFrame:
    """Return predicted, low, high and reason of each row, and the bound and label it has."""
    groups = load()
    with np.errstate(all="ignore"):  # impossible rows are refused, with their reason
        rows = arrivals.joined(rows, groups["time"])
        found = inputs(rows)
    reason = reasons(rows, found)
    reason[(reason == "") & rows.overloaded.to_numpy(bool)] = arrivals.OVERLOADED
    with np.errstate(all="ignore"):
        most = fitting(rows, found.values, found.isl, found.osl)
    reason[(reason == "") & (most < 1 / ROOM)] = "not one sequence of this length fits into memory"
    predicted, low, high = (np.full(len(rows), np.nan) for _ in range(3))
    metric = rows.metric.to_numpy(str)
    for name, model in (("time", times), ("energy", energies)):
        wanted = ENERGIES if name == "energy" else TIME_METRICS
        where = np.flatnonzero((reason == "") & np.isin(metric, wanted))
        if not len(where):
            continue
        some, its = rows.iloc[where].reset_index(drop=True), found.take(where)
        constants, open_ = groups[name].constants(some)
        if name == "energy":
            constants = groups["time"].constants(some)[0] | constants
        figure = model(some, its, constants)
        if name == "time":
            figure = arrivals.decided(some, constants, figure)
        uncertain = {x: expected for x, expected in GROUPS[name].items() if open_[x].any()}
        slope = sensitivities(uncertain, some, its, model, constants, np.log(figure))
        wide = spread(some, slope, open_)
        predicted[where] = figure
        low[where], high[where] = figure * np.exp(-wide), figure * np.exp(wide)
    for place in np.flatnonzero(np.isin(metric, structural.METRICS)):
        predicted[place] = low[place] = high[place] = structural.figure(rows.iloc[place])
    good = np.isfinite(predicted) & np.isfinite(low) & np.isfinite(high) & (predicted > 0)
    lacking = (reason == "") & ~good
    reason[lacking] = np.where(
        np.isin(metric[lacking], structural.METRICS),
        "no record states it",
        "a record lacks a fact that the laws need",
    )
    covered = reason == ""
    said = pd.DataFrame({"predicted": predicted, "low": low, "high": high, "reason": reason})
    said.loc[~covered, ["predicted", "low", "high"]] = np.nan
    return said.assign(covered=covered, bound=bounds(found), label=labels(rows, metric))


def spread(rows: pd.DataFrame, slope: dict, open_: dict) -> np.ndarray:
    """Return half the width of the 90 % interval, on the logarithm of the figure."""
    unknown = sum(slope[symbol] ** 2 * open_[symbol] for symbol in slope)
    seen = trained(rows)
    wide = np.empty(len(rows))
    which = zip(rows.metric, rows.hardware_id, rows.generation, seen, strict=True)
    for place, (metric, card, engine, known) in enumerate(which):
        wide[place] = half(kind(metric), card, engine, known)
    return np.sqrt(wide**2 + NINETY**2 * unknown)


@cache
def half(what: str, card: str, engine: str, known: bool) -> float:
    """Return half a 90 % interval, logarithm, of a kind of figure.

    It is the spread of rows held out as the row is new: by itself, or with its whole cell, its
    whole card, its whole generation of engines.
    """
    held = scatter()
    all_ = held.get(what, NOBODY)
    own = held.get(f"{what}|{engine}", all_)
    if known:
        return own["row"]
    cards, engines = ({cell[i] for cell in cells()} for i in (1, 2))
    strange = [all_["card"]] * (card not in cards)
    strange += [all_["engine"]] * (engine not in engines or engine == "other")
    return max([own["cell"], *strange])


def trained(rows: pd.DataFrame) -> np.ndarray:
    """Say of each row whether its model, card, engine and format were together in the fit."""
    known = cells()
    its = zip(rows.model_id, rows.hardware_id, rows.generation, rows.precision, strict=True)
    settled = rows.rate.isna().to_numpy()  # no row of an arrival rate is in a fit
    return np.array([cell in known for cell in its], bool) & settled


def labels(rows: pd.DataFrame, metric: np.ndarray) -> np.ndarray:
    """How a figure is known: counted, calibrated on its like, or extrapolated."""
    fitted = np.where(trained(rows), "calibrated", "extrapolated")
    return np.where(np.isin(metric, structural.METRICS), "derived", fitted)


def bounds(found: Inputs) -> np.ndarray:
    """Which bound of the roofline wins a decode step of the row."""
    times_ = [found.values[x] for x in (s.t_memory_decode, s.t_math_decode, s.t_comm_decode)]
    stack = np.nan_to_num(np.stack(times_), nan=-1.0)
    names = np.array(["memory", "arithmetic", "communication"])[stack.argmax(axis=0)]
    return np.where(stack.max(axis=0) > 0, names, "unknown")


@cache
def scatter() -> dict[str, dict]:
    """Held-out spread by kind and engine: half a 90 % interval, logarithm of the figure.

    Raises BadInput for a table of another edition.
    """
    if not SCATTER.is_file():
        return {}
    with SCATTER.open(newline="", encoding="utf-8") as file:
        lines = csv.DictReader(file)
        if not {"class", *HELD} <= set(lines.fieldnames or ()):
            raise BadInput(f"{SCATTER} is of another edition: run inferecon calibrate again")
        return {line["class"]: {how: float(line[how]) for how in HELD} for line in lines}


@cache
def cells() -> set[tuple[str, ...]]:
    """What was fitted together: model, card, generation of the engine, class of the format.

    Raises BadInput for a table of another edition.
    """
    if not CELLS.is_file():
        return set()
    with CELLS.open(newline="", encoding="utf-8") as file:
        table = csv.DictReader(file)
        if table.fieldnames != list(NAMED):
            raise BadInput(f"{CELLS} is of another edition: run inferecon calibrate again")
        return {tuple(line[name] for name in NAMED) for line in table}


def validated(path: Path) -> pd.DataFrame:
    """Return the rows of a file with what was predicted, one for one and in their order."""
    if not FITTED.is_file():
        raise BadInput("nothing is calibrated yet: run `inferecon calibrate`")
    rows = read(path)
    if rows.empty:
        raise BadInput(f"{Path(path).name} has no rows")
    said = predict(rows)
    value = rows.value.to_numpy(float)
    scored = said.covered.to_numpy() & (value > 0)
    ape = np.full(len(rows), np.nan)
    ape[scored] = np.abs(said.predicted.to_numpy()[scored] / value[scored] - 1)
    added = ["generation", "family", "hardware", "precision", "static", "flag", "notes", "engine"]
    whole = pd.concat([rows[["id", "metric", "value", *added]], said], axis=1).assign(ape=ape)
    return whole.assign(phase=each(rows.metric, kind))


def score(rows: pd.DataFrame) -> dict:
    """Errors of the rows that have one: count, median, mean, bias, 90th percentile, interval."""
    error = rows.ape.dropna()
    judged = rows.loc[error.index]
    if error.empty:
        return {"n": 0}
    inside = (judged.value >= judged.low * (1 - 1e-9)) & (judged.value <= judged.high * (1 + 1e-9))
    ratio = judged.predicted / judged.value
    return {
        "n": int(len(error)),
        "median": float(error.median()),
        "mape": float(error.mean()),
        "bias": float(np.exp(np.log(ratio).median()) - 1) if (ratio > 0).all() else math.nan,
        "p90": float(error.quantile(0.9)),
        "inside": float(inside.mean()),
    }


BY = {
    "metric": "metric",
    "hardware": "hardware",
    "engine": "generation",
    "precision": "precision",
    "phase": "phase",
    "regime": "bound",
}


def summary(rows: pd.DataFrame) -> dict:
    """Coverage and errors, over all and by each way to group; reasons with their counts."""
    groups = {
        name: {str(key): score(part) for key, part in rows.groupby(column) if score(part)["n"]}
        for name, column in BY.items()
    }
    lacking = rows.loc[~rows.covered, "reason"].value_counts()
    return {
        "rows": int(len(rows)),
        "covered": int(rows.covered.sum()),
        "all": score(rows),
        "without a flag": score(rows[rows.flag == ""]),
        "by": groups,
        "reasons": {str(reason): int(n) for reason, n in lacking.items()},
    }
