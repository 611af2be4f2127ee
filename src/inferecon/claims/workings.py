"""How the check of a claim is computed: its expressions, what is put into them, from where.

The same lines stand in the box of a check on its page and are printed by ``inferecon claims``.
"""

import ast
from typing import NamedTuple

from ..laws import SERVICE
from ..laws.catalogue import BESIDE
from ..records import load, sources
from ..symbols import GLOSSARY, SYMBOLS
from .exhibits import exhibits
from .expression import evaluate, parsed
from .simulations import SIMULATIONS
from .verdicts import FUNCTIONS, Judged, Outcome

LAWS = {law.symbol: law for law in (*BESIDE, *SERVICE.laws.values())}
AGREES = {
    "equal": "equal within {:.3g} %",
    "at_most": "ours at most the document's, within {:.3g} %",
    "at_least": "ours at least the document's, within {:.3g} %",
}
LARGE = 1e9  # a whole number below it is written in full
PLACES = {"value": 3, "count": 1}  # the arguments before the symbol that name records


class Working(NamedTuple):
    """``laws`` are ids; ``lines`` are pairs of a word and what stands beside it."""

    laws: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]


def working(outcome: Outcome) -> Working:
    """Return how one check was computed."""
    check = outcome.check
    if check.kind == "dimension":
        units = ", ".join(f"{x} in {unit or 'a pure number'}" for x, unit in check.units.items())
        return Working((), (("Equation", check.equation), ("Units", units), _verdict(outcome)))
    lines, laws, inputs = [], [], []
    for name, side, value in (
        ("The document's", check.claimed, outcome.claimed),
        ("Computed here", check.ours, outcome.ours),
    ):
        if side is None:
            continue
        told = side if isinstance(side, str) else _text(side)
        found = _calls(side) if isinstance(side, str) else []
        lines.append((name, told))
        put = _filled(side, found) if isinstance(side, str) else told
        if isinstance(side, str) and put != _text(value):
            lines.append(("Put in", f"{put} = {_text(value)}"))
        for call in found:
            law, froms = _behind(call)
            laws += law
            inputs += froms
    lines += [("From", text) for text in dict.fromkeys(inputs)]
    return Working(tuple(dict.fromkeys(laws)), (*lines, _verdict(outcome)))


def as_text(item: Judged) -> str:
    """Return a claim with each of its checks, for a terminal."""
    lines = [f"{item.claim.id}: {item.verdict}", f"  {item.claim.claim}"]
    for outcome in item.outcomes:
        found = working(outcome)
        lines += [f"  {outcome.check.label or outcome.check.kind}, {outcome.check.kind}"]
        lines += [f"    Law: {', '.join(found.laws)}"] if found.laws else []
        lines += [f"    {name}: {text}" for name, text in found.lines]
    lines += [f"  {check.read}" for check in item.claim.checks if check.read]
    lines += [f"  Backed: {text}" for text in item.claim.backed]
    return "\n".join(lines)


def _verdict(outcome: Outcome) -> tuple[str, str]:
    check = outcome.check
    if outcome.claimed is None:
        return ("Verdict", "the document states no value; this one stands beside its claim")
    asked = AGREES[check.relation].format(100 * check.tolerance)
    if check.kind == "dimension":
        asked = "the same unit on both sides"
    beside = "" if check.decides else "; it does not decide about the claim"
    return ("Verdict", f"{'agrees' if outcome.passes else 'disagrees'}; asked: {asked}{beside}")


# Expressions -----------------------------------------------------------------------------------


def _calls(text: str) -> list[ast.Call]:
    """Return the calls of laws, records and simulations in an expression."""
    return [
        node
        for node in ast.walk(parsed(text))
        if isinstance(node, ast.Call) and node.func.id in FUNCTIONS
    ]


def _filled(text: str, calls: list[ast.Call]) -> str:
    """Return an expression with the value of each call in its place."""
    filled = text
    for call in calls:
        written = ast.get_source_segment(text.strip(), call)
        filled = filled.replace(written, _text(evaluate(written, FUNCTIONS)))
    return " ".join(filled.replace("**", "^").split())


def _text(value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    whole = float(value).is_integer() and abs(value) < LARGE
    return f"{value:,.0f}" if whole else f"{value:.6g}"


def _behind(call: ast.Call) -> tuple[list[str], list[str]]:
    """Return the laws that a call rests on, and where its values come from."""
    name, given = call.func.id, [ast.literal_eval(arg) for arg in call.args if _literal(arg)]
    chosen = [f"{one.arg} = {ast.unparse(one.value)}" for one in call.keywords if one.arg != "unit"]
    if name in PLACES:
        symbol = SYMBOLS[given[PLACES[name]]]
        kinds = ("models", "hardware", "formats")[: PLACES[name]]
        froms = [load(kind, id).path for kind, id in zip(kinds, given, strict=False)]
        law = [LAWS[symbol].id] if symbol in LAWS else []
        said = f"{symbol.name}, {GLOSSARY[symbol].meaning}: {', '.join(froms)}"
        return law, ["; ".join([said, *chosen])]
    if name in ("fact", "stated", "about"):
        kind, id, key = given[:3]
        fact = load(kind, id).facts.get(key)
        source = f", {', '.join(sources()[one].what for one in fact.source)}" if fact else ""
        return [], [f"{kind}/{id}.yaml, {key}{source}"]
    if name == "price":
        return [], [f"prices/{given[0]}.yaml, offer of {given[1]}"]
    if name == "measured":
        return [], ["; ".join([f"measurements/{given[0]}.csv, {given[1]}", *chosen])]
    if name == "found":
        exhibit = exhibits()[given[0]]
        return [], [f"{exhibit.name}: {exhibit.facts[given[1]].how}"]
    says = (SIMULATIONS[name].__doc__ if name in SIMULATIONS else FUNCTIONS[name].__doc__) or ""
    return [], [says.strip().splitlines()[0]]


def _literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True
