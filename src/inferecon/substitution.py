"""An equation with the numbers of a scenario put in, as a reader would write it on paper."""

import math
from functools import cache, partial
from html import escape

import numpy as np
import sympy as sp

from . import symbols as s
from .compiled import compiled
from .errors import BadInput
from .law import NAME, Eq, declared_unit, latex
from .law import display as shown_as
from .numbers import SHOWN, UNIT_NAMES, digits, number
from .units import unit_of, ureg


def substituted(scenario, eq: sp.Eq, short: bool = False) -> str:
    """Return an equation, the numbers of a scenario put in, and the result, as LaTeX.

    ``short`` leaves out the equation itself, which stands above.  Raises BadInput where a
    record states no value for a symbol of the right side.
    """
    values = scenario.values
    absent = {x: 0 for x in eq.rhs.free_symbols if values.get(x) == 0}
    rhs = eq.rhs.subs(absent)
    if short:
        rhs = rhs.replace(sp.Piecewise, lambda *cases: _case(cases, values))
    needed = sorted(rhs.free_symbols, key=NAME)
    lacking = [x for x in needed if math.isnan(float(values.get(x, math.nan)))]
    if lacking:
        missing = {g.name: g for x in lacking for g in scenario.missing(x)}
        raise BadInput(f"no record states {', '.join(missing)}")
    written = {x: _written(x, values[x]) for x in needed}
    names = {x: s.GLOSSARY[x].latex for x in eq.lhs.free_symbols if x in s.GLOSSARY} | written
    put_in = partial(sp.latex, symbol_names=names, mul_symbol=r" \cdot ")
    (value,) = map(float, compiled(needed, [rhs])(*(np.float64(values[x]) for x in needed)))
    result = rf"{digits(value)}"
    if eq.lhs in SHOWN:
        shown = number(eq.lhs, value)
        unit = UNIT_NAMES.get(shown.unit, shown.unit)
        result = _with_unit(shown.value, unit)
    elif eq.lhs in s.GLOSSARY:
        result = _written(eq.lhs, value)
    else:
        unit = f"{unit_of(eq.rhs, declared_unit) or ''}".replace(" ", "")
        result = _with_unit(value, unit)
    if not short:
        rows = rf"{latex(rhs)}\\[6pt] &= {put_in(rhs)}\\[6pt] &= {result}"
    elif not needed:
        rows = result
    else:
        rows = shown_as(Eq(eq.lhs, rhs), latex=put_in)
        if rows.startswith(r"\begin{aligned}"):
            return rows.removesuffix(r"\end{aligned}") + rf"\\[6pt] ={{}} & {result}\end{{aligned}}"
        rows = rf"{put_in(rhs)}\\[6pt] &= {result}"
    return rf"\begin{{aligned}}{latex(eq.lhs)} &= {rows}\end{{aligned}}"


def _with_unit(value: float, unit: str) -> str:
    return rf"{digits(value)}\ \text{{{unit}}}" if unit else digits(value)


def _case(cases, values) -> sp.Expr:
    """Return the value of a case distinction in the case that these values are."""
    for value, condition in cases:
        if condition.subs({x: values[x] for x in condition.free_symbols}) == sp.true:
            return value
    return sp.nan


def _written(symbol, value: float) -> str:
    """Write a base-unit value with a prefix a reader knows, for the substituted line."""
    shown, prefix, unit = parts(symbol, value)
    micro = r"\mu" if prefix == "µ" else ""  # KaTeX has no such letter in text
    prefix = "" if micro else prefix
    return rf"{shown}\,{micro}\text{{{prefix}{escape(unit)}}}" if prefix + unit + micro else shown


def parts(symbol: sp.Symbol, value: float) -> tuple[str, str, str]:
    """Return digits, prefix and unit of a base-unit value."""
    scale, unit, plain_number = _unit(symbol)
    if scale is not None:
        return digits(float(value) * scale), "", unit
    if plain_number:
        return f"{value:,.0f}" if float(value).is_integer() else digits(value), "", ""
    prefix, factor = _prefix(abs(float(value)))
    return digits(float(value) / factor), prefix, unit


PREFIXES = {"P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1.0}
PREFIXES |= {"m": 1e-3, "µ": 1e-6, "n": 1e-9, "p": 1e-12}


@cache
def _unit(symbol: sp.Symbol) -> tuple[float | None, str, bool]:
    """Return how many of the unit in which a symbol is shown make a base unit, and its name."""
    unit = s.GLOSSARY[symbol].unit
    if symbol in SHOWN:
        scale = ureg.Quantity(1.0, unit).to(SHOWN[symbol]).m
        return scale, UNIT_NAMES.get(SHOWN[symbol], SHOWN[symbol]), False
    return None, f"{unit:~}".replace(" ", ""), not unit.dimensionality


def _prefix(size: float) -> tuple[str, float]:
    for prefix, factor in PREFIXES.items():
        if size >= factor:
            return prefix, factor
    return "", 1.0
