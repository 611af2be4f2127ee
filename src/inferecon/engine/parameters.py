"""Check parameters against the cell of a notebook that declares them, before anything runs.

papermill itself only warns about a parameter that a notebook does not have.
"""

import ast
import difflib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import nbformat
import papermill


class UnknownParameter(KeyError):
    """A notebook does not declare a parameter."""

    def __str__(self) -> str:
        return self.args[0]


class ParameterTypeError(TypeError):
    """A value is not of its parameter's type."""


def check_parameters(source: Path, parameters: Mapping[str, object]) -> dict[str, object]:
    """Return the parameters in the order of their declaration; raise if one does not fit."""
    declared = declared_types(source, source.stat().st_mtime_ns)
    for name, value in parameters.items():
        if name not in declared:
            near = difflib.get_close_matches(name, declared, n=1, cutoff=0)
            hint = f"; the nearest it declares is {near[0]!r}" if near else ""
            raise UnknownParameter(f"{source.name} has no parameter {name!r}{hint}")
        wanted, given = declared[name], type(value)
        if wanted not in (given, type(None)) and (wanted, given) != (float, int):
            raise ParameterTypeError(
                f"{source.name}: parameter {name!r} is {wanted.__name__}, "
                f"but {value!r} is {given.__name__}"
            )
    return {name: parameters[name] for name in declared if name in parameters}


@lru_cache
def declared_types(source: Path, _modified: int) -> dict[str, type]:
    """Return the type of each parameter's default; NoneType where the default is None.

    The names are those papermill sees.  A whole-number default annotated as float is a float.
    """
    names = papermill.inspect_notebook(source)
    cells = nbformat.read(source, as_version=4).cells
    code = next((c.source for c in cells if "parameters" in c.metadata.get("tags", [])), "")
    types = {}
    for line in ast.parse(code).body:
        if not isinstance(line, ast.Assign | ast.AnnAssign):
            continue
        name = ast.unparse(line.targets[0] if isinstance(line, ast.Assign) else line.target)
        if name not in names:
            continue
        try:
            types[name] = type(ast.literal_eval(line.value))
        except ValueError:
            raise ParameterTypeError(
                f"{source.name}: the default of parameter {name!r} must be a literal"
            ) from None
        if isinstance(line, ast.AnnAssign) and ast.unparse(line.annotation) == "float":
            types[name] = float
    return types
