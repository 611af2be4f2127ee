"""Evaluate the expressions of ``data/claims/``: a small language, nothing of Python's beyond it.

Numbers, ``+ - * / **``, comparisons, ``and``/``or``/``not``, and calls of the
functions that the caller names.  Text stands only as an argument of a call or
in a comparison.  Everything else is refused by name.
"""

import ast
import math
import operator

import sympy as sp

from ..errors import BadInput

LONGEST = 2000  # characters
LARGEST_POWER = 400  # beyond it a double overflows or is zero
MATHS = {
    "abs": abs,
    "min": min,
    "max": max,
    "round": round,
    "log": math.log,
    "ceil": math.ceil,
    "floor": math.floor,
}
BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
COMPARISONS = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def evaluate(text: str, functions: dict, names: dict | None = None):
    """Return the value of an expression.  Raises BadInput for anything outside the language."""
    tree = parsed(text)
    try:
        return _value(tree.body, {**MATHS, **functions}, names or {})
    except BadInput as error:
        raise BadInput(f"{text!r}: {error}") from error
    except (ArithmeticError, TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"{text!r} cannot be computed: {error}") from error


def calls(text: str) -> set[str]:
    """Return the names of all functions that an expression calls."""
    nodes = ast.walk(parsed(text))
    return {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}


def parsed(text: str) -> ast.Expression:
    if len(text) > LONGEST:
        raise BadInput(f"an expression of {len(text):,} characters; at most {LONGEST:,}")
    try:
        return ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadInput(f"{text[:80]!r} is not an expression") from error


def _value(node: ast.AST, functions: dict, names: dict):
    match node:
        case ast.Constant(value=bool() | str()):
            return node.value
        case ast.Constant(value=int() | float()):
            return float(node.value)
        case ast.Name() if node.id in names:
            return names[node.id]
        case ast.UnaryOp(op=ast.USub()):
            return -_number(node.operand, functions, names)
        case ast.UnaryOp(op=ast.Not()):
            return not _truth(node.operand, functions, names)
        case ast.BinOp() if type(node.op) in BINARY:
            left = _number(node.left, functions, names)
            right = _number(node.right, functions, names)
            if isinstance(node.op, ast.Pow) and not abs(float(right)) <= LARGEST_POWER:
                raise BadInput(f"an exponent beyond {LARGEST_POWER}")
            return BINARY[type(node.op)](left, right)
        case ast.BoolOp():
            values = [_truth(part, functions, names) for part in node.values]
            return all(values) if isinstance(node.op, ast.And) else any(values)
        case ast.Compare() if all(type(op) in COMPARISONS for op in node.ops):
            sides = [_value(part, functions, names) for part in (node.left, *node.comparators)]
            pairs = zip(node.ops, sides, sides[1:], strict=False)
            return all(COMPARISONS[type(op)](a, b) for op, a, b in pairs)
        case ast.Call(func=ast.Name(id=name)) if name in functions:
            if any(keyword.arg is None for keyword in node.keywords):
                raise BadInput("** is not allowed in a call")
            arguments = [_value(part, functions, names) for part in node.args]
            named = {k.arg: _value(k.value, functions, names) for k in node.keywords}
            return functions[name](*arguments, **named)
    raise BadInput(f"{ast.unparse(node)} is not allowed; known: {', '.join(sorted(functions))}")


def _number(node: ast.AST, functions: dict, names: dict):
    value = _value(node, functions, names)
    if isinstance(value, (bool, str)) or not isinstance(value, (int, float, sp.Expr)):
        raise BadInput(f"{ast.unparse(node)} is no number")
    return value


def _truth(node: ast.AST, functions: dict, names: dict) -> bool:
    value = _value(node, functions, names)
    if not isinstance(value, bool):
        raise BadInput(f"{ast.unparse(node)} is neither true nor false")
    return value
