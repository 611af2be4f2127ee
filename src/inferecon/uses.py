"""What a notebook uses of the package: modules, laws, symbols, distributions.

Found by reading code, not by running it.  A module counts without its docstrings and comments.
The modules of laws and symbols count by the laws that are reached from what the notebook
calls, so an edit of another law is none of the notebook's business.

A symbol is used where code names it, except as a key of a dictionary: that maps a symbol to a
unit or a value, and whoever reads it names the symbol himself.  A string in a notebook that is
the name of a symbol uses it, too.  `tests/test_keys.py` compares all this with what is read.
"""

import ast
import hashlib
import importlib
import importlib.metadata
import json
import sys
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import sympy as sp
from IPython.core.inputtransformer2 import TransformerManager

from . import symbols as s
from .law import Derivation, Law
from .laws import SERVICE

PACKAGE = Path(__file__).parent
NAME = __package__
LAWS, SYMBOLS = f"{NAME}.laws", f"{NAME}.symbols"
# The engine that runs notebooks, and what its warm process calls.
PARTS = ("engine", "engine.client", "engine_child.server", "engine_child.shell")
RUNS = tuple(f"{NAME}.{part}" for part in PARTS)


class Uses(NamedTuple):
    """Each part by name, with a hash or a version."""

    notebook: dict[str, str]
    module: dict[str, str]
    law: dict[str, str]
    symbol: dict[str, str]
    distribution: dict[str, str]


def sha(text: str | bytes) -> str:
    """Return the first 16 digits of a SHA-256."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()[:16]


def of(source: Path) -> Uses:
    """Return what a notebook uses."""
    return _of(source, source.stat().st_mtime_ns)


@lru_cache
def _of(source: Path, _modified: int) -> Uses:
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    shown = [[c["cell_type"], "".join(c["source"]), c["metadata"].get("tags")] for c in cells]
    trees = [code(cell) for kind, cell, _ in shown if kind == "code"]
    imported = [item for tree in trees for item in imports(tree, "__notebook__")]
    modules = closure({module for module, _ in imported} | set(RUNS))
    laws, symbols = mathematics(trees, modules)
    named = {top for module in modules for top in outside(tree_of(module))}
    named |= {top for tree in trees for top in outside(tree)}
    return Uses(
        notebook={f"notebooks/{source.name}": sha(json.dumps(shown))},
        module={name: module_hash(name) for name in sorted(modules)},
        law={law.id: law_hash(law) for law in sorted(laws, key=lambda law: law.id)},
        symbol={x.name: symbol_hash(x.name) for x in sorted(symbols, key=str)},
        distribution={name: version(name) for name in sorted(distributions(named))},
    )


def strings(source: Path) -> set[str]:
    """Return the strings in a notebook's code."""
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    trees = [code("".join(cell["source"])) for cell in cells if cell["cell_type"] == "code"]
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {node.value for node in nodes if isinstance(node.value, str)}


# Hashes by name, for this checkout -----------------------------------------------------------


@cache
def module_hash(name: str) -> str:
    """Hash of a module's code; a sentence changes nothing."""
    return sha(ast.dump(tree_of(name)))


@cache
def law_hash(law: Law) -> str:
    """Hash of a law's mathematics, not of its words."""
    return sha(f"{sp.srepr(law.eq)} {sp.srepr(law.holds)} {law.counts}")


@cache
def symbol_hash(name: str) -> str:
    """Hash of what a page shows of a symbol."""
    entry = s.GLOSSARY[s.SYMBOLS[name]]
    return sha(f"{entry.unit} {entry.latex} {entry.meaning}")


@cache
def version(distribution: str) -> str:
    """Version of a distribution here, which is the locked one."""
    if distribution == "python":
        return ".".join(map(str, sys.version_info[:2]))
    return importlib.metadata.version(distribution)


# Modules -------------------------------------------------------------------------------------


def code(cell: str) -> ast.Module:
    """Parse the source of a cell, magics included."""
    return ast.parse(TransformerManager().transform_cell(cell))


@cache
def file_of(module: str) -> Path | None:
    """Return the file of a module of the package; None if there is no such module."""
    if module.split(".")[0] != NAME:
        return None
    path = PACKAGE.joinpath(*module.split(".")[1:])
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None


@cache
def tree_of(module: str) -> ast.Module:
    """Parse a module of the package and drop its docstrings."""
    tree = ast.parse(file_of(module).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            first = body[0].value
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                del body[0]
    return tree


def imports(tree: ast.AST, module: str) -> list[tuple[str, str | None]]:
    """Return what code imports from the package: modules, with a name in them or None."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, None) for alias in node.names if file_of(alias.name)]
        elif isinstance(node, ast.ImportFrom):
            start = origin(node, module)
            for alias in node.names if file_of(start) else ():
                inner = f"{start}.{alias.name}"
                found.append((inner, None) if file_of(inner) else (start, alias.name))
    return found


def origin(node: ast.ImportFrom, module: str) -> str:
    """Return the full name of the module that a statement imports from."""
    if not node.level:
        return node.module
    file = file_of(module)
    package = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    base = package[: len(package) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def counted_by_law(module: str) -> bool:
    """Say whether a module holds laws or symbols, which count one by one."""
    return module == LAWS or module.startswith((f"{LAWS}.", f"{SYMBOLS}."))


def closure(roots: set[str]) -> frozenset[str]:
    """Return the modules that these import, and so on; those of laws and symbols left out."""
    found, open_ = set(), [m for m in roots if file_of(m)]
    while open_:
        module = open_.pop()
        if module not in found and not counted_by_law(module):
            found.add(module)
            open_ += [other for other, _ in imports(tree_of(module), module)]
    return frozenset(found)


def outside(tree: ast.AST) -> set[str]:
    """Return the names of other packages that code imports."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module.partition(".")[0])
    return names - sys.stdlib_module_names - {NAME}


@cache
def _installed() -> tuple[tuple[importlib.metadata.Distribution, str], ...]:
    """Return all distributions with the list of their files (the library's own takes a second)."""
    found = importlib.metadata.distributions()
    return tuple((one, "\n" + (one.read_text("RECORD") or "")) for one in found)


@cache
def owner(package: str) -> str | None:
    """Return the distribution that a package is imported from."""
    places = (f"\n{package}/", f"\n{package}.")
    for one, files in _installed():
        if any(place in files for place in places):
            return one.name
    return None


def distributions(packages: set[str]) -> set[str]:
    """Return the distributions of packages that are imported by name; Python is one."""
    return {"python"} | {found for name in packages if (found := owner(name))}


# Laws and symbols ----------------------------------------------------------------------------


def mathematics(trees: list[ast.Module], modules: frozenset[str]) -> tuple[set, set]:
    """Return the laws that a notebook's code reaches, with those they rest on, and all symbols."""
    laws, read = set(), set()
    for tree in trees:
        for node in ast.walk(tree):  # case.worked("itl")
            if isinstance(node, ast.Constant) and node.value in s.SYMBOLS:
                read.add(s.SYMBOLS[node.value])
    seen, open_ = set(), [item for tree in trees for item in imports(tree, "__notebook__")]
    while open_:
        module, name = item = open_.pop()
        if item in seen or name is None:
            continue
        seen.add(item)
        if counted_by_law(module):
            laws |= _laws_in(getattr(importlib.import_module(module), name))
            continue
        for statement in _definitions(module).get(name, ()):
            read |= {s.SYMBOLS[x] for x in _named(statement, module) if x in s.SYMBOLS}
            open_ += _mentioned(statement, module)
    read |= {x for law in laws for x in law.needs}
    laws |= set(SERVICE.part(*read).laws.values())
    return laws, read | {x for law in laws for x in law.needs} | {law.symbol for law in laws}


def _laws_in(found) -> set[Law]:
    """Return the laws an imported object is; a system is used by the symbols read from it."""
    if isinstance(found, Law):
        return {found}
    if isinstance(found, Derivation):
        return {law for used in found.by if isinstance(used, tuple) for law in used}
    return {law for law in found if isinstance(law, Law)} if isinstance(found, list) else set()


@cache
def _definitions(module: str) -> dict[str, list[ast.stmt]]:
    """Return the statements of a module that bind each name."""
    found: dict[str, list[ast.stmt]] = {}
    for statement in tree_of(module).body:
        names = [getattr(statement, "name", None)]
        if isinstance(statement, ast.Import | ast.ImportFrom):
            names = [alias.asname or alias.name for alias in statement.names]
        elif not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            bound = (n for n in ast.walk(statement) if isinstance(n, ast.Name))
            names = [n.id for n in bound if isinstance(n.ctx, ast.Store)]
        for name in names:
            found.setdefault(name, []).append(statement)
    return found


@cache
def _modules_named(module: str) -> dict[str, str]:
    """Return the modules of the package by the names they have in a module."""
    found = {}
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ImportFrom):
            start = origin(node, module)
            for alias in node.names:
                if file_of(f"{start}.{alias.name}"):
                    found[alias.asname or alias.name] = f"{start}.{alias.name}"
    return found


def _named(statement: ast.stmt, module: str) -> set[str]:
    """Return the names of symbols in a statement, keys of dictionaries apart."""
    keys = {
        id(key) for node in ast.walk(statement) if isinstance(node, ast.Dict) for key in node.keys
    }
    known = _modules_named(module)
    return {
        node.attr
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and known.get(node.value.id) == SYMBOLS
        and id(node) not in keys
    }


def _mentioned(statement: ast.stmt, module: str) -> list[tuple[str, str | None]]:
    """Return the definitions that a statement mentions, here or in another module."""
    if isinstance(statement, ast.ImportFrom):
        return imports(statement, module)
    known = _modules_named(module)
    found = imports(statement, module)
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            found.append((module, node.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (other := known.get(node.value.id)) and other != SYMBOLS:
                found.append((other, node.attr))
    return found
