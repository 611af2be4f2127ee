"""Rows that were held out of a fit: what constants fitted without them say, and how far off.

``row``, ``cell``, ``model``, ``card`` and ``engine`` are columns of
``data/calibration/held_out.csv``: the figure of each row from constants that were
fitted without it and without all that share this name with it.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from .. import symbols as s
from ..files import DATA
from ..records import load
from .calibrate import HELD_OUT, TRUTH, parts, scatters
from .rows import each
from .rows import read as read_rows
from .validate import kind

WAYS = {
    "row": "one row in four",
    "cell": "one combination of model and card in four",
    "model": "one model in four",
    "card": "one card in four",
    "engine": "one generation of engines in four",
}
INTERVALS = ("row", "cell")  # ways that a prediction takes its interval from
TEXT = ["id", "metric", "model_id", "hardware_id", "generation", "precision", "source"]
FROM_TRUTH = ["unit", "tier", "total", "static", "batch_or_concurrency"]


def read() -> pd.DataFrame:
    """Return every unflagged measured row with what was predicted; NaN where nothing was."""
    held = pd.read_csv(HELD_OUT, dtype=dict.fromkeys(TEXT, str), keep_default_na=False)
    for column in ("value", *WAYS):
        held[column] = pd.to_numeric(held[column], errors="coerce")
    truth = pd.concat([read_rows(DATA / "truth" / name) for name in TRUTH], ignore_index=True)
    truth = truth[(truth.flag == "") & (truth.part == "")]
    keys = truth[[*TEXT, "value", *FROM_TRUTH]]
    joined = keys.merge(held[["id", "metric", *WAYS]], on=["id", "metric"], how="left")
    return described(joined)


def described(held: pd.DataFrame) -> pd.DataFrame:
    """Add the kind of figure, and whether the model has experts."""
    return held.assign(kind=each(held.metric, kind), moe=each(held.model_id, _moe).astype(bool))


def _moe(model: str) -> bool:
    return bool(model) and bool(load("models", model).given.get(s.n_experts))


def score(held: pd.DataFrame, how: str) -> dict:
    """Errors of the rows that have a prediction: count, median, mean, 90th percentile, worst.

    ``coverage`` is the share of the rows that have one.
    """
    ape = np.abs(held[how] / held.value - 1).dropna()
    coverage = len(ape) / len(held) if len(held) else 0.0
    if ape.empty:
        return {"n": 0, "coverage": coverage}
    return {
        "n": len(ape),
        "coverage": coverage,
        "median": float(ape.median()),
        "mape": float(ape.mean()),
        "p90": float(ape.quantile(0.9)),
        "max": float(ape.max()),
    }


def apart(held: pd.DataFrame, how: str) -> pd.Series:
    """Return how far each prediction is from the measurement, either way: |ln(ratio)|."""
    return np.abs(np.log(held[how] / held.value))


def wide(held: pd.DataFrame, how: str, spreads: dict[str, dict]) -> np.ndarray:
    """Return half of each row's 90 % interval, on the logarithm of the figure."""
    names = held.kind.astype(str) + "|" + held.generation.astype(str)
    own = [spreads.get(name) or spreads.get(name.partition("|")[0]) for name in names]
    return np.array([float(found[how]) if found else np.nan for found in own])


def inside(held: pd.DataFrame, how: str, spreads: dict[str, dict]) -> float:
    """Return the share of rows whose interval holds the measurement; NaN without any."""
    gap, half = apart(held, how).to_numpy(float), wide(held, how, spreads)
    known = np.isfinite(gap) & np.isfinite(half)
    return float((gap[known] <= half[known]).mean()) if known.any() else float("nan")


def crossed(held: pd.DataFrame, how: str, say: Callable = scatters) -> float:
    """Return the share inside intervals whose width was read from other rows than these.

    An interval is as wide as held-out rows scatter, so 90 % of the same rows are inside by
    construction.  Here its width comes from three parts of the rows, and the fourth is judged.
    """
    known = held[held[how].notna()].reset_index(drop=True)
    found = np.zeros(len(known), bool)
    for out in parts(known, how):
        if out.all() or not out.any():
            continue
        spreads = {line["class"]: line for line in say(known[~out])}
        judged = known[out]
        found[out] = apart(judged, how).to_numpy(float) <= wide(judged, how, spreads)
    return float(found.mean()) if len(known) else float("nan")
