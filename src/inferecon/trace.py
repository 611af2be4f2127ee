"""Walk from a number to its sources: the tree of laws and records behind it."""

import math
from textwrap import wrap

from . import symbols as s
from .basis import Basis, basis
from .book import symbol_named
from .calibration.inputs import CALIBRATED
from .errors import BadInput
from .forecast import FOLLOWS, outlook, served
from .laws import SERVICE
from .matrix import activations_for
from .numbers import KNOWN, SHOWN, Interval, digits, number, prediction
from .predictions import BY_SYMBOL, ENGINES, IMPLIED
from .records import file_of, sources
from .scenario import Scenario, opened
from .units import ureg


def traced(model: str, hardware: str, weights: str, name: str, engine: str = "", **choices) -> dict:
    """Return the tree behind one published symbol, each node a dict with its inputs.

    With an engine it is the tree of what is predicted to run there.  A choice that is None is
    left to the scenario; activations follow the weights.
    """
    symbol = symbol_named(name)
    given = {key: value for key, value in choices.items() if value is not None}
    given.setdefault("activations", activations_for(weights))
    case = opened(model=model, hardware=hardware, weights=weights, **given)
    head = {"combination": case.name, "obstacles": case.obstacles}
    if engine:
        return head | _predicted(case, symbol, engine)
    return head | _node(case, symbol, case.origins_of_given(), set())


def _predicted(case: Scenario, symbol, engine: str) -> dict:
    """Return the tree behind a prediction: calibrated laws, fitted constants, then the records."""
    if symbol not in BY_SYMBOL.keys() | IMPLIED.keys():
        known = ", ".join(x.name for x in (*BY_SYMBOL, *IMPLIED))
        raise BadInput(f"{symbol.name} is not predicted for an engine; predicted are {known}")
    found = outlook(case, engine, [case.batch], [case.isl])
    known, foretold = str(found.known[0]), basis(case, engine)
    said = Interval(*(float(x[0]) for x in found.symbols[symbol]))
    node = {
        "symbol": symbol.name,
        "meaning": f"{s.GLOSSARY[symbol].meaning}, predicted for {ENGINES[engine]}",
        "value": None,
        "unit": f"{s.GLOSSARY[symbol].unit:~}",
        "shown": "missing",
    }
    if foretold is None or math.isnan(foretold.values[served(symbol)]):
        return node | {"source": f"missing: {found.reason[0]}"}
    if not math.isnan(said.value):
        node |= {"value": said.value, "low": said.low, "high": said.high}
        node |= {"known": f"{known}: {KNOWN[known].says}", "rows": foretold.rows_of(symbol).said}
        node |= {"shown": prediction(symbol, said, known).text}
    if symbol in IMPLIED:
        law = FOLLOWS.laws[symbol]
        needs = sorted(law.needs, key=str)
        inputs = [
            _predicted(case, x, engine)
            if x in BY_SYMBOL or x in IMPLIED
            else _node(case, x, case.origins_of_given(), set())
            for x in needs
        ]
        return node | _by(law) | {"inputs": inputs}
    law = BY_SYMBOL[symbol].law
    if law is None:
        raise BadInput(f"{symbol.name} has no law of its own; ask for throughput")
    used = {x.symbol for x in foretold.constants_of(symbol)}
    seen: set = set()
    inputs = [
        _calibrated(foretold, x, used, seen)
        for x in sorted(law.needs, key=str)
        if x in used or x not in foretold.constants
    ]
    node |= {"waits": foretold.waits} if foretold.waits else {}
    return node | _by(law) | {"inputs": inputs}


def _calibrated(foretold: Basis, symbol, used: set, seen: set) -> dict:
    """Return the tree of a symbol of a calibrated law; those of a scenario go on as ever."""
    value, case = foretold.values[symbol], foretold.case
    entry = s.GLOSSARY[symbol]
    node = {"symbol": symbol.name, "meaning": entry.meaning, "value": value}
    node |= {"unit": f"{entry.unit:~}", "shown": _shown(symbol, value)}
    if symbol in foretold.constants:
        levels = foretold.constants[symbol].levels
        return node | {"source": f"data/calibration/constants.csv, fitted to: {levels}"}
    law = CALIBRATED.laws.get(symbol)
    if law is None:
        if why := foretold.otherwise(symbol):
            return node | {"source": f"engine: {why}"}
        return _node(case, symbol, case.origins_of_given(), seen)
    node |= _by(law)
    if symbol in seen:
        return node | {"repeated": True}
    seen.add(symbol)
    parts = [x for x in sorted(law.needs, key=str) if x in used or x not in foretold.constants]
    parts = [x for x in parts if foretold.values[x] != 0]
    return node | {"inputs": [_calibrated(foretold, x, used, seen) for x in parts]}


def _by(law) -> dict:
    return {"law": law.id, "says": law.says, "equation": str(law.eq.rhs), "source": law.source}


def _node(case: Scenario, symbol, origins, seen: set) -> dict:
    value = float(case.values.get(symbol, math.nan))
    entry = s.GLOSSARY[symbol]
    node = {
        "symbol": symbol.name,
        "meaning": entry.meaning,
        "value": None if math.isnan(value) else value,
        "unit": f"{entry.unit:~}",
        "shown": _shown(symbol, value),
    }
    law = SERVICE.laws.get(symbol)
    if law is None:
        return node | _source(case, symbol, origins)
    node |= _by(law)
    if symbol in seen:
        return node | {"repeated": True}
    seen.add(symbol)
    parts = sorted(law.needs, key=str)
    # A part the model does not have contributes zero: it would only clutter the tree.
    parts = [p for p in parts if not (s.GLOSSARY[p].part and case.values.get(p) == 0)]
    parts = [p for p in parts if p in origins or case.values.get(p) != 0]
    return node | {"inputs": [_node(case, part, origins, seen) for part in parts]}


def _shown(symbol, value: float) -> str:
    if math.isnan(value):
        return "missing"
    if symbol in SHOWN:
        return number(symbol, value).text
    unit = s.GLOSSARY[symbol].unit
    quantity = ureg.Quantity(value, unit)
    if unit.dimensionality:
        return f"{quantity.to_compact():.4g~}"
    return f"{value:,.0f}" if value.is_integer() else digits(value)


def _source(case: Scenario, symbol, origins) -> dict:
    origin = origins.get(symbol)
    if origin is None:
        return {"source": f"missing: no record states {symbol.name}"}
    if origin.record is None:
        return {"source": f"choice: {origin.choice}"}
    record, fact = origin.record, origin.record.facts.get(origin.fact or "")
    place = file_of(record)
    if fact is not None:
        titles = "; ".join(f"{key}: {sources()[key].what}" for key in fact.source)
        verified = "" if fact.verified else " (nobody verified it)"
        return {
            "source": f"{place}, {origin.fact} = {fact.value}{verified}, {fact.where}",
            "cited": titles,
        }
    if origin.choice:
        return {"source": f"{place}, offer of {origin.choice}"}
    if record.kind == "formats":
        return {"source": f"law WIDTH on {place}, {record.about['formula']}"}
    return {"source": f"{place}: the model has no {s.GLOSSARY[symbol].topic}"}


def as_text(tree: dict, depth: int = 99) -> str:
    """Draw the tree with one line a node and one for each source."""
    lines: list[str] = []

    def draw(node: dict, indent: str, level: int):
        law = f"  [{node['law']}] {node['says']}" if "law" in node else ""
        again = "  (above)" if node.get("repeated") else ""
        lines.append(f"{indent}{node['symbol']} = {node['shown']}{law}{again}")
        if "law" not in node:
            lines.append(f"{indent}    from {node['source']}")
            if "cited" in node:
                lines.extend(f"{indent}    {line}" for line in wrap(node["cited"], 96))
        if level < depth:
            for part in node.get("inputs", []):
                draw(part, indent + "  ", level + 1)

    if tree["obstacles"]:
        lines.append("Does not run: " + "; ".join(tree["obstacles"]))
        lines.append("What follows is arithmetic on a combination that cannot be had.")
    draw(tree, "", 1)
    if "known" in tree:
        lines += ["", tree["known"], *wrap(f"Measured rows: {tree['rows']}.", 96)]
        lines += [f"{tree['waits']}."] if "waits" in tree else []
    return "\n".join(lines)
