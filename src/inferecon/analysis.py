"""What follows from a law without a new number: its elasticities and its inverses.

An elasticity says by how many percent a result moves if one input moves by one
percent and the law's other inputs stand still.  A maximum, a minimum and a case
distinction are smooth inside each regime, so each regime has its own formula.
A whole number (floor, ceiling) follows its trend: between two steps it stands
still, and at a step it jumps.
"""

from typing import NamedTuple

import sympy as sp

from . import symbols as s
from .law import Law
from .laws.catalogue import LAWS
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
