"""What the calculator predicts with: constants of engines, card by card and format by format.

A constant is a sum of levels on its inner scale, so it is told as that of a card and format never
seen, and what each card and each format adds.  With it goes the variance that levels never seen
leave open.
"""

import pandas as pd

from ..calibration import rows as measured
from ..calibration.constants import GROUPS, SHARES, load
from ..calibration.fit import STEP
from ..calibration.validate import MEMORY_SHARE, NINETY, ROOM, cells, half, kind
from ..predictions import ENGINES, METRICS, SAYS
from ..records import ids

SHOWN = ("vllm",)  # engines that the page offers: the one with most measured rows
NEVER = "\0"  # a card or a format that no row has


def data() -> dict:
    """Return constants, spreads and what was measured together, for each engine."""
    return {
        "engines": {engine: _engine(engine) for engine in SHOWN},
        "measured": sorted({card for _, card, _, _ in cells()}),
        "shares": sorted(symbol.name for symbol in SHARES),
        "groups": {group: [x.name for x in priors] for group, priors in GROUPS.items()},
        "weights": {id: _weights(id) for id in ids("formats") if id in measured.WEIGHTS},
        "activations": measured.ACTIVATIONS,
        "block_scaled": measured.BLOCK_SCALED,
        "step": STEP,
        "ninety": NINETY,
        "heavy": ROOM / MEMORY_SHARE,
        "says": SAYS,
    }


def _weights(format: str) -> dict:
    return {
        "as": measured.WEIGHTS[format],
        "class": measured.precision(format),
        "narrow": format in measured.NARROW,
    }


def _engine(engine: str) -> dict:
    written = ENGINES[engine]
    of = {
        "family": measured.family(written),
        "generation": measured.generation(written),
        "version": measured.version(written),
        "task": "",
    }
    known = [id for id in ids("formats") if id in measured.WEIGHTS]
    classes = sorted({_weights(id)["class"] for id in known})
    asked = [(NEVER, NEVER), *((card, NEVER) for card in ids("hardware"))]
    asked += [(NEVER, name) for name in classes]
    rows = pd.DataFrame([{"hardware_id": card, "precision": name, **of} for card, name in asked])
    found = {group: _lines(rows, fitted) for group, fitted in load().items()}
    lines = [{**found["time"][n], **found["energy"][n]} for n in range(len(rows))]
    base = lines[0]
    cards = {card: _added(line, base) for (card, _), line in zip(asked, lines, strict=True)}
    formats = {name: _added(line, base) for (_, name), line in zip(asked, lines, strict=True)}
    kinds = {x.name: kind(name) for name, m in METRICS.items() if (x := m.symbol) is not None}
    return {
        "name": written,
        "whole": of["family"] == "trtllm",  # it admits what fits to the last token
        "base": base,
        "cards": {card: cards[card] for card in ids("hardware") if cards[card]},
        "formats": {name: formats[name] for name in classes},
        "spread": {symbol: _halves(about, of["generation"]) for symbol, about in kinds.items()},
        "together": sorted(
            "/".join((model, card, format))
            for model, card, generation, format in cells()
            if generation == of["generation"]
        ),
    }


def _halves(what: str, generation: str) -> dict:
    """Return half an interval for what was measured together, for a new cell and a new card."""
    measured_card = next(card for _, card, engine, _ in cells() if engine == generation)
    return {
        "row": half(what, measured_card, generation, True),
        "cell": half(what, measured_card, generation, False),
        "card": half(what, NEVER, generation, False),
    }


def _lines(rows: pd.DataFrame, fitted) -> list[dict]:
    """Return value and open variance of each constant, row by row."""
    values, open_ = fitted.constants(rows)
    return [
        {x.name: [float(values[x][n]), float(open_[x][n])] for x in values}
        for n in range(len(rows))
    ]


def _added(line: dict, base: dict) -> dict:
    """Return what a row has more than the base, where it has."""
    more = {x: [value - base[x][0], wide - base[x][1]] for x, (value, wide) in line.items()}
    return {x: both for x, both in more.items() if both != [0, 0]}
