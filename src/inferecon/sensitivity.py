"""What the notebook of sensitivities calls: which input moves a result most, and how far it must.

Everything it shows it also publishes, under ``sensitivity/`` and the name of the case.
"""

import math

import sympy as sp
from IPython.display import Markdown, display

from . import figures
from . import symbols as s
from .book import Case, symbol_named
from .errors import BadInput
from .laws import SERVICE
from .numbers import PUBLISHED, digits, rounded
from .response import INPUTS, asked, elasticities, in_unit, input_named, inverse, written

FEW = 10  # bars of a chart
SMALL = 0.005  # an elasticity that rounds to zero


def table(case: Case, targets: list[str]) -> Markdown | None:
    """Show by how many percent each target moves for one percent of each input."""
    if not case.runs:
        return case.fit()
    found = {name: elasticities(case.scenario, symbol_named(name)) for name in targets}
    named = {
        _id(case, name, x): [rounded(e), ""]
        for name, all_ in found.items()
        for x, e in all_.items()
    }
    rows = []
    for x, (_, label) in INPUTS.items():
        cells = [found[name].get(x, 0.0) for name in targets]
        if any(abs(e) >= SMALL for e in cells):
            shown = " | ".join("–" if abs(e) < SMALL else f"{e:+.2f}" for e in cells)
            rows.append(f"| {label} | ${s.GLOSSARY[x].latex}$ | {shown.replace('-', '−')} |")
    titles = " | ".join(f"${s.GLOSSARY[symbol_named(name)].latex}$" for name in targets)
    head = [f"| input | symbol | {titles} |", "|---|---|" + "---:|" * len(targets)]
    display(Markdown("\n".join([*head, *rows])), metadata={PUBLISHED: {"named": named}})


def tornados(case: Case, targets: list[str]):
    """Draw one chart for each target."""
    if not case.runs:
        return case.fit()
    for name in targets:
        tornado(case, name)


def tornado(case: Case, name: str):
    """Draw what halving or doubling each input does to a target, the strongest first."""
    if not case.runs:
        return case.fit()
    target, scenario = symbol_named(name), case.scenario
    before = float(scenario.values[target])
    rows, named = [], {}
    for x, (_, label) in INPUTS.items():
        if x not in SERVICE.inputs_of(target):
            continue
        for word, factor in (("halved", 0.5), ("doubled", 2.0)):
            ratio = _changed(case, target, x, factor) / before
            if ratio <= 0:  # nothing is left of it, which a ratio axis cannot show
                continue
            named[_id(case, f"{name}/{word}", x)] = [rounded(ratio), ""]
            rows.append({"name": label, "group": word, "value": ratio})
    factors = _factors(case, target)
    reach: dict[str, float] = {}
    for row in rows:
        if row["name"] not in factors:
            reach[row["name"]] = max(reach.get(row["name"], 0.0), abs(math.log(row["value"])))
    if not any(size > SMALL for size in reach.values()):  # nothing but what it is proportional to
        reach = {row["name"]: abs(math.log(row["value"])) for row in rows}
        factors = []
    first = sorted((x for x in reach if reach[x] > SMALL), key=lambda x: -reach[x])[:FEW]
    shown = [row for label in first for row in rows if row["name"] == label]
    most = max(shown[:2], key=lambda row: abs(math.log(row["value"])))
    title = f"{_capital(most['name'])} {most['group']}: {_short(target)} × {digits(most['value'])}"
    subtitle = [
        "the inputs that move it most, each halved or doubled, all others kept",
        f"{scenario.model} on {scenario.hardware}, {scenario.weights}, batch {scenario.batch}",
    ]
    if factors:
        subtitle.append(f"left out, for it is proportional to them: {', '.join(factors)}")
    columns = {
        "name": figures.Column("input"),
        "group": figures.Column("change"),
        "value": figures.Column(f"{name} over what it is now"),
    }
    chart = figures.tornado(shown, "times what it is now", title, subtitle)
    chart = figures.renamed(chart, f"tornado {name} {scenario.name}", columns)
    display(chart, metadata={PUBLISHED: {"named": named}})


def solved(case: Case, goals: list[list[str]]) -> Markdown | None:
    """Show which value of one input reaches each goal (target, value, input)."""
    if not case.runs:
        return case.fit()
    rows, named = [], {}
    for name, value, by in goals:
        target, x = symbol_named(name), input_named(by)
        goal = f"| {s.GLOSSARY[target].meaning} | {value} | {INPUTS[x][1]} | "
        now = written(x, float(case.scenario.values[x]))
        try:
            found = inverse(case.scenario, target, asked(value, target), x)
        except BadInput as refused:
            rows.append(f"{goal}{now} | {refused} |")
            continue
        shown, unit = in_unit(x, found.at)
        named[_id(case, f"{name}={value.replace(' ', '')}", x)] = [rounded(shown), unit]
        note = "" if found.fits else ", and does not fit into memory"
        rows.append(f"{goal}{now} | {written(x, found.at)}{note} |")
    head = ["| quantity | wanted | input | now | needed |", "|---|---:|---|---:|---:|"]
    display(Markdown("\n".join([*head, *rows])), metadata={PUBLISHED: {"named": named}})


def _id(case: Case, what: str, x: sp.Symbol) -> str:
    return f"sensitivity/{case.scenario.name}/{what}:{x.name}"


def _changed(case: Case, target: sp.Symbol, x: sp.Symbol, factor: float) -> float:
    given = case.scenario.given()
    return float(SERVICE.solve({**given, x: given[x] * factor})[target])


def _factors(case: Case, target: sp.Symbol) -> list[str]:
    """Return the inputs that a target's own law multiplies by: moving them says nothing."""
    own = SERVICE.laws[target].eq.rhs.free_symbols
    found = elasticities(case.scenario, target)
    return [INPUTS[x][1] for x, e in found.items() if x in own and math.isclose(e, 1)]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _short(target: sp.Symbol) -> str:
    if target in (s.itl, s.ttft, s.e2e):
        return target.name.upper()
    return s.GLOSSARY[target].meaning.partition(",")[0]
