"""Parameters given on the command line, checked before anything runs."""

import ast
import json
from dataclasses import fields
from pathlib import Path

import papermill
from nbformat import ValidationError

from .engine import ParameterTypeError, UnknownParameter, check_parameters
from .errors import BadInput
from .scenario import Scenario, opened, whole

GRIDS = {"batches", "contexts"}


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
    """Return the parameters if the notebook declares them and the scenario they make exists."""
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


def state(source: Path, parameters: dict[str, object]) -> None:
    """State the scenario that a notebook would open; raises BadInput if there is none."""
    declared = papermill.inspect_notebook(str(source))
    known = {field.name for field in fields(Scenario)} & declared.keys()
    if {"model", "hardware"} <= known:
        choices = {name: ast.literal_eval(declared[name]["default"]) for name in known}
        for name in GRIDS & declared.keys() & parameters.keys():
            counts(name, parameters[name])
        given = {name: value for name, value in parameters.items() if name in known}
        opened(**choices | given).given()  # looks up the price, too
