"""The fitted constants, level by level, and what each operator takes of a step."""

import numpy as np
import pandas as pd
import sympy as sp

from .. import symbols as s
from ..calibration import constants as c
from ..calibration.inputs import inputs
from ..calibration.predict import solve
from ..calibration.rows import prepared
from ..calibration.validate import NINETY, predict
from ..escape import plain
from ..law import latex
from ..numbers import Number, digits
from ..records import load
from ..units import ureg
from .marks import percent
from .text import boxed, table

UNITS = (  # what a reader sees: the first in which a value is one or more
    ("s", "ms", "us", "ns"),
    ("us/token", "ns/token", "ps/token"),
    ("pJ/FLOP",),
    ("pJ/B",),
    ("token",),
    ("",),
)
LEVELS = {
    "card": "Card",
    "family": "Family of engines",
    "generation": "Generation of an engine",
    "version": "Version of an engine",
    "cell": "Card and generation together",
    "format": "Class of the weight format",
    "unit": "Generation and format together",
    "task": "Benchmark task",
}
EXAMPLES = (
    {
        "model": "deepseek-v3",
        "hardware": "h200-sxm",
        "weight_dtype": "fp8",
        "engine": "sglang 0.5.9",
        "n_gpus": 8,
    },
    {
        "model": "llama-3.1-8b",
        "hardware": "h100-sxm",
        "weight_dtype": "bf16",
        "engine": "vLLM",
        "n_gpus": 1,
    },
)
COMMON = {"metric": "tpot_ms", "batch_or_concurrency": 32, "isl": 1024, "osl": 1024}
KINDS = (("models", "model"), ("hardware", "hardware"))
SMALL = 0.0005  # share of a step that rounds to nothing
OPERATORS = {
    s.op_linear_decode: "matrices outside the experts",
    s.op_head_decode: "LM head",
    s.op_attention_decode: "attention",
    s.op_experts_decode: "routed experts",
    s.op_comm_decode: "collectives",
    s.op_gaps: "gaps between layers and steps",
}


def example(case: dict) -> dict:
    """Return, for one decode step, each part's seconds and what the fit leaves open of it.

    A part is an operator, the gap of each sequence, or the wait for the host's launches.
    ``open`` is half a 90 % interval in seconds, the constants taken as independent.
    """
    rows = prepared(pd.DataFrame([COMMON | case]))
    found, fit = inputs(rows), c.load()["time"]
    values, variance = fit.constants(rows)
    for symbol, _, place in c.places(fit.index, fit.priors, rows):
        if place[0] >= 0:
            variance[symbol] = variance[symbol] + fit.deviation[place] ** 2
    middle = _parts(solve(found, values))
    spread = dict.fromkeys(middle, 0.0)
    for symbol in values:
        moved = values | {symbol: values[symbol] + np.sqrt(variance[symbol])}
        for name, time in _parts(solve(found, moved)).items():
            spread[name] += (time - middle[name]) ** 2
    return {
        "rows": rows,
        "time": middle,
        "open": {name: NINETY * square**0.5 for name, square in spread.items()},
    }


def _parts(got: dict) -> dict[str, float]:
    parts = {name: float(got[symbol][0]) for symbol, name in OPERATORS.items()}
    sequences = float((got[s.batch] / got[s.nodes] * got[s.sequence_gap])[0])
    whole = float(got[s.decode_time][0])
    parts["gaps of each sequence"] = sequences
    parts["waiting for the host to launch"] = max(whole - sum(parts.values()), 0.0)
    return parts | {"step": whole}


def budget() -> list[str]:
    """Return what each operator takes of a decode step, and how well it is known."""
    text = [
        "## Error budget by operator",
        "",
        "What takes the time of a decode step, and which part of it is known least?",
        "The last column is half of the 90 % interval that the constants alone leave, as a share "
        "of the step: each is moved by its own spread, as if the others were known.",
        "An error of the laws themselves is not in it; the intervals from rows held out have both.",
        "",
    ]
    for case in EXAMPLES:
        found = example(case)
        row, step = found["rows"].iloc[0], found["time"]["step"]
        model, card = (load(k, row[f"{k2}_id"]).name for k, k2 in KINDS)
        devices = f"{int(row.total)} × " if row.total > 1 else ""
        text += boxed(
            f"**{plain(model)}, {plain(row.weight_dtype)}, on {devices}{plain(card)}**, "
            f"{plain(row.generation)}, batch {COMMON['batch_or_concurrency']}, "
            f"{COMMON['isl']:,} tokens in and {COMMON['osl']:,} out: "
            f"{_predicted(found['rows'])} a step."
        )
        body = [
            [name, f"{digits(time * 1e3)} ms", percent(time / step), percent(wide / step)]
            for (name, time), wide in zip(
                found["time"].items(), found["open"].values(), strict=True
            )
            if time >= SMALL * step
        ]
        text += table(["part", "time", "share of the step", "open, of the step"], body)
    return text


def _predicted(rows: pd.DataFrame) -> str:
    """Return the time of the step with its 90 % interval, as any other prediction."""
    said = predict(rows).iloc[0]
    known = str(said.label)
    return Number(said.predicted, "ms", said.low, said.high, known).text + f" ({known})"


def section(groups: dict[str, c.Fitted] | None = None) -> list[str]:
    """Return every constant with its interval, and what each level of it adds, folded."""
    groups = c.load() if groups is None else groups
    text = [
        "(constants)=",
        "## The constants",
        "",
        "Every constant, over all rows: a value, and the 90 % interval that the fit left it with.",
        "What a card, an engine or a format adds to it is folded below; of what has no level "
        "there, the value over all rows holds.",
        "",
    ]
    body = [
        _overall(symbol, fit)
        for fit in groups.values()
        for symbol in fit.priors
        if (symbol, "all", "") in fit.index
    ]
    head = ["", "name", "meaning", "value", "90 % interval", "levels"]
    text += table(head, body, 3)
    text += [
        "A cell below is the constant's value with this one level and no other, and the 90 % "
        "interval of what the level adds; levels add up on a logarithm, shares on a logit.",
        "A dash is a level that the constant does not have.",
        "",
    ]
    for level, title in LEVELS.items():
        text += _level(level, title, groups)
    return text


def _overall(symbol: sp.Symbol, fit: c.Fitted) -> list[str]:
    place = fit.index[symbol, "all", ""]
    middle, wide = fit.beta[place], NINETY * fit.deviation[place]
    value, low, high = (c.outer(symbol, middle + x) for x in (0.0, -wide, wide))
    unit, factor = shown(symbol, value)
    levels = sum(1 for found in fit.index if found[0] == symbol) - 1
    return [
        f"${latex(symbol)}$",
        f"`{symbol.name}`",
        s.GLOSSARY[symbol].meaning,
        f"{digits(value * factor)} {unit}".strip(),
        f"{digits(low * factor)} to {digits(high * factor)}",
        str(levels),
    ]


def shown(symbol: sp.Symbol, value: float) -> tuple[str, float]:
    """Return the unit that a constant is read in, and how many of it make a base unit."""
    base = s.GLOSSARY[symbol].unit
    choices = next(units for units in UNITS if ureg.Unit(units[0]).is_compatible_with(base))
    factors = [float(ureg.Quantity(1.0, base).to(ureg.Unit(unit)).m) for unit in choices]
    for unit, factor in zip(choices, factors, strict=True):
        if value * factor >= 1:
            return unit.replace("us", "µs"), factor
    return choices[-1].replace("us", "µs"), factors[-1]


def _level(level: str, title: str, groups: dict[str, c.Fitted]) -> list[str]:
    """Return the folded table of one kind of level: a row a label, a column a constant."""
    cells: dict[str, dict] = {}
    named = []
    for fit in groups.values():
        own = [key for key in fit.index if key[1] == level]
        for symbol in fit.priors:
            labels = [key for key in own if key[0] == symbol]
            if not labels or (symbol, "all", "") not in fit.index:
                continue
            overall = fit.beta[fit.index[symbol, "all", ""]]
            unit, factor = shown(symbol, c.outer(symbol, overall))
            named.append((symbol, f"`{symbol.name}`" + (f", {unit}" if unit else "")))
            for key in labels:
                place = fit.index[key]
                middle, wide = overall + fit.beta[place], NINETY * fit.deviation[place]
                ends = (c.outer(symbol, middle + x) * factor for x in (0.0, -wide, wide))
                value, low, high = (digits(float(end)) for end in ends)
                cells.setdefault(key[2], {})[symbol] = f"{value} ({low} to {high})"
    if not named:
        return []
    body = [
        [_label(name), *(found.get(symbol, "–") for symbol, _ in named)]
        for name, found in sorted(cells.items())
    ]
    lines = table([title.lower(), *(head for _, head in named)], body)
    lines[0] += " validation-levels"
    begin = f'<details class="more"><summary>{title}: {len(body)}</summary>'
    return [begin, "", *lines, "</details>", ""]


def _label(text: str) -> str:
    return plain(text.replace("|", " · ")) or "none stated"
