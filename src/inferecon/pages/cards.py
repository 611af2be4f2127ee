"""What a card of a law or a derivation adds to its equation: regime, example, limits, links.

All of it is MyST; what a reader does not need at once is folded.
"""

from functools import cache

from .. import symbols as s
from ..analysis import results
from ..anchors import label, slug
from ..edition import pages
from ..law import Derivation, Law, latex
from ..laws.catalogue import BY_ID, DERIVATIONS
from ..limits import Limit, limits, own
from ..stored import code, kept
from ..symbols import GLOSSARY
from ..worked import Example, choices, of_derivation, of_law

# What is taken to its ends; an equation with none of these has no limit of that kind.
GROWING = {s.batch, s.group_batch, s.context, s.isl, s.osl, s.n_devices, s.tp}
GROWING |= {s.utilisation, s.acceptance, s.arrival_rate}
LONG = 120  # letters of LaTeX beyond which a limit is no help
ALGEBRA = {
    "premise": "premise",
    "case": "one branch of the maximum",
    "substitution": "put in",
    "approximation": "set to zero",
    "solved": "solved by SymPy",
    "restated": "the same, SymPy agrees",
}


def folded(title: str, lines: list[str]) -> list[str]:
    """Return lines folded under a title."""
    begin = f'<details class="more"><summary>{title}</summary>'
    return ["", begin, "", *lines, "", "</details>", ""]


def link(law: Law) -> str:
    """Link to the card of a law, or to its row among all laws."""
    if law.id in pages():
        return f"{{ref}}`{law.id} <{label(law.id)}>`"
    return f'<a href="laws.html#row-{law.id.lower()}">{law.id}</a>'


def unit(symbol) -> str:
    """Return the base unit of a symbol, empty for a pure number."""
    return f"{GLOSSARY[symbol].unit:~}".replace("*", " ")


def in_unit(symbol) -> str:
    return f"in {unit(symbol)}" if unit(symbol) else "a pure number"


def regime(holds, derived: bool = False) -> str:
    """Say where an equation holds; what is derived holds no further than what it rests on."""
    if str(holds) == "True":
        rests = (
            "its premises and the cases of its steps do" if derived else "its inputs are positive"
        )
        return f"Holds everywhere {rests}."
    return f"Holds where ${latex(holds)}$."


def dimensions(law: Law) -> str:
    """Say what was checked when the law was made."""
    if law.counts:
        return f"Dimensions checked: a pure number on the right, which counts {law.counts}."
    if not GLOSSARY[law.symbol].unit.dimensionality:
        return "Dimensions checked: pure numbers on both sides."
    return f"Dimensions checked: {unit(law.symbol)} on both sides."


def elasticities(law: Law) -> str:
    """Link to what moves a law and how it is turned round, where that is worked out."""
    if law.id not in _moved():
        return ""
    return f"{{ref}}`Elasticities and inverse <elasticity-{slug(law.id)}>`."


@cache
def law_details(law: Law) -> list[str]:
    """Return the folded part of a card of a law."""

    def worked_out() -> list[str]:
        return _limits(law.eq, own(law.eq, law.holds), limits(law.symbol))

    return [*example(of_law(law)), *kept(["limits of a law", law.id, code()], worked_out)]


def step_basis(proof: Derivation, step: int, name: str) -> str:
    """Say on which law a step of a derivation rests, or which rule of algebra it is."""
    by = proof.by[step - 1]
    if not isinstance(by, str):
        laws = ", ".join(link(law) for law in by)
        return f"law {laws}" if len(by) == 1 else f"laws {laws}"
    if step == 1:
        eq = proof.steps[0][0]
        for law in BY_ID.values():
            if law.eq == eq:
                return f"law {link(law)}"
        for other, chain in DERIVATIONS.items():
            if other != name and chain.eq == eq:
                return f"result of {{ref}}`{other} <{label(other)}>`"
    return ALGEBRA[by]


@cache
def derivation_details(proof: Derivation) -> list[str]:
    """Return the folded part of a card of a derivation: its last line in numbers, its limits."""
    return [*example(of_derivation(proof)), *_limits(proof.eq, own(proof.eq, proof.holds), [])]


def example(found: Example) -> list[str]:
    """Return a worked example: the case, the numbers put in, what was chosen for it."""
    case = found.case.scenario
    devices = max(case.tp, case.ep)
    on = f", {devices} devices" if devices > 1 else ""
    lines = [
        f"`{found.case.name}`, batch {case.batch}, {case.isl:,} tokens in, {case.osl:,} out{on}:",
        *["", "$$", found.latex, "$$", ""],
    ]
    if found.remark:
        lines += [f"{found.remark[0].upper()}{found.remark[1:]}.", ""]
    if found.chosen:
        values = ", ".join(f"${GLOSSARY[x].latex}$ = {choices()[x]}" for x in found.chosen)
        lines += [f"Chosen for the example, not a fact: {values}.", ""]
    if found.records:
        lines += [f"With {', '.join(f'`data/{path}.yaml`' for path in found.records)}.", ""]
    return folded("Worked example", lines)


@cache
def _moved() -> frozenset[str]:
    return frozenset(kept(["moved", code()], lambda: [law.id for law in results()]))


def _limits(eq, alone: list[Limit], composed: list[tuple[bool, Limit]]) -> list[str]:
    lines = [_limit(one, "") for one in alone]
    for dense, one in composed:
        case = "all laws put in, dense model on one device" if dense else "all laws put in"
        lines.append(_limit(one, case))
    lines = [line for line in dict.fromkeys(lines) if line]
    if lines:
        return folded("Limits", lines)
    if not eq.rhs.free_symbols & GROWING:
        return ["", "Limits: none to take, no batch, length, load or number of devices in it.", ""]
    return ["", "Limits: those of the laws it is made of; its own say no more.", ""]


def _limit(found: Limit, case: str) -> str:
    value, said = latex(found.value), [case] if case else []
    if found.slope is not None:
        value = rf"\infty,\ {latex(found.slope)}\ \text{{for each}}\ {latex(found.variable)}"
    said += [f"where ${latex(condition)}$" for condition in found.holds]
    if len(value) > LONG:
        return ""
    point = rf"{latex(found.variable)} \to {latex(found.point)}"
    return f"- ${point}$: ${value}$" + (f" ({'; '.join(said)})" if said else "")
