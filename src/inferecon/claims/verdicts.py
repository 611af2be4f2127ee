"""The verdict of a claim: computed from its checks, the same rule for every row.

The first check that fails decides: units that disagree are a dimensional error,
a document's own sum that does not come out is an arithmetic error, anything
else contradicts the claim.  If all pass, a claim that leaves out its conditions
is unverifiable, one that needs a caveat has it, and the others reproduce.
"""

import math
from functools import cache
from typing import NamedTuple

import sympy as sp

from ..errors import BadInput
from ..units import ONE, DimensionError, unit_of, ureg
from .expression import calls, evaluate
from .functions import LAWS, RECORDS
from .register import Check, Claim, documents
from .simulations import SIMULATIONS

VERDICTS = {
    "reproduces": "✓ right",
    "correct_with_caveat": "≈ right with a caveat",
    "contradicted": "✗ contradicted",
    "arithmetic_error": "✗ arithmetic error",
    "dimensional_error": "✗ dimensional error",
    "unverifiable": "? unverifiable",
}
FUNCTIONS = {**LAWS, **RECORDS, **SIMULATIONS}
FAILURE = {"arithmetic": "arithmetic_error", "dimension": "dimensional_error"}
OWN = {"law": LAWS, "record": RECORDS, "simulation": SIMULATIONS}


class Outcome(NamedTuple):
    """One check, computed: what the document says, what we find, whether they agree."""

    check: Check
    claimed: float | bool | str | None
    ours: float | bool | str
    passes: bool

    @property
    def factor(self) -> float | None:
        """Claimed over ours where both are positive numbers, else None."""
        sides = (self.claimed, self.ours)
        if any(s is None or isinstance(s, (bool, str)) or not s > 0 for s in sides):
            return None
        return self.claimed / self.ours


class Judged(NamedTuple):
    """A claim with the outcome of each check and the verdict that follows."""

    document: int
    claim: Claim
    outcomes: tuple[Outcome, ...]
    verdict: str

    @property
    def deciding(self) -> Outcome | None:
        """The check that decided: the first that failed, else the first that decides."""
        deciding = [o for o in self.outcomes if o.check.decides]
        failed = [o for o in deciding if not o.passes]
        return (failed or [*deciding, None])[0]


@cache
def judged() -> tuple[Judged, ...]:
    """Return every claim with its computed verdict, in the order of the documents."""
    return tuple(judge(found.document, claim) for found in documents() for claim in found.claims)


def judge(document: int, claim: Claim) -> Judged:
    """Compute one verdict.  Raises BadInput, naming the claim, for a check that cannot run."""
    try:
        if not claim.computed:
            return Judged(document, claim, (), claim.checks[0].verdict)
        outcomes = tuple(outcome(check) for check in claim.checks)
    except BadInput as error:
        raise BadInput(f"{claim.id}: {error}") from error
    return Judged(document, claim, outcomes, _verdict(claim, outcomes))


def _verdict(claim: Claim, outcomes: tuple[Outcome, ...]) -> str:
    for check, _, _, passes in outcomes:
        if check.decides and not passes:
            return check.fails or FAILURE.get(check.kind, "contradicted")
    if claim.lacks:
        return "unverifiable"
    return "correct_with_caveat" if claim.caveat else "reproduces"


def outcome(check: Check) -> Outcome:
    """Run one check."""
    if check.kind == "dimension":
        return _dimension(check)
    _own_functions(check)
    ours = _side(check.ours)
    if check.claimed is None:
        return Outcome(check, None, ours, True)
    claimed = _side(check.claimed)
    if isinstance(claimed, (bool, str)) or isinstance(ours, (bool, str)):
        if type(claimed) is not type(ours):
            raise BadInput(f"{claimed!r} and {ours!r} cannot be compared")
        return Outcome(check, claimed, ours, claimed == ours)
    room = check.tolerance * abs(claimed)
    passes = {
        "equal": abs(ours - claimed) <= room,
        "at_most": ours <= claimed + room,
        "at_least": ours >= claimed - room,
    }[check.relation]
    return Outcome(check, claimed, ours, passes)


def _own_functions(check: Check) -> None:
    """Refuse a check whose kind promises something that its expressions do not call."""
    text = [side for side in (check.claimed, check.ours) if isinstance(side, str)]
    called = set().union(*(calls(side) for side in text)) if text else set()
    if check.kind == "arithmetic" and called & FUNCTIONS.keys():
        raise BadInput(f"arithmetic calls {', '.join(sorted(called & FUNCTIONS.keys()))}")
    if check.kind in OWN and not called & OWN[check.kind].keys():
        raise BadInput(f"a {check.kind} check calls none of {', '.join(OWN[check.kind])}")


def _side(side: float | bool | str):
    found = evaluate(side, FUNCTIONS) if isinstance(side, str) else side
    if not isinstance(found, (bool, str)) and not math.isfinite(found):
        raise BadInput(f"{side!r} has no value")
    return found


def _dimension(check: Check) -> Outcome:
    """Compare the units of both sides of an equation as a document writes it."""
    left, equals, right = check.equation.partition("=")
    if not equals:
        raise BadInput(f"{check.equation!r} is no equation")
    declared = {}
    for name, unit in check.units.items():
        try:
            declared[sp.Symbol(name, positive=True)] = ureg.Unit(unit)
        except Exception as error:  # pint raises half a dozen unrelated classes
            raise BadInput(f"{unit!r} is no unit of this report") from error
    names = {symbol.name: symbol for symbol in declared}
    sides = []
    for text in (left, right):
        try:
            side = evaluate(text, {"max": sp.Max, "min": sp.Min}, names)
            if isinstance(side, (bool, str)):
                raise BadInput(f"{text.strip()!r} is no side of an equation")
            side = side if isinstance(side, sp.Expr) else sp.Float(side)
            sides.append(unit_of(side, declared.__getitem__))
        except DimensionError as error:
            return Outcome(check, _unit(sides[0]) if sides else "", str(error), False)
    claimed, ours = map(_unit, sides)
    agree = (sides[0] or ONE).dimensionality == (sides[1] or ONE).dimensionality
    return Outcome(check, claimed, ours, agree)


def _unit(unit) -> str:
    named = unit is not None and unit.dimensionality
    return f"{unit:~}".replace(" * ", "·").replace(" ** 2", "²") if named else "pure number"


def differences() -> list[str]:
    """One line for each row whose verdict is not the expected one or whose text is not backed."""
    found = []
    for item in judged():
        if item.verdict != item.claim.expected:
            found.append(f"{item.claim.id} {item.claim.expected} -> {item.verdict}")
        for text in item.claim.backed:
            if evaluate(text, FUNCTIONS) is not True:
                found.append(f"{item.claim.id} says what does not hold: {text}")
    return found
