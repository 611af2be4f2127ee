"""How a scenario answers when one of its inputs moves: exact elasticities, and inverses.

Derivatives travel beside the values through all laws at once (a dual number: a
value, and what it gains for each percent of each input), so they are exact to
the last bits, where a difference of two nearby values would lose half of them.
"""

import math
import re
from typing import NamedTuple

import numpy as np
import sympy as sp

from . import symbols as s
from .errors import BadInput, nearest
from .laws import SERVICE
from .numbers import SHOWN, UNIT_NAMES, digits
from .scenario import Scenario
from .units import quantity, ureg

WHOLE = (s.batch, s.isl, s.osl)
# Of these more is better: a goal is met from above.
MORE = (s.interactivity, s.throughput, s.throughput_device, s.decode_throughput, s.largest_batch)
# What a reader can change, in the unit it is written in.  tp and ep move in divisors only.
# What a reader can change: the unit it is written in, and a short name.
# tp and ep are not among them: they move from one divisor to the next.
INPUTS = {
    s.hbm_bandwidth: ("TB/s", "memory bandwidth"),
    s.peak_linear: ("TFLOP/s", "peak rate, matrices"),
    s.peak_expert: ("TFLOP/s", "peak rate, experts"),
    s.peak_native: ("TFLOP/s", "peak rate, attention"),
    s.link_bandwidth: ("GB/s", "link bandwidth"),
    s.link_latency: ("us", "link latency"),
    s.memory_capacity: ("GB", "memory"),
    s.linear_width: ("bit/elem", "width of matrices"),
    s.expert_byte_width: ("bit/elem", "width of experts"),
    s.table_width: ("bit/elem", "width of tables"),
    s.vector_width: ("bit/elem", "width of vectors"),
    s.activation_width: ("bit/elem", "width of activations"),
    s.reduce_width: ("bit/elem", "width of messages"),
    s.kv_width: ("bit/elem", "width of the cache"),
    s.idle_draw: ("W", "power at rest"),
    s.energy_linear: ("pJ/FLOP", "energy a FLOP, matrices"),
    s.energy_expert: ("pJ/FLOP", "energy a FLOP, experts"),
    s.energy_native: ("pJ/FLOP", "energy a FLOP, attention"),
    s.energy_per_byte: ("pJ/B", "energy a byte"),
    s.board_power: ("W", "power limit"),
    s.pue: ("", "PUE"),
    s.grid_intensity: ("gCO2e/kWh", "emissions of the grid"),
    s.price: ("USD/h", "price"),
    s.batch: ("", "batch"),
    s.isl: ("token", "prompt"),
    s.osl: ("token", "answer"),
}


class Dual(NamedTuple):
    """A value, and its derivatives by the logarithm of each input."""

    value: float
    slope: np.ndarray


def elasticities(case: Scenario, target: sp.Symbol) -> dict[sp.Symbol, float]:
    """Return by how many percent ``target`` moves for one percent of each input it rests on."""
    inputs = [x for x in INPUTS if x in SERVICE.inputs_of(target) and case.values[x] > 0]
    unit = dict(zip(inputs, np.eye(len(inputs)), strict=True))
    still = np.zeros(len(inputs))
    known = {x: Dual(float(v), unit.get(x, still) * v) for x, v in case.given().items()}
    for symbol, law in SERVICE.laws.items():
        known[symbol] = evaluate(law.eq.rhs, known, still)
    found = known[target]
    return {x: float(e) for x, e in zip(inputs, found.slope / found.value, strict=True)}


def evaluate(expr: sp.Basic, known: dict[sp.Symbol, Dual], still: np.ndarray) -> Dual:
    """Value and derivatives of an expression; a branch that is not taken is not looked at."""
    if expr.is_Symbol:
        return known.get(expr, Dual(math.nan, still))
    if expr.is_number:
        return Dual(float(expr), still)
    if isinstance(expr, sp.Piecewise):
        for value, condition in expr.args:
            if condition is sp.true or _holds(condition, known, still):
                return evaluate(value, known, still)
    args = [evaluate(arg, known, still) for arg in expr.args]
    if expr.is_Add:
        return Dual(sum(a.value for a in args), sum(a.slope for a in args))
    if expr.is_Mul:
        value, slope = 1.0, still
        for a in args:
            value, slope = value * a.value, slope * a.value + value * a.slope
        return Dual(value, slope)
    if expr.is_Pow:
        return _power(*args)
    if isinstance(expr, (sp.Max, sp.Min)):
        pick = max if isinstance(expr, sp.Max) else min
        missing = [a for a in args if math.isnan(a.value)]
        return missing[0] if missing else pick(args, key=lambda a: a.value)
    if isinstance(expr, (sp.ceiling, sp.floor)):  # the trend, see ``analysis``
        (inner,) = args
        value = math.nan if math.isnan(inner.value) else float(expr.func(inner.value))
        return Dual(value, value * inner.slope / inner.value if inner.value else still)
    raise NotImplementedError(f"{expr.func.__name__} has no derivative here")


def _power(base: Dual, power: Dual) -> Dual:
    if base.value == 0:
        whole = power.value == 1
        return Dual(0.0 if power.value > 0 else math.inf, base.slope if whole else base.slope * 0)
    value = base.value**power.value
    slope = power.value * base.slope / base.value
    if power.slope.any():
        slope = slope + math.log(base.value) * power.slope
    return Dual(value, value * slope)


def _holds(condition, known, still) -> bool:
    if isinstance(condition, (sp.And, sp.Or)):
        combine = all if isinstance(condition, sp.And) else any
        return combine(_holds(part, known, still) for part in condition.args)
    left, right = (evaluate(side, known, still).value for side in condition.args)
    return bool(condition.func(sp.Float(left), sp.Float(right)))


# Inverses --------------------------------------------------------------------------------------

REACH = 1e6  # how far from its value an input is looked for
LONGEST = 10**7  # the largest whole number that is tried


class Solution(NamedTuple):
    """``by`` at ``at`` gives ``target`` the value ``reached``.

    A whole number meets the goal, and its neighbour ``short`` does not.
    """

    target: sp.Symbol
    by: sp.Symbol
    at: float
    reached: float
    short: int | None
    fits: bool


def inverse(case: Scenario, target: sp.Symbol, value: float, by: sp.Symbol) -> Solution:
    """Return the input at which ``target`` takes a value (base units), all others unchanged.

    A whole number is the one next to the value that is no worse.  Raises BadInput
    if no input gives the value, or several do.
    """
    if by not in SERVICE.inputs_of(target):
        raise BadInput(f"{target} does not depend on {by}")
    start = float(case.values.get(by, math.nan))
    if not start > 0 or math.isnan(float(case.values[target])):
        lacking = ", ".join(x.name for x in case.missing(target)) or by.name
        raise BadInput(f"{target} cannot be solved here: no record states {lacking}")
    xs = _candidates(by, start, case)
    ys = _along(case, target, by, xs)
    _refuse_turns(target, by, ys)
    low, high = sorted((ys[0], ys[-1]))
    if not low <= value <= high:
        raise BadInput(
            f"no {by} gives this {target}: from {written(by, xs[0])} to {written(by, xs[-1])} "
            f"it goes from {written(target, ys[0])} to {written(target, ys[-1])}"
        )
    beyond = ys > value if ys[-1] > ys[0] else ys < value
    right = int(np.argmax(beyond)) if beyond.any() else len(xs) - 1
    left, right = (xs[max(right - 1, 0)], xs[right])
    if by in WHOLE:
        return _whole(case, target, value, by, int(left), int(right), ys[-1] > ys[0])
    return _between(case, target, value, by, left, right, ys[-1] > ys[0])


def _candidates(by: sp.Symbol, start: float, case: Scenario) -> np.ndarray:
    if by not in WHOLE:
        return np.geomspace(start / REACH, start * REACH, 961)
    most = float(LONGEST)
    if by in (s.isl, s.osl):
        other = case.osl if by == s.isl else case.isl
        most = case.model_record["max_context"] - other
    return np.unique(np.round(np.geomspace(1, most, 400)))


def _along(case: Scenario, target, by, xs) -> np.ndarray:
    values = SERVICE.solve({**case.given(), by: np.asarray(xs, dtype=float)})[target]
    return np.broadcast_to(np.asarray(values, dtype=float), np.shape(xs))


def _refuse_turns(target, by, ys) -> None:
    steps = np.diff(ys)
    noise = 1e-12 * np.abs(ys[:-1])
    if (steps > noise).any() and (steps < -noise).any():
        raise BadInput(f"{target} rises and falls with {by}, so that one value has several answers")
    if not (np.abs(steps) > noise).any():
        raise BadInput(f"{target} does not move with {by} in this scenario")


def _between(case, target, value, by, left, right, rises) -> Solution:
    for _ in range(200):
        middle = math.sqrt(left * right)
        if middle in (left, right):
            break
        y = float(_along(case, target, by, [middle])[0])
        if (y > value) == rises and y != value:
            right = middle
        else:
            left = middle
    reached = float(_along(case, target, by, [left])[0])
    return Solution(target, by, left, reached, None, fits(case, {by: left}))


def _whole(case, target, value, by, left, right, rises) -> Solution:
    while right - left > 1:
        middle = (left + right) // 2
        y = float(_along(case, target, by, [middle])[0])
        if (y > value) == rises and y != value:
            right = middle
        else:
            left = middle
    far = (target in MORE) == rises  # the goal is met beyond the value
    at, short = (right, left) if far else (left, right)
    reached = float(_along(case, target, by, [at])[0])
    return Solution(target, by, float(at), reached, short, fits(case, {by: float(at)}))


def fits(case: Scenario, changed: dict[sp.Symbol, float]) -> bool:
    """Say whether weights and caches fit into memory when inputs change."""
    values = SERVICE.solve({**case.given(), **changed})
    return bool(values[s.memory_needed] <= values[s.memory_available])


# Words -----------------------------------------------------------------------------------------


def input_named(name: str) -> sp.Symbol:
    """Return the input of this name that a reader can change."""
    known = {symbol.name: symbol for symbol in INPUTS}
    if name not in known:
        raise BadInput(f"{name!r} is no input to solve for{nearest(name, known)}")
    return known[name]


def asked(text: str, symbol: sp.Symbol) -> float:
    """Read ``20ms`` as a value of a symbol in base units."""
    unit = s.GLOSSARY[symbol].unit
    try:
        found = quantity(text.strip())
        value = float(found.to(unit).m)
    except Exception:
        example = f"{unit:~}".replace(" ", "") or "a pure number"
        raise BadInput(f"{symbol}: {text!r} is no value in the manner of {example}") from None
    if not 0 < value < math.inf:
        raise BadInput(f"{symbol} must be a finite value above zero, not {text}")
    return value


def in_unit(symbol: sp.Symbol, value: float) -> tuple[float, str]:
    """A value in the unit it is shown in: that of the report, or that of an input."""
    unit = SHOWN.get(symbol) or INPUTS.get(symbol, ("",))[0]
    base = s.GLOSSARY[symbol].unit
    return float(ureg.Quantity(value, base).to(unit or base).m), unit


def written(symbol: sp.Symbol, value: float) -> str:
    """A value with its unit, three digits; a whole number with all of them."""
    shown, unit = in_unit(symbol, value)
    text = f"{shown:,.0f}" if symbol in WHOLE else digits(shown)
    return f"{text} {UNIT_NAMES.get(unit, unit)}".strip()


def solution(case: Scenario, goal: str, by: str) -> tuple[dict, str]:
    """Answer ``itl=20ms`` by one input: the facts, and the same as a sentence."""
    # "at most" asks the same as "just": the value found is the border of what keeps the promise
    name, equals, text = re.sub(r"\s*(<=|>=|≤|≥|=)\s*", "=", goal, count=1).partition("=")
    if not equals:
        raise BadInput(f"{goal}: write a quantity and its value, as in itl=20ms")
    known = {symbol.name: symbol for symbol in SERVICE.laws if symbol in SHOWN}
    if name not in known:
        raise BadInput(f"no published quantity {name!r}{nearest(name, known)}")
    found = inverse(case, known[name], asked(text, known[name]), input_named(by))
    shown, unit = in_unit(found.by, found.at)
    facts = {
        "input": by,
        "value": shown,
        "unit": unit,
        "now": in_unit(found.by, float(case.values[found.by]))[0],
        "quantity": name,
        "reached": in_unit(found.target, found.reached)[0],
        "reached_unit": in_unit(found.target, found.reached)[1],
        "fits": found.fits,
    }
    said = (
        f"{by} = {written(found.by, found.at)} gives {name} = "
        f"{written(found.target, found.reached)} "
        f"(now {written(found.by, float(case.values[found.by]))} and "
        f"{written(found.target, float(case.values[found.target]))})"
    )
    if found.short is not None:
        said += f"; {written(found.by, found.short)} would not"
    case_said = (
        f"{case.name}, batch {case.batch:,}, {case.isl:,} tokens in, {case.osl:,} out, "
        f"{max(case.tp, case.ep)} device(s), at the bound: "
    )
    return facts, case_said + said + ("" if found.fits else "; it does not fit into memory")
