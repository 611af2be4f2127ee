"""A Law, and the Derivation that proves one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter

import numpy as np
import sympy as sp

from ..compiled import compiled
from ..stored import NotStorable, expression, kept, tree
from ..symbols import GLOSSARY
from ..units import ONE, DimensionError, unit_of, ureg


def Eq(left: sp.Basic, right: sp.Basic) -> sp.Eq:  # stands for SymPy's class
    """An equation as written: SymPy would spend a second trying to decide all of ours."""
    return sp.Eq(left, right, evaluate=False)


def Max(*terms: sp.Basic) -> sp.Max:  # stands for SymPy's class
    """A maximum as written: SymPy would compare each term with each, and decide none of ours."""
    return sp.Max(*terms, evaluate=False)


def Min(*terms: sp.Basic) -> sp.Min:  # stands for SymPy's class
    """A minimum as written, as ``Max``."""
    return sp.Min(*terms, evaluate=False)


def declared_unit(symbol: sp.Symbol):
    return GLOSSARY[symbol].unit


def latex(expr: sp.Basic) -> str:
    """LaTeX with the report's own letters."""
    names = {symbol: GLOSSARY[symbol].latex for symbol in expr.free_symbols if symbol in GLOSSARY}
    return sp.latex(expr, symbol_names=names, mul_symbol=r"\,")


NAME = attrgetter("name")  # to sort symbols, which are slow to print
WIDE = 130  # letters of LaTeX beyond which an equation is set one term a line


def display(eq: sp.Eq, latex=latex) -> str:
    """LaTeX of an equation for a line of its own; a long sum takes one line a term.

    ``latex`` writes each part: with the report's letters, or with numbers in their place.
    """
    whole = latex(eq)
    terms, before, after = eq.rhs, "", ""
    if eq.rhs.is_Mul:
        sums = [factor for factor in eq.rhs.args if factor.is_Add]
        if len(sums) == 1:
            terms = sums[0]
            before, after = latex(eq.rhs / terms) + r"\,\Bigl(", r"\Bigr)"
    if len(whole) <= WIDE or not terms.is_Add or len(latex(terms)) < WIDE / 2:
        return whole
    first, *others = (latex(term) for term in terms.as_ordered_terms())
    lines = [rf"{latex(eq.lhs)} ={{}} & {before}{first}"]
    lines += [rf"& {'' if term.startswith('-') else '+ '}{term}" for term in others]
    return r"\begin{aligned}" + r"\\ ".join(lines) + after + r"\end{aligned}"


class OutOfRegime(ValueError):
    """A law was evaluated where its ``holds`` condition is false."""


@dataclass(frozen=True)
class Law:
    """``symbol = expression``: what it says, where it comes from, where it holds.

    ``counts`` marks a counting law: its right side is a pure number, and that
    number counts things of the given unit (``"elem"``, ``"elem/token"``).
    """

    id: str
    eq: sp.Eq
    says: str
    source: str
    holds: sp.Basic = sp.true
    counts: str = ""

    def __post_init__(self):
        if self.eq.atoms(sp.Float):
            raise ValueError(f"{self.eq}: a measured number belongs in data/, not in a law")
        check_dimensions(self.eq, self.counts)
        for relation in self.holds.atoms(sp.core.relational.Relational):
            unit_of(relation, declared_unit)

    @property
    def symbol(self) -> sp.Symbol:
        return self.eq.lhs

    @cached_property
    def needs(self) -> frozenset[sp.Symbol]:
        return frozenset(self.eq.rhs.free_symbols | self.holds.free_symbols)

    @cached_property
    def _inputs(self) -> list[sp.Symbol]:
        return sorted(self.needs, key=NAME)

    @cached_property
    def _function(self):
        return compiled(self._inputs, [self.eq.rhs, self.holds])

    def __call__(self, given: dict[sp.Symbol, float]):
        """Value in base units.  Raises OutOfRegime where the law does not hold."""
        arguments = [np.float64(given[s]) for s in self._inputs]
        with np.errstate(all="ignore"):  # 0/0 of an absent part is cut off by its Piecewise
            value, holds = self._function(*arguments)
        if not np.all(holds):
            raise OutOfRegime(f"{self.symbol} needs {self.holds}")
        return value

    def _repr_latex_(self) -> str:
        return f"$${display(self.eq)}$$"


def check_dimensions(eq: sp.Eq, counts: str = "") -> None:
    """Raise DimensionError unless both sides agree (a counting law counts its unit)."""
    if not counts:
        unit_of(eq, declared_unit)
        return
    right = unit_of(eq.rhs, declared_unit) or ONE
    if right.dimensionality:
        raise DimensionError(f"{eq.lhs} counts {counts}, but {eq.rhs} is in {right}")
    if ureg.Unit(counts).dimensionality != declared_unit(eq.lhs).dimensionality:
        raise DimensionError(f"{eq.lhs} is in {declared_unit(eq.lhs)}, not in {counts}")


@dataclass(frozen=True)
class Derivation:
    """A chain of equations, each made from the one before and checked as it is made.

    ``by`` has for each step the laws it used, or the rule of algebra in a word.
    """

    steps: tuple[tuple[sp.Eq, str], ...]
    holds: sp.Basic = sp.true
    counts: str = ""
    by: tuple[tuple[Law, ...] | str, ...] = ()

    @classmethod
    def begin(
        cls, eq: sp.Eq, why: str, counts: str = "", laws: tuple = (), holds=sp.true
    ) -> Derivation:
        """Start from an equation; ``laws`` names those that it is a case of."""
        return cls((), counts=counts)._then(eq, why, holds, by=laws or "premise")

    @property
    def eq(self) -> sp.Eq:
        return self.steps[-1][0]

    def use(self, law: Law) -> Derivation:
        """Put the right side of ``law`` in place of its symbol."""
        return self._then(self._with({law.symbol: law.eq.rhs}), law.says, law.holds, by=(law,))

    def when(self, condition: sp.Ge, why: str) -> Derivation:
        """Take the larger branch of a maximum, and remember the condition."""
        larger, smaller = condition.lhs, condition.rhs
        return self._then(self._with({sp.Max(larger, smaller): larger}), why, condition, by="case")

    def put(self, values: dict[sp.Symbol, sp.Basic], why: str, *laws: Law) -> Derivation:
        """Set symbols to a special case: one card, batch one, heads equal to KV heads.

        ``laws`` names those whose special case it is.
        """
        return self._then(self._with(values), why, by=laws or "substitution")

    def neglect(self, symbol: sp.Symbol, why: str) -> Derivation:
        """Set ``symbol`` to zero: an approximation, so ``why`` must defend it."""
        return self._then(self._with({symbol: 0}), why, by="approximation")

    def solve_for(self, symbol: sp.Symbol, why: str) -> Derivation:
        return self._then(Eq(symbol, solution(self.eq, symbol)), why, by="solved")

    def rewrite(self, rhs: sp.Expr, why: str) -> Derivation:
        """Restate the right side by hand; SymPy must agree that it is the same."""
        if not equal(self.eq.rhs, rhs):
            raise ValueError(f"{rhs} is not {self.eq.rhs}")
        return self._then(Eq(self.eq.lhs, rhs), why, restated=True)

    def law(self, id: str, says: str, name: sp.Symbol | None = None) -> Law:
        """Close the chain; ``name`` renames the left side."""
        eq = Eq(name or self.eq.lhs, self.eq.rhs)
        return Law(id, eq, says, "derived", self.holds, self.counts)

    def _with(self, values):
        """Substitute on each side alone: SymPy would try to decide the equation."""
        left, right = self.eq.lhs.xreplace(values), self.eq.rhs.xreplace(values)
        return sp.true if left == right else Eq(left, right)

    def _then(self, eq, why, holds=sp.true, restated=False, by="restated") -> Derivation:
        if not isinstance(eq, sp.Eq):
            raise ValueError(f"step leaves no equation ({eq}): {why}")
        if self.steps and eq == self.eq and not restated:
            raise ValueError(f"step changes nothing: {why}")
        check_dimensions(eq, self.counts)
        steps, by = (*self.steps, (eq, why)), (*self.by, by)
        return replace(self, steps=steps, by=by, holds=sp.And(self.holds, holds))

    def _repr_latex_(self) -> str:
        rows = (rf"{latex(eq.lhs)} &= {latex(eq.rhs)} && \text{{{why}}}" for eq, why in self.steps)
        return r"$$\begin{aligned}" + r"\\[4pt] ".join(rows) + r"\end{aligned}$$"


def equal(left: sp.Expr, right: sp.Expr) -> bool:
    """Say whether two expressions are one, proved once on a machine."""

    def proved() -> bool:
        gap = left - right
        return sp.expand(sp.numer(sp.together(gap))) == 0 or sp.simplify(gap) == 0

    try:
        question = ["equal", tree(left), tree(right)]
    except NotStorable:
        return proved()
    return kept(question, proved)


def solution(eq: sp.Eq, symbol: sp.Symbol) -> sp.Expr:
    """Return the one solution, found once on a machine."""
    try:
        question = ["solution", tree(eq.lhs), tree(eq.rhs), tree(symbol)]
        return expression(kept(question, lambda: tree(solved(eq, symbol))))
    except NotStorable:
        return solved(eq, symbol)


def solved(eq: sp.Eq, symbol: sp.Symbol) -> sp.Expr:
    """Return the one solution; nearly all equations are linear, which takes no search."""
    gap = eq.lhs - eq.rhs
    slope = gap.diff(symbol)
    if symbol not in slope.free_symbols:  # cheaper than one denominator, and most are so
        rest = gap.xreplace({symbol: sp.Integer(0)})
    else:
        top = sp.numer(sp.together(gap))
        if not (top.is_polynomial(symbol) and sp.degree(top, symbol) == 1):
            (found,) = sp.solve(eq, symbol)
            return found
        slope, rest = sp.Poly(top, symbol).all_coeffs()
    sign, value = sp.factor(-rest / slope).as_coeff_Mul()
    return _turned(sign, value) if sign < 0 else sign * value


def _turned(sign: sp.Expr, value: sp.Expr) -> sp.Expr:
    """Write -(a - b) as b - a, in the factor where that takes the fewest minuses."""
    factors = list(sp.Mul.make_args(value))

    def price(i):
        return _minuses(-factors[i]) - _minuses(factors[i]), factors[i].is_Pow

    for i in sorted(range(len(factors)), key=price):
        base, power = factors[i].as_base_exp()
        if base.is_Add and power in (1, -1):
            factors[i] = (-base) ** power
            return -sign * sp.Mul(*factors)
    return sign * value


def _minuses(factor: sp.Expr) -> int:
    """Count terms with a minus in a sum, or in the sum that it is one over."""
    terms = sp.Add.make_args(factor if factor.is_Add else 1 / factor)
    return sum(term.could_extract_minus_sign() for term in terms)
