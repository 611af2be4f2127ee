"""Units: the nine base units of this report.  Nothing else parses.

Pint's stock registry makes the bit dimensionless, so bytes, FLOP and tokens
would cancel freely.  This registry starts empty instead.  Symbols are declared
in products of base units only (``byte/s``, never ``GB/s``), so the floats that
the compiled laws pass around are always coherent.
"""

import re
from collections.abc import Callable
from functools import cache

import pint
import sympy as sp

VOCABULARY = """
    pico- = 1e-12 = p-
    nano- = 1e-9 = n-
    micro- = 1e-6 = u-
    milli- = 1e-3 = m-
    kilo- = 1e3 = k-
    mega- = 1e6 = M-
    giga- = 1e9 = G-
    tera- = 1e12 = T-
    peta- = 1e15 = P-
    kibi- = 2**10 = Ki-
    mebi- = 2**20 = Mi-
    gibi- = 2**30 = Gi-
    byte = [information] = B
    bit = byte / 8
    FLOP = [arithmetic]
    elem = [elements]
    token = [tokens]
    second = [time] = s
    minute = 60 * second = min
    hour = 3600 * second = h
    joule = [energy] = J
    watt = joule / second = W
    watt_hour = watt * hour = Wh
    gCO2e = [emissions]
    litre = [water] = L
    USD = [money]
"""

ureg = pint.UnitRegistry(None)
for line in VOCABULARY.strip().splitlines():
    ureg.define(line.strip())

ONE = ureg.Unit("")
# pint alone would drop the sign of "12 $" and multiply "4 5".
WRITTEN = re.compile(
    r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?( 1/[A-Za-z]\w*| ?[A-Za-z]\w*([/*][A-Za-z]\w*)*)?"
)


class DimensionError(ValueError):
    """Two sides of a sum, comparison or equation have different dimensions."""


def quantity(text: str) -> pint.Quantity:
    """Parse ``"3.35 TB/s"``.  Raises ValueError with the text for anything else."""
    try:
        if not WRITTEN.fullmatch(text):
            raise ValueError("not one number and one unit")
        return ureg.Quantity(text)
    except Exception as error:  # pint raises half a dozen unrelated classes
        raise ValueError(f"{text!r} is not a number with a unit of this report") from error


@cache  # hundreds of symbols share a few dozen units
def coherent(unit: str) -> pint.Unit:
    """Return the unit, refusing one with a hidden factor such as GB or ms."""
    parsed = ureg.Unit(unit) if unit else ONE
    if ureg.Quantity(1, parsed).to_root_units().m != 1:
        raise ValueError(f"{unit} hides a factor: declare symbols in base units")
    return parsed


def unit_of(expr: sp.Basic, declared: Callable[[sp.Symbol], pint.Unit]) -> pint.Unit | None:
    """Return the unit of ``expr``; None for a literal zero, which has every unit."""
    if expr.is_Symbol:
        return declared(expr)
    if expr.is_number:
        return None if expr.is_zero else ONE
    if isinstance(expr, sp.Piecewise):
        for _, condition in expr.args:
            _check_condition(condition, declared)
        return _common(expr, [value for value, _ in expr.args], declared)
    if isinstance(expr, (sp.Add, sp.Max, sp.Min, sp.core.relational.Relational)):
        return _common(expr, expr.args, declared)
    args = [unit_of(arg, declared) for arg in expr.args]
    if expr.is_Mul:
        product = ONE
        for arg in args:
            if arg is not ONE:  # most factors are pure numbers, and pint multiplies slowly
                product = arg if product is ONE else product * arg
        return product
    if expr.is_Pow and expr.exp.is_number:
        return args[0] ** (int(expr.exp) if expr.exp.is_Integer else float(expr.exp))
    if any(arg is not None and arg.dimensionality for arg in args):  # log, exp, ceiling, b**x ...
        raise DimensionError(f"{expr}: argument must be a pure number")
    return ONE


def _common(expr, terms, declared):
    """Unit shared by all terms of a sum, maximum, comparison or case distinction."""
    units = [(term, unit_of(term, declared)) for term in terms]
    known = [(term, unit) for term, unit in units if unit is not None]
    for term, unit in known[1:]:
        if unit is not known[0][1] and unit.dimensionality != known[0][1].dimensionality:
            raise DimensionError(
                f"{expr}: {known[0][0]} is in {known[0][1] or 'pure number'}, "
                f"{term} in {unit or 'pure number'}"
            )
    return known[0][1] if known else None


def _check_condition(condition, declared):
    for relation in condition.atoms(sp.core.relational.Relational):
        unit_of(relation, declared)
