"""What follows from a law without a new number: its elasticities, its inverses, its limits.

An elasticity says by how many percent a result moves if one input moves by one
percent and the law's other inputs stand still.  A maximum, a minimum and a case
distinction are smooth inside each regime, so each regime has its own formula.
A whole number (floor, ceiling) follows its trend: between two steps it stands
still, and at a step it jumps.
"""

from functools import cache
from itertools import product
from typing import NamedTuple

import sympy as sp

from . import symbols as s
from .law import Law
from .laws import LAWS, SERVICE
from .laws.cache import GQA_ONLY
from .numbers import SHOWN
from .units import ureg

COUNTED = {s.mac, s.one_token, s.element}  # units in disguise, nothing anyone can change
IN_STEPS = {s.tp, s.ep, s.n_devices}  # they move from one divisor to the next

COUNTS = {law.symbol for law in LAWS if law.counts or s.GLOSSARY[law.symbol].unit == ureg.elem}


class Regime(NamedTuple):
    """A smooth part of a law, and the conditions under which it is the law."""

    holds: tuple[sp.Basic, ...]
    rhs: sp.Expr


class Row(NamedTuple):
    """Elasticity of a law to one input, and the law solved for it, in one or several regimes."""

    input: sp.Symbol
    regimes: tuple[tuple[sp.Basic, ...], ...]
    elasticity: sp.Expr
    inverse: sp.Expr | None


def regimes(expr: sp.Expr) -> list[Regime]:
    """Split an expression at its maxima, minima and case distinctions."""
    kinds = (sp.Max, sp.Min, sp.Piecewise)
    node = next((n for n in sp.preorder_traversal(expr) if isinstance(n, kinds)), None)
    if node is None:
        return [Regime((), expr)]
    found = []
    for holds, value in _branches(node):
        for rest in regimes(expr.xreplace({node: value})):
            others = (c for c in rest.holds if c not in holds)
            found.append(Regime((*holds, *others), rest.rhs))
    return found


def _branches(node):
    if isinstance(node, sp.Piecewise):
        before: tuple = ()
        for value, condition in node.args:
            own = () if condition is sp.true else (condition,)
            yield (*(sp.Not(c) for c in before), *own), value
            before = (*before, *own)
        return
    relation = sp.Ge if isinstance(node, sp.Max) else sp.Le
    for arg in sorted(node.args, key=str):
        others = [other for other in node.args if other is not arg]
        yield tuple(relation(arg, other, evaluate=False) for other in others), arg


def elasticity(expr: sp.Expr, x: sp.Symbol, names: dict | None = None) -> sp.Expr:
    """Return d ln(expr) / d ln(x) of a smooth expression; ``names`` abbreviates its sums."""
    if x not in expr.free_symbols:
        return sp.Integer(0)
    if expr == x:
        return sp.Integer(1)
    if expr.is_Mul:
        return sp.Add(*(elasticity(factor, x, names) for factor in expr.args))
    if expr.is_Pow:
        base, power = expr.args
        own = power * elasticity(base, x, names)
        return own + power * sp.log(base) * elasticity(power, x, names)
    if expr.is_Add:
        parts = [(term, elasticity(term, x, names)) for term in expr.args]
        if len({part for _, part in parts}) == 1:
            return parts[0][1]
        return sp.Add(*(term * part for term, part in parts)) / (names or {}).get(expr, expr)
    if isinstance(expr, (sp.ceiling, sp.floor)):
        return elasticity(expr.args[0], x, names)
    return x * sp.diff(expr, x) / expr


def inverse_of(y: sp.Symbol, expr: sp.Expr, x: sp.Symbol) -> sp.Expr | None:
    """Return the one x with ``y = expr``; None if x stands in several places of it."""
    left: sp.Expr = y
    while expr != x:
        inside = [arg for arg in expr.args if x in arg.free_symbols]
        if len(inside) > 1:
            if not expr.is_Add or x in (factor := sp.diff(expr, x)).free_symbols:
                return None
            return (left - expr.subs(x, 0)) / factor
        others = [arg for arg in expr.args if arg is not inside[0]]
        if expr.is_Add:
            left -= sp.Add(*others)
        elif expr.is_Mul:
            left /= sp.Mul(*others)
        elif expr.is_Pow and inside[0] is expr.base:
            left = left ** (1 / expr.exp)
        elif expr.is_Pow:
            left = sp.log(left) / sp.log(expr.base)
        else:
            return None
        expr = inside[0]
    return left


def rows(law: Law) -> list[Row]:
    """Return the elasticities of a law to its inputs, the structure of a model left out."""
    inputs = sorted(law.eq.rhs.free_symbols - COUNTED - IN_STEPS, key=str)
    parts = regimes(law.eq.rhs)
    found = []
    for x in (x for x in inputs if not _structure(x)):
        cases: dict[sp.Expr, list[Regime]] = {}
        for regime in parts:
            value = elasticity(regime.rhs, x, _names(law.symbol, regime.rhs))
            cases.setdefault(value, []).append(regime)
        for value, where in cases.items():
            if value == 0 and len(cases) > 1:
                continue
            solved = {inverse_of(law.symbol, regime.rhs, x) for regime in where}
            holds = () if len(cases) == 1 else tuple(regime.holds for regime in where)
            found.append(Row(x, holds, value, solved.pop() if len(solved) == 1 else None))
    return found


def _structure(x: sp.Symbol) -> bool:
    """Say whether an input is a fact or a count of a model's structure."""
    entry = s.GLOSSARY[x]
    return entry.part is not None or entry.topic.startswith("Parameters") or x in COUNTS


def _names(symbol: sp.Symbol, rhs: sp.Expr) -> dict:
    """The law's own letter for the sum it is made of."""
    if rhs.is_Mul:
        sums = [factor for factor in rhs.args if factor.is_Add]
        if len(sums) == 1:
            return {sums[0]: symbol * sums[0] / rhs}
    return {rhs: symbol}


def results() -> list[Law]:
    """Laws that a chapter ends in: published or needed by no other law, and no mere count."""
    needed = {symbol for law in LAWS for symbol in law.eq.rhs.free_symbols}
    return [
        law
        for law in LAWS
        if not law.counts
        and not _structure(law.symbol)
        and (law.symbol in SHOWN or law.symbol not in needed)
        and rows(law)
    ]


# Limits ----------------------------------------------------------------------------------------


class Limit(NamedTuple):
    """What a quantity tends to, or what it grows by for each unit if nothing bounds it."""

    symbol: sp.Symbol
    variable: sp.Symbol
    point: sp.Expr
    holds: tuple[sp.Basic, ...]
    value: sp.Expr
    slope: sp.Expr | None


ONE_DEVICE = {s.tp: 1, s.ep: 1, s.n_devices: 1}
ATTENTION = GQA_ONLY | {s.n_csa0_layers: 0, s.n_local_layers: 0}
ATTENTION |= {s.state_elements: 0, s.flop_state: 0}
DENSE = ONE_DEVICE | ATTENTION | {s.n_experts: 0, s.n_moe_layers: 0}
NO_EXPERTS = sp.Eq(s.n_experts, 0)
# Variable, point, what is put in before, and the quantities that are taken to the limit.
TAKEN = (
    (s.batch, 1, ONE_DEVICE, (s.experts_decode, s.decode_bytes_device)),
    (s.batch, 1, DENSE, (s.decode_bytes_device, s.intensity, s.itl)),
    (s.batch, sp.oo, ONE_DEVICE, (s.experts_decode, s.decode_bytes_device)),
    (s.batch, sp.oo, DENSE, (s.intensity, s.itl, s.decode_throughput)),
    (s.context, 0, DENSE, (s.flop_decode, s.decode_bytes_device, s.intensity)),
    (s.context, sp.oo, DENSE, (s.flop_decode, s.decode_bytes_device, s.intensity, s.itl)),
    (s.n_devices, 1, ONE_DEVICE, (s.weight_bytes_device, s.dense_read_device, s.memory_needed)),
    (s.n_devices, 1, ONE_DEVICE, (s.t_comm_decode, s.itl)),
)


def limits() -> list[tuple[bool, Limit]]:
    """Return limits of the main laws, taken by SymPy; the flag says "dense model"."""
    return [
        (given is DENSE, found)
        for variable, point, given, symbols in TAKEN
        for symbol in symbols
        for found in limit(symbol, variable, sp.sympify(point), given)
    ]


def limit(symbol: sp.Symbol, variable: sp.Symbol, point: sp.Expr, given: dict) -> list[Limit]:
    """Return the limit of a quantity in each regime, with all laws put in between.

    ``given`` is the special case; where it does not say otherwise, there are experts.
    """
    return [
        Limit(symbol, variable, point, whole.holds, *_limit(rhs, variable, point))
        for whole in _composed(symbol, variable)
        for rhs in _special(whole.rhs, given)
    ]


def _composed(symbol: sp.Symbol, variable: sp.Symbol) -> list[Regime]:
    """Put in every law that depends on the variable; a maximum of two times is two regimes."""
    rhs = SERVICE.laws[symbol].eq.rhs
    inner = sorted((u for u in rhs.free_symbols if _depends(u, variable)), key=str)
    found = []
    for own in regimes(rhs) if rhs.has(sp.Max) else [Regime((), rhs)]:
        used = [_composed(u, variable) for u in inner if u in own.rhs.free_symbols]
        names = [u for u in inner if u in own.rhs.free_symbols]
        for choice in product(*used):
            holds = (*own.holds, *(c for regime in choice for c in regime.holds))
            put = {u: regime.rhs for u, regime in zip(names, choice, strict=True)}
            found.append(Regime(holds, own.rhs.xreplace(put)))
    return found


@cache
def _depends(symbol: sp.Symbol, variable: sp.Symbol) -> bool:
    """Say whether a law stands between the symbol and the variable."""
    law = SERVICE.laws.get(symbol)
    if law is None or symbol == variable:
        return False
    needs = law.eq.rhs.free_symbols
    return variable in needs or any(_depends(u, variable) for u in needs)


def _special(expr: sp.Expr, given: dict) -> list[sp.Expr]:
    """Put the special case in, one expression a regime; whole numbers follow their trend."""
    expr = _trend(expr.subs(given))
    absent = {u: 0 for u in expr.free_symbols if u in SERVICE.laws and _vanishes(u, given)}
    expr = expr.subs(absent)
    return [part.rhs for part in regimes(expr) if NO_EXPERTS not in part.holds]


def _trend(expr: sp.Expr) -> sp.Expr:
    return expr.replace(sp.ceiling, lambda x: x).replace(sp.floor, lambda x: x)


def _vanishes(symbol: sp.Symbol, given: dict) -> bool:
    """Say whether a quantity is zero by itself in the special case."""
    return _trend(SERVICE.laws[symbol].eq.rhs.subs(given)) == 0


def _limit(expr: sp.Expr, variable: sp.Symbol, point: sp.Expr):
    if point != sp.oo:
        return sp.factor_terms(expr.subs(variable, point)), None
    # an expert stays idle with a probability below one, so a power of it dies out
    idle = 1 - s.top_k / s.n_experts
    expr = expr.replace(lambda t: t.is_Pow and t.base == idle, lambda t: sp.Integer(0))
    value = _at_infinity(expr, variable)
    return value, _at_infinity(expr / variable, variable) if value == sp.oo else None


def _at_infinity(expr: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """Limit of a sum of positive terms and their ratios: that of the leading term."""
    degree, factor = _leading(expr, variable)
    return sp.oo if degree > 0 else factor if degree == 0 else sp.Integer(0)


def _leading(expr: sp.Expr, x: sp.Symbol) -> tuple[int, sp.Expr]:
    """Degree and factor of the term that grows fastest; none of equal degree may cancel."""
    if x not in expr.free_symbols:
        return 0, expr
    if expr == x:
        return 1, sp.Integer(1)
    if expr.is_Pow and expr.exp.is_Integer:
        degree, factor = _leading(expr.base, x)
        return degree * int(expr.exp), factor**expr.exp
    terms = [_leading(arg, x) for arg in expr.args]
    if expr.is_Mul:
        return sum(degree for degree, _ in terms), sp.Mul(*(factor for _, factor in terms))
    if not expr.is_Add:
        raise NotImplementedError(f"no limit of {expr}")
    most = max(degree for degree, _ in terms)
    return most, sp.Add(*(factor for degree, factor in terms if degree == most))
