"""Walk from a number to its sources: the tree of laws and records behind it."""

import math
from textwrap import wrap

from . import symbols as s
from .book import symbol_named
from .laws import SERVICE
from .matrix import activations_for
from .numbers import SHOWN, digits, number
from .records import file_of, sources
from .scenario import Scenario, opened
from .units import ureg


def traced(model: str, hardware: str, weights: str, name: str, **choices) -> dict:
    """Return the tree behind one published symbol, each node a dict with its inputs.

    A choice that is None is left to the scenario; activations follow the weights.
    """
    symbol = symbol_named(name)
    given = {key: value for key, value in choices.items() if value is not None}
    given.setdefault("activations", activations_for(weights))
    case = opened(model=model, hardware=hardware, weights=weights, **given)
    tree = _node(case, symbol, case.origins_of_given(), set())
    return {"combination": case.name, "obstacles": case.obstacles} | tree


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
    node |= {"law": law.id, "says": law.says, "equation": str(law.eq.rhs), "source": law.source}
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
    return "\n".join(lines)
