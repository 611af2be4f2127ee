"""The constants: what physics expects of each, how far levels may differ, what was fitted.

A constant of a row is the sum of an overall value and of what its levels add:
the card, the engine's family, its generation, its version, generation and card
together, the class of the weight format, the benchmark task.  Shares live on a
logit scale and times on a log scale, so that no share passes one and no time
becomes negative.  ``spread`` is how far a level may differ before the rows must
insist: shrinkage toward the family and toward physics.
"""

import csv
import hashlib
import math
import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import sympy as sp

from .. import symbols as s
from ..errors import BadInput
from ..files import DATA
from ..records import load as record

# A reader's own constants, made by `inferecon calibrate`, stand in for those of the report.
FOLDER = Path(os.environ.get("INFERECON_CALIBRATION", DATA / "calibration"))
FITTED = FOLDER / "constants.csv"
SHARES = {
    s.eff_weights,
    s.eff_cache,
    s.eff_experts,
    s.eff_matrix,
    s.eff_attention,
    s.eff_expert_matrix,
    s.eff_link,
    s.eff_network,
    s.occupancy,
}
LEVELS = {
    "card": ["hardware_id"],
    "family": ["family"],
    "generation": ["generation"],
    "version": ["version"],
    "cell": ["hardware_id", "generation"],
    "format": ["precision"],
    "unit": ["generation", "precision"],
    "task": ["task"],
}
FEWEST = 8  # rows that a cell must have to be told apart from its card and engine


def logit(share: float) -> float:
    return math.log(share / (1 - share))


@dataclass(frozen=True)
class Prior:
    """What is expected of a constant before any row: value, spread of it, spread of levels."""

    value: float
    spread: float
    levels: dict = field(default_factory=dict)


def prior(value, spread, card=0.0, family=0.0, cell=0.0, **others) -> Prior:
    levels = {"card": card, "family": family, "cell": cell, **others}
    return Prior(value, spread, {name: wide for name, wide in levels.items() if wide})


# One constant a row: expected value in base units, its spread, spread of card, family, cell.
TIME = {
    s.eff_weights: prior(0.8, 0.2, 0.05, 0.3, 0.05, format=0.1, generation=0.05, version=0.05),
    s.eff_cache: prior(0.65, 0.25, 0.08, 0.5, 0.08, generation=0.1, version=0.06),
    s.eff_experts: prior(0.6, 0.4, 0.08, 0.5, 0.08, format=0.15, generation=0.1, version=0.1),
    s.eff_matrix: prior(0.7, 0.12, 0.08, 0.4, 0.08, format=0.15, generation=0.06, version=0.06),
    s.eff_attention: prior(0.5, 0.15, 0.08, 0.6, 0.08, generation=0.12, version=0.06),
    s.eff_expert_matrix: prior(0.4, 0.2, 0.1, 0.6, 0.1, format=0.2, generation=0.12, version=0.1),
    s.half_tokens: prior(64.0, 0.3, family=0.6),
    s.layer_gap: prior(6e-6, 0.3, 0.1, 0.7, 0.15, format=0.2, generation=0.3, version=0.12),
    s.expert_gap: prior(10e-6, 0.5, 0.1, 0.6, 0.15, generation=0.25, version=0.2),
    s.context_time: prior(0.5e-9, 1.0, 0.05, 0.6),
    s.launch_decode: prior(10e-6, 0.3, 0.1, 1.2, 0.15, generation=0.35),
    s.launch_prefill: prior(60e-6, 1.0, 0.1, 0.8, 0.15),
    s.step_gap: prior(500e-6, 0.5, 0.1, 0.8, 0.2, generation=0.3, version=0.2),
    s.sequence_gap: prior(10e-6, 0.5, 0.05, 0.8, 0.2, format=0.2, generation=0.3, version=0.2),
    s.collective_gap: prior(10e-6, 0.7, 0.15, 0.4, 0.15, generation=0.2, version=0.12),
    s.eff_link: prior(0.5, 0.5, 0.2, 0.3, 0.1),
    s.eff_network: prior(record("assumptions", "dispersal").get("eff_network"), 0.5),
    s.request_gap: prior(10e-3, 1.0, 0.1, 0.8, 0.25, generation=0.3, version=0.25),
    s.interleave: prior(1.0, 0.15, 0.05, 0.3, 0.1, generation=0.12, version=0.1, task=0.2),
    s.interleave_median: prior(0.5, 0.5, 0.05, 0.2),
    s.queue_share: prior(0.1, 1.0, 0.05, 0.5, 0.15, generation=0.3, version=0.25),
    s.occupancy: prior(0.95, 0.7, family=0.5, cell=0.25, version=0.3, task=0.7),
}
ENERGY = {
    s.idle_share: prior(0.2, 0.3, 0.2, generation=0.1),
    s.byte_energy: prior(130e-12, 0.3, 0.15, generation=0.15),
    s.cache_energy: prior(130e-12, 0.3, 0.15, generation=0.15),
    s.flop_energy: prior(0.9e-12, 0.3, 0.2, generation=0.15, format=0.3, unit=0.3),
}
GROUPS = {"time": TIME, "energy": ENERGY}


def inner(symbol: sp.Symbol, value: float) -> float:
    """Return a constant's value on the scale on which its levels add up."""
    return logit(value) if symbol in SHARES else math.log(value)


def outer(symbol: sp.Symbol, x):
    """Return the value in base units from the scale on which levels add up."""
    return 1 / (1 + np.exp(-x)) if symbol in SHARES else np.exp(x)


class Design:
    """Which parameters a row's constants are the sum of.

    ``terms`` holds one row a parameter: (constant, level, label); ``places`` gives, for
    each constant and level of it, the parameter of each row, -1 where it was never seen.
    """

    def __init__(self, priors: dict, rows: pd.DataFrame):
        self.priors, self.terms, self.centre, self.spread = priors, [], [], []
        self.index: dict[tuple, int] = {}
        for symbol, expected in priors.items():
            self._add((symbol, "all", ""), inner(symbol, expected.value), expected.spread)
            for level, wide in expected.levels.items():
                labels, counts = np.unique(label(rows, level), return_counts=True)
                for name, count in zip(labels, counts, strict=True):
                    if count >= FEWEST or level != "cell":
                        self._add((symbol, level, str(name)), 0.0, wide)

    def _add(self, term, centre, spread):
        self.index[term] = len(self.terms)
        self.terms.append(term)
        self.centre.append(centre)
        self.spread.append(spread)

    def places(self, rows: pd.DataFrame) -> list[tuple[sp.Symbol, str, np.ndarray]]:
        """Return (constant, level, parameter of each row)."""
        return places(self.index, self.priors, rows)


def label(rows: pd.DataFrame, level: str) -> np.ndarray:
    first, *others = LEVELS[level]
    found = rows[first].astype(str)
    for column in others:
        found = found + "|" + rows[column].astype(str)
    return found.to_numpy(str)


def places(index: dict, priors: dict, rows: pd.DataFrame) -> list:
    found, seen = [], {}
    for symbol, expected in priors.items():
        found.append((symbol, "all", np.full(len(rows), index.get((symbol, "all", ""), -1))))
        for level in expected.levels:
            if level not in seen:
                seen[level] = np.unique(label(rows, level), return_inverse=True)
            names, where = seen[level]
            known = np.array([index.get((symbol, level, str(name)), -1) for name in names], int)
            found.append((symbol, level, known[where] if len(names) else np.array([], int)))
    return found


def summed(found: list, beta: np.ndarray, count: int) -> dict[sp.Symbol, np.ndarray]:
    """Return each row's constants on the inner scale; a level never seen adds nothing."""
    padded = np.append(beta, 0.0)
    constants: dict[sp.Symbol, np.ndarray] = {}
    for symbol, _, place in found:
        constants[symbol] = constants.get(symbol, np.zeros(count)) + padded[place]
    return constants


def unseen(found: list, priors: dict, count: int) -> dict[sp.Symbol, np.ndarray]:
    """Return, a constant, the variance that levels without a parameter leave open."""
    open_: dict[sp.Symbol, np.ndarray] = {}
    for symbol, level, place in found:
        wide = priors[symbol].spread if level == "all" else priors[symbol].levels[level]
        if level != "cell":
            open_[symbol] = open_.get(symbol, np.zeros(count)) + np.where(place < 0, wide**2, 0.0)
    return open_


@dataclass(frozen=True)
class Fitted:
    """Parameters of one group of constants, with the standard deviation each was left with."""

    priors: dict
    index: dict
    beta: np.ndarray
    deviation: np.ndarray

    def constants(self, rows: pd.DataFrame) -> tuple[dict, dict]:
        """Return each row's constants on the inner scale, and the variance left open."""
        found = places(self.index, self.priors, rows)
        count = len(rows)
        return summed(found, self.beta, count), unseen(found, self.priors, count)


def fingerprint() -> str:
    """First digits of the SHA-256 of the constants in use, their cells and their scatter."""
    files = (FITTED, FOLDER / "cells.csv", FOLDER / "scatter.csv")
    there = [path.read_bytes() for path in files if path.is_file()]
    return hashlib.sha256(b"\0".join(there)).hexdigest()[:16]


def save(groups: dict[str, Fitted], path: Path = FITTED) -> None:
    """Write all parameters; a level that moved nothing is left out."""
    with path.open("w", newline="", encoding="utf-8") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow(["group", "constant", "level", "label", "value", "deviation"])
        for name, fit in groups.items():
            for (symbol, level, tag), place in fit.index.items():
                row = f"{fit.beta[place]:.4f}", f"{fit.deviation[place]:.4f}"
                write.writerow([name, symbol.name, level, tag, *row])


def load(path: Path = FITTED) -> dict[str, Fitted]:
    """Read the parameters back.  Raises BadInput for those of another edition, or none."""
    if not path.is_file():
        raise BadInput(f"nothing is calibrated: {path} is missing; run inferecon calibrate")
    return _loaded(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _loaded(path: Path, _written: int) -> dict[str, Fitted]:
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    names = {x.name for priors in GROUPS.values() for x in priors}
    columns = {"group", "constant", "level", "label", "value", "deviation"}
    if not lines or not columns <= lines[0].keys() or any(map(_broken, lines)):
        raise BadInput(f"{path} is no table of constants: run inferecon calibrate")
    if unknown := sorted({line["constant"] for line in lines} - names):
        raise BadInput(
            f"{path} has the constant {unknown[0]!r}, which this edition does not: "
            "run inferecon calibrate again"
        )
    groups = {}
    for name, priors in GROUPS.items():
        own = [line for line in lines if line["group"] == name]
        whole = {line["constant"] for line in own if line["level"] == "all"}
        if lacking := sorted({x.name for x in priors} - whole):
            raise BadInput(f"{path} lacks the constant {lacking[0]!r}: run inferecon calibrate")
        index = {
            (s.SYMBOLS[line["constant"]], line["level"], line["label"]): i
            for i, line in enumerate(own)
        }
        beta, deviation = (
            np.array([float(line[column]) for line in own]) for column in ("value", "deviation")
        )
        groups[name] = Fitted(priors, index, beta, deviation)
    return groups


def _broken(line: dict) -> bool:
    """Say whether a line has no finite numbers."""
    try:
        return not math.isfinite(float(line["value"]) + float(line["deviation"]))
    except (KeyError, TypeError, ValueError):
        return True
