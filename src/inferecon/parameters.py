"""Parameters given on the command line, checked before anything runs."""

import ast
import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import nbformat
from nbformat import ValidationError

from . import checks
from .engine import ParameterTypeError, UnknownParameter, check_parameters
from .errors import BadInput
from .scenario import Scenario, opened, whole

GRIDS = {"batches", "contexts"}
# What a notebook declares says what it asks, and who can tell whether that can be asked.
CHECKS: dict[frozenset[str], Callable[[dict[str, object]], object]] = {
    frozenset({"modes", "budget", "formats"}): checks.plan,
    frozenset({"policies", "drawn"}): checks.serving,
    frozenset({"arrangements", "tight"}): checks.disaggregation,
    frozenset({"tried", "log"}): checks.improvement,
    frozenset({"tiers", "uses"}): checks.tiers,
    frozenset({"stated", "shares", "rps"}): checks.costs,
}


def parse(pairs: list[str]) -> dict[str, object]:
    """Read NAME=VALUE pairs; a value that is JSON is taken as such, any other as text."""
    found: dict[str, object] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"-p {pair}: write NAME=VALUE")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        whole_number = isinstance(value, float) and value.is_integer()
        found[name.strip()] = int(value) if whole_number else value  # 1e3 is a count, too
    return found


def checked_target(target: Path, source: Path, templates: Path) -> Path:
    """Return where to write, refusing to overwrite what no run of ours has written."""
    if target.suffix != ".ipynb":
        raise BadInput(f"out: {target} must end in .ipynb")
    if target.is_dir():
        raise BadInput(f"out: {target} is a folder")
    inside = target.resolve()
    if inside == source.resolve() or templates.resolve() in inside.parents:
        raise BadInput(f"out: {target} is a notebook to run; write its result elsewhere")
    if target.exists() and '"inferecon": {' not in target.read_text(errors="replace"):
        raise BadInput(f"out: {target} exists and is no result of a run; name another file")
    return target


def validated(source: Path, parameters: dict[str, object]) -> dict[str, object]:
    """Return the parameters if the notebook declares them and what they ask can be asked."""
    if not source.is_file():
        raise BadInput(f"no notebook {source}")
    try:
        checked = check_parameters(source, parameters)
    except (UnknownParameter, ParameterTypeError) as mistake:
        raise BadInput(str(mistake)) from mistake
    except (ValueError, OSError, SyntaxError, ValidationError) as error:
        said = str(error).splitlines()[0]
        raise BadInput(f"{source} is no notebook that can be run: {said}") from error
    state(source, checked)
    return checked


def counts(name: str, values: object) -> list[int]:
    """Return a list of whole numbers of at least 1, or say what is wrong with it."""
    if not isinstance(values, list) or not values:
        raise BadInput(f"{name} must be a list of whole numbers such as [1, 8, 64], not {values!r}")
    return [whole(name, value) for value in values]


def defaults(source: Path) -> dict[str, object]:
    """Return what the first cell of a notebook gives its parameters."""
    cells = nbformat.read(source, as_version=4).cells
    code = next((c.source for c in cells if "parameters" in c.metadata.get("tags", [])), "")
    found = {}
    for line in ast.parse(code).body:
        if isinstance(line, ast.Assign | ast.AnnAssign) and line.value is not None:
            target = line.targets[0] if isinstance(line, ast.Assign) else line.target
            found[ast.unparse(target)] = ast.literal_eval(line.value)
    return found


def state(source: Path, parameters: dict[str, object]) -> None:
    """State what a notebook would ask; raises BadInput if it cannot be asked."""
    values = defaults(source) | parameters
    for name in GRIDS & values.keys() & parameters.keys():
        counts(name, parameters[name])
    for declared, check in CHECKS.items():
        if declared <= values.keys():
            return check(values)
    known = {field.name for field in fields(Scenario)} & values.keys()
    if {"model", "hardware"} <= known:
        opened(**{name: values[name] for name in known}).given()  # looks up the price, too
