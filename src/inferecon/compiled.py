"""From equations to one NumPy function: straight-line source in which nothing is computed twice.

SymPy's own printer takes a quarter of a second for the laws of a scenario, orders every sum,
and computes a case distinction by a call that is made for large arrays.  What an equation is
written with here is what the laws use; anything else is refused.
"""

import keyword
from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
import sympy as sp
from sympy.core.relational import Relational

FUNCTIONS = {
    sp.Max: "maximum",
    sp.Min: "minimum",
    sp.ceiling: "ceil",
    sp.floor: "floor",
    sp.log: "log",
    sp.exp: "exp",
    sp.Abs: "abs",
    sp.And: "logical_and",
    sp.Or: "logical_or",
    sp.Not: "logical_not",
}
CONSTANTS = {
    sp.true: "True",
    sp.false: "False",
    sp.nan: "np.nan",
    sp.oo: "np.inf",
    sp.pi: "np.pi",
    sp.E: "np.e",
}


def compiled(
    inputs: list[sp.Symbol],
    results: Iterable[sp.Basic],
    chain: Iterable[tuple[sp.Symbol, sp.Basic]] = (),
) -> Callable:
    """Return a function of scalars or arrays that gives a list with the value of each result.

    ``chain`` defines, in order, symbols that later expressions and the results may use.
    Where no case of a distinction holds the value is NaN.  Raises TypeError for a kind of
    expression that no law has.
    """
    source = written(inputs, list(results), list(chain))
    names: dict[str, Callable] = {"np": np}
    exec(compile(source, "<laws>", "exec"), names)  # our own text: names and NumPy's functions
    return names["laws"]


def written(
    inputs: list[sp.Symbol], results: list[sp.Basic], chain: list[tuple[sp.Symbol, sp.Basic]]
) -> str:
    """Return the source of a function ``laws`` of the inputs."""
    writer = Writer([expr for _, expr in chain] + results)
    arguments = ", ".join(writer.named(symbol) for symbol in inputs)
    for symbol, expr in chain:
        text = writer.text(expr)
        writer.lines.append(f"{writer.named(symbol)} = {text}")
    listed = ", ".join(writer.text(expr) for expr in results)
    body = "\n    ".join([*writer.lines, f"return [{listed}]"])
    return f"def laws({arguments}):\n    {body}\n"


class Writer:
    """Writes expressions; what occurs twice is computed once, in a line before."""

    def __init__(self, exprs: list[sp.Basic]):
        self.lines: list[str] = []
        self.names: dict[sp.Basic, str] = {}
        self.taken = {"np", "laws"}
        self.uses: Counter[sp.Basic] = Counter()
        for expr in exprs:
            self._count(expr)

    def _count(self, expr: sp.Basic) -> None:
        self.uses[expr] += 1
        if self.uses[expr] == 1:
            for arg in expr.args:
                self._count(arg)

    def named(self, symbol: sp.Symbol) -> str:
        """Give a symbol a name of its own, its own name if Python can read that."""
        name = symbol.name
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            name = f"symbol_{len(self.taken)}"
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        self.names[symbol] = name
        return name

    def text(self, expr: sp.Basic) -> str:
        """Return an expression as an operand; add the lines that it needs first."""
        if expr in self.names:
            return self.names[expr]
        if expr in CONSTANTS:
            return CONSTANTS[expr]
        if expr.is_Rational:
            return f"({expr.p})" if expr.q == 1 else f"({expr.p / expr.q!r})"
        text = self._operation(expr)
        if self.uses[expr] < 2:
            return text
        name = self.names[expr] = f"_{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def _operation(self, expr: sp.Basic) -> str:
        if expr.is_Add:
            return f"({' + '.join(self.text(arg) for arg in expr.args)})"
        if expr.is_Mul:
            return self._product(expr)
        if expr.is_Pow:
            return self._power(*expr.as_base_exp())
        if isinstance(expr, sp.Piecewise):
            return self._cases(expr)
        if isinstance(expr, Relational):
            left, right = (self.text(side) for side in expr.args)
            return f"({left} {expr.rel_op} {right})"
        try:
            function = FUNCTIONS[expr.func]
        except KeyError:
            raise TypeError(f"{expr.func} cannot be compiled: {expr}") from None
        first, *others = (self.text(arg) for arg in expr.args)
        text = f"np.{function}({first})" if not others else first
        for other in others:
            text = f"np.{function}({text}, {other})"
        return text

    def _product(self, expr: sp.Mul) -> str:
        above, below = [], []
        for factor in expr.args:
            base, power = factor.as_base_exp() if factor.is_Pow else (factor, sp.S.One)
            if power.is_Rational and power < 0 and factor not in self.names:
                below.append(self._power(base, -power))
            else:
                above.append(self.text(factor))
        top = " * ".join(above) or "1"
        return f"({top} / ({' * '.join(below)}))" if below else f"({top})"

    def _power(self, base: sp.Basic, power: sp.Basic) -> str:
        if power is sp.S.One:
            return self.text(base)
        if power is sp.S.Half:
            return f"np.sqrt({self.text(base)})"
        if power is sp.S.NegativeOne:
            return f"(1 / {self.text(base)})"
        return f"({self.text(base)} ** {self.text(power)})"

    def _cases(self, expr: sp.Piecewise) -> str:
        *cases, last = expr.args
        if last.cond is sp.true:
            text = self.text(last.expr)
        else:
            cases, text = expr.args, "np.nan"
        for value, condition in reversed(cases):
            # [()] makes a scalar of an array without dimensions
            text = f"np.where({self.text(condition)}, {self.text(value)}, {text})[()]"
        return text
