"""What the id of a published number says: what it is, whose, where it stands, how to get it again.

An id is ``CASE:symbol``.  The case is MODEL/HARDWARE/FORMAT, ``scenario`` (that
notebook with its own parameters), ``counts/MODEL`` or ``formats/FORMAT``; the
first two also with ``@full``, at the largest batch that fits, and with an engine,
``@vllm``, as it is predicted to run there.  Under
``sensitivity/MODEL/HARDWARE/FORMAT/`` stand ``itl`` (an elasticity),
``itl/halved``, ``itl/doubled`` and ``itl=10ms`` (the input that reaches a goal).
"""

import ast
import json
import re
from functools import cache
from typing import NamedTuple

from .files import SWEEP
from .law import Law
from .laws.catalogue import LAWS
from .matrix import FORMATS, HARDWARE, MODELS, NOTEBOOKS, WORKLOAD
from .predictions import ENGINES, SAYS
from .predictions import LAW as CALIBRATED
from .records import load
from .symbols import GLOSSARY, SYMBOLS

FULL = "full"
NOTEBOOK = {"formats": "counts"}  # whose notebook has another name


class Case(NamedTuple):
    """``command`` has SYMBOL where the name of the symbol belongs; ``pages`` are paths."""

    of: str
    command: str
    pages: tuple[str, ...]


class Place(NamedTuple):
    """Where a number stands in the tables of its page."""

    table: str
    row: str
    column: str


def split(id: str) -> tuple[str, str]:
    """Return the case and the name of the symbol."""
    case, _, symbol = id.rpartition(":")
    return case, symbol


def bare(case: str) -> tuple[str, str]:
    """Return the case itself and what follows its ``@``: ``full``, an engine or nothing."""
    own, _, how = case.partition("@")
    return own, how


def says(id: str) -> str:
    """Say what is counted or measured, in words."""
    case, name = split(id)
    if (how := bare(case)[1]) in ENGINES:
        return f"{SAYS[name]}, predicted for {ENGINES[how]}"
    first, *rest = case.split("/")
    if first != "sensitivity":
        return _meaning(name, default=id)
    what, change, goal = _changed(rest)
    if goal:
        return f"{_meaning(name)}, for a {_meaning(what)} of {goal}"
    if change:
        return f"{_meaning(what)}, times what it is now, with {change} {_meaning(name)}"
    return f"percent of {_meaning(what)} for one percent more of {_meaning(name)}"


def law_of(id: str) -> Law | None:
    """Return the law that gives a number; a sensitivity rests on many."""
    case, name = split(id)
    if bare(case)[1] in ENGINES and name in CALIBRATED:
        return CALIBRATED[name]
    return None if case.startswith("sensitivity/") else _laws().get(name)


@cache
def _laws() -> dict[str, Law]:
    found: dict[str, Law] = {}
    for law in LAWS:
        found.setdefault(law.symbol.name, law)
    return found


@cache
def page(id: str) -> str:
    """Return the page on which a number has its place, without the ending."""
    first, *others = bare(split(id)[0])[0].split("/")
    if first in MODELS:
        return f"models/{first}"
    if others and others[0] in HARDWARE:
        return f"hardware/{others[0]}"
    return f"chapters/{NOTEBOOK.get(first, first)}"


def title(page: str) -> str:
    """Return what a link to a page says."""
    kind, _, name = page.removeprefix("data/").partition("/")
    return load(kind, name).name if kind in ("models", "hardware") else f"notebook {name}"


def anchor(id: str) -> str:
    """Return the anchor of a number, a name that CSS can select: the theme's scripts do so.

    Ids that differ in marks alone would share an anchor; the build refuses them.
    """
    return slug(f"num-{id}")


def slug(id: str) -> str:
    """Return a text as a name that CSS can select."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", id)


def notebook(case: str, numbers: dict) -> str:
    """Return where the executed notebook of a combination stands in the site; of others, nothing.

    One that cannot run is told by law, and has no notebook.
    """
    own = bare(case)[0]
    model, *rest = own.split("/")
    if model not in MODELS or f"{own}:itl" not in numbers:
        return ""
    return f"{SWEEP.name}/{model}/{'--'.join(rest)}.ipynb"


def case_of(case: str, numbers: dict) -> Case:
    """Say whose number it is and which command gives it again."""
    own, how = bare(case)
    first, *rest = own.split("/")
    if first == "counts":
        (model,) = rest
        run = f"inferecon trace {model} {HARDWARE[0]} {FORMATS[0]} SYMBOL{_short(model)}"
        return Case(load("models", model).name, run, ("chapters/counts", *_pages(model)))
    if first == "formats":
        (format,) = rest
        return Case(load("formats", format).name, _run("counts"), ("chapters/counts",))
    if first == "sensitivity":
        what, _, goal = _changed(rest)
        model, hardware, format = rest[:3]
        run = _run("sensitivity")
        if goal:
            run = f"inferecon solve {model} {hardware} {format} {what}={goal} --by SYMBOL"
        pages = ("chapters/sensitivity", *_pages(model, hardware))
        return Case(f"{_names(*rest[:3])}, {_workload(WORKLOAD['batch'])}", run, pages)
    options = ""
    if first == "scenario":
        chosen = defaults("scenario")
        rest = [chosen["model"], chosen["hardware"], chosen["weights"]]
        options = f" --activations {chosen['activations']}"
        pages = ("chapters/scenario", *_pages(*rest[:2]))
    else:
        rest = own.split("/")
        pages = _pages(*rest[:2])
    batch, devices = WORKLOAD["batch"], _of(numbers, own, "n_devices")
    words = _workload(batch)
    if how in ENGINES:
        run = f"inferecon trace {' '.join(rest)} SYMBOL --engine {how}{options}"
        return Case(f"{_names(*rest, devices)}, {ENGINES[how]}, {words}", run, pages)
    if how == FULL:
        batch = _of(numbers, own, "largest_batch")
        words, options = f"{_workload(batch)}, the most that fit", f"{options} --batch {batch}"
    run = f"inferecon trace {' '.join(rest)} SYMBOL{options}"
    return Case(f"{_names(*rest, devices)}, {words}", run, pages)


def _short(model: str) -> str:
    """Options for a model that cannot take the lengths of the default workload."""
    half = int(load("models", model).given[SYMBOLS["max_context"]]) // 2
    return "" if WORKLOAD["isl"] + WORKLOAD["osl"] <= 2 * half else f" --isl {half} --osl {half}"


def place(id: str) -> Place:
    """Return table, row and column of a number among all of its page."""
    case, name = split(id)
    own, how = bare(case)
    first, *rest = own.split("/")
    if first == "counts":
        return Place("Weights", rest[0], name)
    if first == "formats":
        return Place("Widths", rest[0], name)
    if first == "sensitivity":
        what, change, goal = _changed(rest)
        if goal:
            return Place("Inputs that reach a goal", _meaning(name), f"{what} = {goal}")
        return Place(_meaning(what), _meaning(name), change or "elasticity")
    row = _meaning(name)
    if how in ENGINES:
        row = f"{SAYS[name]} ({ENGINES[how]}, predicted)"
    elif how == FULL:
        row += " (largest batch)"
    if first == "scenario":
        return Place("The combination", row, "value")
    return Place(load("hardware", rest[0]).name, row, rest[1])


@cache
def defaults(notebook: str) -> dict[str, object]:
    """Return the parameters that a notebook declares, with their values."""
    cells = json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
    cell = next(c for c in cells if "parameters" in c["metadata"].get("tags", []))
    lines = ast.parse("".join(cell["source"])).body
    return {line.targets[0].id: ast.literal_eval(line.value) for line in lines}


def _meaning(name: str, default: str = "") -> str:
    return GLOSSARY[SYMBOLS[name]].meaning if name in SYMBOLS else default or name


def _changed(rest: list[str]) -> tuple[str, str, str]:
    """Return target, what was done to the input, and the goal, after model/hardware/format."""
    what, equals, goal = "/".join(rest[3:]).partition("=")
    if equals:
        return what, "", goal
    target, _, change = what.partition("/")
    return target, change, ""


def _names(model: str, hardware: str, format: str, devices: int | None = None) -> str:
    many = f"{devices} × " if devices and devices > 1 else ""
    device = load("hardware", hardware).name
    return f"{load('models', model).name} on {many}{device}, {format} weights"


def _workload(batch: int) -> str:
    isl, osl = WORKLOAD["isl"], WORKLOAD["osl"]
    return f"batch {batch:,}, {isl:,} tokens in and {osl:,} out"


def _of(numbers: dict, case: str, symbol: str) -> int | None:
    found = numbers.get(f"{case}:{symbol}")
    return None if found is None or found.missing else int(found.value)


def _run(notebook: str) -> str:
    return f"inferecon run out.ipynb --notebook notebooks/{notebook}.ipynb"


def _pages(model: str, hardware: str = "") -> tuple[str, ...]:
    """Pages of a model and of a device, in the default sweep or among the records."""
    of_device = [page_of("hardware", hardware)] if hardware else []
    return page_of("models", model), *of_device


def page_of(kind: str, id: str) -> str:
    """Return the page of a model or a device, without the ending."""
    own = {"models": MODELS, "hardware": HARDWARE}[kind]
    return f"{kind}/{id}" if id in own else f"data/{kind}/{id}"
