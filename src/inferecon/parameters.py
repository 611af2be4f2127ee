"""Parameters given on the command line, checked before anything runs."""

import ast
import json
from dataclasses import fields
from pathlib import Path

import papermill

from .engine import ParameterTypeError, UnknownParameter, check_parameters
from .errors import BadInput
from .scenario import Scenario, opened


def parse(pairs: list[str]) -> dict[str, object]:
    """Read NAME=VALUE pairs; a value that is JSON is taken as such, any other as text."""
    found: dict[str, object] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise BadInput(f"-p {pair}: write NAME=VALUE")
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


def validated(source: Path, parameters: dict[str, object]) -> dict[str, object]:
    """Return the parameters if the notebook declares them and the scenario they make exists."""
    if not source.is_file():
        raise BadInput(f"no notebook {source}")
    try:
        checked = check_parameters(source, parameters)
    except (UnknownParameter, ParameterTypeError) as mistake:
        raise BadInput(str(mistake)) from mistake
    state(source, checked)
    return checked


def state(source: Path, parameters: dict[str, object]) -> None:
    """State the scenario that a notebook would open; raises BadInput if there is none."""
    declared = papermill.inspect_notebook(str(source))
    known = {field.name for field in fields(Scenario)} & declared.keys()
    if {"model", "hardware"} <= known:
        choices = {name: ast.literal_eval(declared[name]["default"]) for name in known}
        given = {name: value for name, value in parameters.items() if name in known}
        opened(**choices | given).given()  # looks up the price, too
