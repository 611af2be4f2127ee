"""What a prediction rests on: calibrated laws and their values, constants, measured rows.

``basis`` opens one combination as an engine runs it: the values that the calibrated laws were
solved with, each fitted constant with the levels that make it up, and how many rows of the fit
are of the same model, card, engine and format.
"""

import csv
from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np
import sympy as sp

from . import symbols as s
from .calibration import constants as c
from .calibration import rows as measured
from .calibration.fit import STEP
from .calibration.inputs import CALIBRATED, inputs
from .calibration.predict import ENERGIES, solve
from .files import DATA
from .forecast import FOLLOWS, served, table
from .laws import SERVICE
from .predictions import BY_SYMBOL, IMPLIED
from .scenario import Scenario

HELD_OUT = DATA / "calibration" / "held_out.csv"
NAMED = 3  # sources of measured rows that are named; of more the number is
# What an engine does otherwise than a scenario says, and why; see calibration/inputs.py.
CHOSEN = {
    s.prefilled: "one prompt for each group of devices",
    s.link_bandwidth: "one device sends nothing: any bandwidth will do",
    s.scale_out_bandwidth: "one device sends nothing: any bandwidth will do",
    s.scale_up_size: "no record limits the devices of a domain",
}


class Constant(NamedTuple):
    """A fitted constant in base units; ``fitted`` names the levels that make it up."""

    symbol: sp.Symbol
    value: float
    fitted: tuple[str, ...]
    unseen: tuple[str, ...]

    @property
    def levels(self) -> str:
        """Say which rows it was fitted to, and of what there was none."""
        said = " + ".join(("all rows", *self.fitted))
        return said + (f"; no row of {', '.join(self.unseen)}" if self.unseen else "")


class Rows(NamedTuple):
    """How many rows of the fit are like a prediction, from the most alike to the least."""

    cell: int
    card_and_engine: int
    card: int
    engine: int
    sources: tuple[str, ...]

    @property
    def said(self) -> str:
        alike = "this model, card, engine and format"
        counts = [
            f"{self.cell:,} of {alike}" if self.cell else f"none of {alike}",
            f"{self.card_and_engine:,} of this card and engine",
            f"{self.card:,} of this card",
            f"{self.engine:,} of this engine",
        ]
        said = "; ".join(counts)
        if not self.sources:
            return said
        named = ", ".join(self.sources[:NAMED])
        more = len(self.sources) - NAMED
        of = "the first" if self.cell else "those of card and engine"
        if not self.cell and not self.card_and_engine:
            of = "those of the card" if self.card else "those of the engine"
        return f"{said}; {of} from {named}" + (f" and {more} more" if more > 0 else "")


class Basis(NamedTuple):
    """Values in base units of all symbols of the calibrated laws, and the fitted constants."""

    case: Scenario
    values: dict[sp.Symbol, float]
    constants: dict[sp.Symbol, Constant]
    moved: dict[sp.Symbol, frozenset[sp.Symbol]]  # by which constants each quantity is moved
    rows: dict[str, Rows]  # "time" and "energy"

    def constants_of(self, symbol: sp.Symbol) -> list[Constant]:
        """Return the constants that a published quantity rests on, in the order of their names."""
        return [self.constants[x] for x in sorted(self.moved[served(symbol)], key=str)]

    def records_of(self, symbol: sp.Symbol) -> frozenset[sp.Symbol]:
        """Return the inputs of a scenario that a predicted quantity rests on."""
        open_: set[sp.Symbol] = set(CALIBRATED.inputs_of(served(symbol))) - self.constants.keys()
        if symbol in IMPLIED:
            open_ |= FOLLOWS.inputs_of(symbol) - BY_SYMBOL.keys()
        found: set[sp.Symbol] = set()
        for one in open_:
            found |= SERVICE.inputs_of(one) if one in SERVICE.laws else {one}
        return frozenset(found)

    def rows_of(self, symbol: sp.Symbol) -> Rows:
        energy = served(symbol) == s.energy_served_token
        return self.rows["energy" if energy else "time"]

    @property
    def waits(self) -> str:
        """Say how many requests run together if memory does not hold all; else nothing."""
        held = self.values[s.batch]
        if held >= self.case.batch:
            return ""
        return f"memory holds {held:,.0f} of {self.case.batch:,} requests at once; the others wait"

    def otherwise(self, symbol: sp.Symbol) -> str:
        """Say why the value is not that of the scenario; "" where it is."""
        here, there = self.values[symbol], float(self.case.values.get(symbol, np.nan))
        if abs(here - there) <= 1e-9 * abs(here):
            return ""
        if symbol in CHOSEN:
            return CHOSEN[symbol]
        if self.waits:
            return self.waits
        return f"measured rows call the {self.case.weights} of this model what it is published in"


@cache
def basis(case: Scenario, engine: str) -> Basis | None:
    """Return what a prediction of a scenario rests on; None where nothing can be predicted."""
    if case.weights not in measured.WEIGHTS:
        return None
    asked = table(case, engine, np.array([float(case.batch)]), np.array([float(case.isl)]))
    row = measured.prepared(asked.iloc[:1].reset_index(drop=True))
    found = inputs(row)
    if not found.known.all():
        return None
    groups = c.load()
    inner = {x: v for fit in groups.values() for x, v in fit.constants(row)[0].items()}
    # all at once: first as it is, then with one constant after another moved
    step = np.vstack([np.zeros(len(inner)), np.eye(len(inner)) * STEP])
    got = solve(found, {x: inner[x] + step[:, n] for n, x in enumerate(inner)})
    values = {x: float(np.ravel(v)[0]) for x, v in got.items()}
    moved = {}
    for target in dict.fromkeys(served(x) for x in BY_SYMBOL if BY_SYMBOL[x].law):
        ends = np.broadcast_to(got[target], len(step))
        moved[target] = frozenset(x for n, x in enumerate(inner) if ends[n + 1] != ends[0])
    constants = {}
    for fit in groups.values():
        levels = c.places(fit.index, fit.priors, row)
        for symbol in fit.priors:
            own = {level: place[0] >= 0 for x, level, place in levels if x == symbol}
            fitted = _levels(row, [level for level, there in own.items() if there])
            # few cells have rows enough to be told apart from their card and engine
            unseen = _levels(row, [level for level in own if not own[level] and level != "cell"])
            constants[symbol] = Constant(symbol, values[symbol], fitted, unseen)
    cell = tuple(str(row[name][0]) for name in ("model_id", "hardware_id", "generation"))
    alike = (*cell, str(row["precision"][0]))
    rows = {kind: counted(kind, *alike) for kind in groups}
    return Basis(case, values, constants, moved, rows)


ENGINE = ("family", "generation", "version")


def _levels(row, names: list[str]) -> tuple[str, ...]:
    """Name levels of a constant as a reader does; a task that nobody states has no name."""
    labels = {name: str(c.label(row, name)[0]) for name in names if name != "all"}
    engine = " ".join(labels[name].split()[-1] for name in ENGINE if name in labels)
    said = {
        "card": f"card {labels.get('card')}",
        "format": f"format {labels.get('format')}",
        "cell": "that card with that engine",
        "unit": "that engine with that format",
        "task": f"task {labels['task']}" if labels.get("task") else "",
    }
    found = [said[name] if name in said else "" for name in labels]
    if engine:
        found.insert(1 if "card" in labels else 0, f"engine {engine}")
    return tuple(filter(None, found))


@cache
def _fit() -> dict[str, Counter]:
    """Count the rows of the fit by kind and by model, card, engine, format and source."""
    found = {"time": Counter(), "energy": Counter()}
    with HELD_OUT.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            kind = "energy" if row["metric"] in ENERGIES else "time"
            names = ("model_id", "hardware_id", "generation", "precision", "source")
            found[kind][tuple(row[name] for name in names)] += 1
    return found


@cache
def counted(kind: str, model: str, card: str, engine: str, format: str) -> Rows:
    """Count the rows of the fit that are like a prediction; sources of the most alike."""
    rows = _fit()[kind]
    ways = [
        [key for key in rows if key[:4] == (model, card, engine, format)],
        [key for key in rows if key[1:3] == (card, engine)],
        [key for key in rows if key[1] == card],
        [key for key in rows if key[2] == engine],
    ]
    first: list = next(filter(None, ways), [])
    weight = Counter[str]()
    for key in first:
        weight[key[4]] += rows[key]
    counts = [sum(rows[key] for key in keys) for keys in ways]
    return Rows(*counts, tuple(name for name, _ in weight.most_common()))
