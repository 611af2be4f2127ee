"""Answers of algebra that are kept on disk, so that the next import need not ask SymPy again.

One small JSON file holds one answer, under the hash of its question: the expression itself, the
version of SymPy and the source of the modules that ask and answer.  Nothing in a file is
executed.  A file that is damaged or cannot be written costs the time of the answer, no more.

INFERECON_CACHE names another folder; empty, it turns the store off.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import sympy as sp

from .symbols import SYMBOLS

KINDS = {
    kind.__name__: kind
    for kind in (sp.Add, sp.Mul, sp.Pow, sp.Max, sp.Min, sp.log, sp.exp, sp.ceiling, sp.floor)
}
SOURCES = ("law/equations.py", "stored.py")  # what the answers depend on beside SymPy


class NotStorable(ValueError):
    """An expression has a part that the store has no form for."""


def kept(question: list, answer: Callable[[], Any]) -> Any:
    """Return the answer to a question, both as JSON; compute it if it is not on file."""
    asked = json.dumps([version(), *question])
    if (file := folder()) is None:
        return answer()
    file /= f"{digest(asked)}.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(file.read_text(encoding="utf-8"))
        if found["check"] == digest(asked + json.dumps(found["answer"])):
            return found["answer"]
    new = answer()
    check = digest(asked + json.dumps(new))
    with suppress(OSError):
        write(file, json.dumps({"asked": asked, "answer": new, "check": check}))
    return new


def write(file: Path, text: str) -> None:
    """Write a file whole or not at all, whoever else is writing it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor, partial = tempfile.mkstemp(dir=file.parent, suffix=".part")
    try:
        with open(descriptor, "w", encoding="utf-8") as out:
            out.write(text)
        os.replace(partial, file)
    except OSError:
        Path(partial).unlink(missing_ok=True)
        raise


def folder() -> Path | None:
    """Return the folder of the store; None if it is turned off or the machine has no place."""
    named = os.environ.get("INFERECON_CACHE")
    if named is not None:
        return Path(named) / "algebra" if named else None
    return _usual()


@cache
def _usual() -> Path | None:
    from platformdirs import user_cache_path

    try:
        return user_cache_path("inferecon") / "algebra"
    except (OSError, RuntimeError):  # a user without a home
        return None


@cache
def version() -> str:
    """Return the fingerprint of everything but the question that an answer depends on."""
    here = Path(__file__).parent
    return digest(sp.__version__ + "".join((here / name).read_text() for name in SOURCES))


@cache
def code() -> str:
    """Return the fingerprint of all modules, for answers that rest on many of them."""
    here = Path(__file__).parent
    return digest("".join(path.read_text("utf-8") for path in sorted(here.rglob("*.py"))))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def tree(expr: sp.Basic) -> Any:
    """Return an expression over declared symbols as JSON; raise NotStorable for any other."""
    if expr.is_Symbol and SYMBOLS.get(expr.name) == expr:
        return expr.name
    if expr.is_Integer:
        return int(expr)
    if expr.is_Rational:
        return ["/", int(expr.p), int(expr.q)]
    if KINDS.get(expr.func.__name__) is not expr.func:
        raise NotStorable(expr.func.__name__)
    return [expr.func.__name__, *map(tree, expr.args)]


def expression(stored: Any) -> sp.Expr:
    """Return the expression that a tree is of, part by part as it was; nothing is simplified."""
    if isinstance(stored, str):
        return SYMBOLS[stored]
    if isinstance(stored, int):
        return sp.Integer(stored)
    kind, *args = stored
    if kind == "/":
        return sp.Rational(*args)
    return KINDS[kind](*map(expression, args), evaluate=False)
