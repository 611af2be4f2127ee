"""From equations to one function in NumPy or JavaScript: straight lines, nothing computed twice.

SymPy's own printers take a quarter of a second for the laws of a scenario, order every sum,
and compute a case distinction by a call that is made for large arrays.  What an equation is
written with here is what the laws use; anything else is refused.  Both languages get the same
lines in the same order, so they agree to the last bits of a power or a logarithm.
"""

import keyword
from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
import sympy as sp
from sympy.core.relational import Relational

PYTHON, JAVASCRIPT = 0, 1
# What an equation may be made of, in both languages; a function of two takes more by pairs.
FORMS: dict[object, tuple[str, str]] = {
    sp.Max: ("np.maximum({}, {})", "Math.max({}, {})"),
    sp.Min: ("np.minimum({}, {})", "Math.min({}, {})"),
    sp.ceiling: ("np.ceil({})", "Math.ceil({})"),
    sp.floor: ("np.floor({})", "Math.floor({})"),
    sp.log: ("np.log({})", "Math.log({})"),
    sp.exp: ("np.exp({})", "Math.exp({})"),
    sp.Abs: ("np.abs({})", "Math.abs({})"),
    sp.sqrt: ("np.sqrt({})", "Math.sqrt({})"),
    sp.And: ("np.logical_and({}, {})", "({} && {})"),
    sp.Or: ("np.logical_or({}, {})", "({} || {})"),
    sp.Not: ("np.logical_not({})", "!({})"),
    sp.Eq: ("({} == {})", "({} === {})"),
    sp.Ne: ("({} != {})", "({} !== {})"),
    # [()] makes a scalar of an array without dimensions
    sp.Piecewise: ("np.where({}, {}, {})[()]", "({} ? {} : {})"),
    sp.true: ("True", "true"),
    sp.false: ("False", "false"),
    sp.nan: ("np.nan", "NaN"),
    sp.oo: ("np.inf", "Infinity"),
    sp.pi: ("np.pi", "Math.PI"),
    sp.E: ("np.e", "Math.E"),
}
LINE = ("{} = {}", "const {} = {};")
# Words that a name must not be, in either language, so that both have the same names.
TAKEN = {*keyword.kwlist, "np", "laws", "Math", "NaN", "Infinity", "undefined", "arguments", "eval"}
TAKEN |= set(
    "await break case catch class const continue debugger default delete do else enum export "
    "extends false finally for function if implements import in instanceof interface let new null "
    "package private protected public return static super switch this throw true try typeof var "
    "void while with yield".split()
)
Chain = Iterable[tuple[sp.Symbol, sp.Basic]]


def compiled(inputs: list[sp.Symbol], results: Iterable[sp.Basic], chain: Chain = ()) -> Callable:
    """Return a function of scalars or arrays that gives a list with the value of each result.

    ``chain`` defines, in order, symbols that later expressions and the results may use.
    Where no case of a distinction holds the value is NaN.  Raises TypeError for a kind of
    expression that no law has.
    """
    writer = Writer(PYTHON, inputs, list(results), list(chain))
    body = "\n    ".join([*writer.lines, f"return [{', '.join(writer.results)}]"])
    source = f"def laws({', '.join(writer.inputs)}):\n    {body}\n"
    names: dict[str, Callable] = {"np": np}
    exec(compile(source, "<laws>", "exec"), names)  # our own text: names and NumPy's functions
    return names["laws"]


def javascript(
    name: str, inputs: list[sp.Symbol], results: list[sp.Symbol], chain: Chain = ()
) -> str:
    """Return an exported function of one object with a number for each input, by its name.

    It gives an object with each result; an input that is not there is NaN, as a missing fact
    is.  Raises TypeError where ``compiled`` does.
    """
    writer = Writer(JAVASCRIPT, inputs, list(results), list(chain))
    taken = ", ".join(
        f"{x.name}: {own} = NaN" for x, own in zip(inputs, writer.inputs, strict=True)
    )
    given = ", ".join(f"{x.name}: {own}" for x, own in zip(results, writer.results, strict=True))
    body = "\n  ".join([*writer.lines, f"return {{{given}}};"])
    return f"export function {name}({{{taken}}}) {{\n  {body}\n}}\n"


class Writer:
    """Writes expressions in one language; what occurs twice is computed once, in a line before."""

    def __init__(
        self,
        language: int,
        inputs: list[sp.Symbol],
        results: list[sp.Basic],
        chain: list[tuple[sp.Symbol, sp.Basic]],
    ):
        self.language = language
        self.lines: list[str] = []
        self.names: dict[sp.Basic, str] = {}
        self.taken = set(TAKEN)
        self.uses: Counter[sp.Basic] = Counter()
        for expr in [*(expr for _, expr in chain), *results]:
            self._count(expr)
        self.inputs = [self.named(symbol) for symbol in inputs]
        for symbol, expr in chain:
            text = self.text(expr)
            self._line(self.named(symbol), text)
        self.results = [self.text(expr) for expr in results]

    def _count(self, expr: sp.Basic) -> None:
        self.uses[expr] += 1
        if self.uses[expr] == 1:
            for arg in expr.args:
                self._count(arg)

    def _line(self, name: str, text: str) -> None:
        self.lines.append(LINE[self.language].format(name, text))

    def named(self, symbol: sp.Symbol) -> str:
        """Give a symbol a name of its own, its own name if both languages can read that."""
        name = symbol.name
        if not (name.isascii() and name.isidentifier()) or name.startswith("_"):
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
        if expr.is_Atom and expr in FORMS:
            return self._form(expr)
        if expr.is_Rational:
            return f"({expr.p})" if expr.q == 1 else f"({expr.p / expr.q!r})"
        text = self._operation(expr)
        if self.uses[expr] < 2:
            return text
        name = self.names[expr] = f"_{len(self.lines)}"
        self._line(name, text)
        return name

    def _form(self, kind: object, *operands: str) -> str:
        return FORMS[kind][self.language].format(*operands)

    def _operation(self, expr: sp.Basic) -> str:
        if expr.is_Add:
            return f"({' + '.join(self.text(arg) for arg in expr.args)})"
        if expr.is_Mul:
            return self._product(expr)
        if expr.is_Pow:
            return self._power(*expr.as_base_exp())
        if isinstance(expr, sp.Piecewise):
            return self._cases(expr)
        if isinstance(expr, Relational) and expr.func not in FORMS:
            left, right = (self.text(side) for side in expr.args)
            return f"({left} {expr.rel_op} {right})"
        if expr.func not in FORMS:
            raise TypeError(f"{expr.func} cannot be compiled: {expr}")
        first, *others = (self.text(arg) for arg in expr.args)
        if not others:
            return self._form(expr.func, first)
        for other in others:
            first = self._form(expr.func, first, other)
        return first

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
            return self._form(sp.sqrt, self.text(base))
        if power is sp.S.NegativeOne:
            return f"(1 / {self.text(base)})"
        return f"({self.text(base)} ** {self.text(power)})"

    def _cases(self, expr: sp.Piecewise) -> str:
        *cases, last = expr.args
        if last.cond is sp.true:
            text = self.text(last.expr)
        else:
            cases, text = expr.args, self._form(sp.nan)
        for value, condition in reversed(cases):
            text = self._form(sp.Piecewise, self.text(condition), self.text(value), text)
        return text
