"""Find what is cited: a law, a derivation or its step, a number, a fact or a claim.

An entry knows its id, what it says, where it stands and of which edition it is; ``citing``
writes it.  The second half of the edition is the fingerprint of all laws.
"""

import re
from functools import cache

from . import anchors, facts, naming
from .citing import GAP, Entry
from .claims import Judged, judged
from .edition import edition, pages
from .errors import BadInput, nearest
from .files import BOOK
from .law import Law, latex
from .laws import SERVICE
from .laws.catalogue import BY_ID, DERIVATIONS
from .numbers import KNOWN, Number
from .results import read_numbers
from .substitution import substituted
from .worked import remark, scenario, value_of

MISSING = "missing: a fact that it needs is on no record"
DERIVED = (
    "derived from records and laws; a time is a bound, not a prediction, and on several devices "
    "the bound of collectives that go round in a ring"
)
# Published symbols that rest on the fitted energies.
MEASURED = {"energy_per_token", "carbon_per_token", "energy_step", "energy_prefill"}


# Finding ---------------------------------------------------------------------------------------


def entry(id: str) -> Entry:
    """Return what an id stands for.  Raises BadInput, with the nearest ids, for an unknown one."""
    name, step = _parts(anchors.redirects().get(id, id))
    if name not in BY_ID and name not in DERIVATIONS and name.upper() in {*BY_ID, *DERIVATIONS}:
        name = name.upper()
    if name in BY_ID and step is None:
        return of_law(BY_ID[name])
    if name in DERIVATIONS:
        return of_derivation(name) if step is None else of_step(name, step)
    if facts.is_fact(name):
        return of_fact(facts.recorded(name))
    if ":" in name:
        return of_number(name)
    judgements = {one.claim.id: one for one in judged()}
    if name in judgements:
        return of_claim(judgements[name])
    known = [*BY_ID, *DERIVATIONS, *judgements]
    raise BadInput(f"nothing has the id {id!r}{nearest(id, known)}")


def _parts(id: str) -> tuple[str, int | None]:
    found = re.fullmatch(r"(.+?)(?:/|,? )step[ -]?([0-9]{1,6})", id.strip(), re.IGNORECASE)
    return (found[1], int(found[2])) if found else (id.strip(), None)


def of_law(law: Law) -> Entry:
    return Entry(
        id=law.id,
        kind="law",
        says=law.says,
        source=law.source,
        url=url(law.id),
        edition=edition(),
        **_equation(law.eq, law.holds),
    )


def of_derivation(name: str) -> Entry:
    """The result of a derivation, with its first premise as what it rests on."""
    proof = DERIVATIONS[name]
    return Entry(
        id=name,
        kind="derivation",
        says=f"{proof.steps[0][1]}; after {len(proof.steps)} steps: {proof.steps[-1][1]}",
        source="derived",
        url=url(name),
        edition=edition(),
        **_equation(proof.eq, proof.holds),
    )


def of_step(name: str, step: int) -> Entry:
    steps = DERIVATIONS[name].steps
    if not 1 <= step <= len(steps):
        raise BadInput(f"{name} has steps 1 to {len(steps)}, no step {step}")
    eq, why = steps[step - 1]
    id = f"{name}/step {step}"
    return Entry(
        id=id,
        kind="step",
        says=why,
        source="derived",
        url=url(id),
        edition=edition(),
        **_equation(eq),
    )


def of_number(id: str) -> Entry:
    """A published number, as the ledger has it, with the law that defines its symbol."""
    numbers = ledger()
    if id not in numbers:
        raise BadInput(f"no published number {id!r}{nearest(id, numbers)}")
    return of_value(id, numbers[id])


def of_value(id: str, number: Number, numbers: dict | None = None) -> Entry:
    """The same for a value that need not be in the ledger, or is among other numbers."""
    law, case = naming.law_of(id), naming.split(id)[0]
    return Entry(
        id=id,
        kind="number",
        says=naming.says(id),
        of=naming.case_of(case, ledger() if numbers is None else numbers).of,
        source=f"law {law.id}" if law else "computed from the laws",
        value=number.said,
        known=how(naming.split(id)[1], number),
        url=f"{naming.page(id)}.html#{naming.anchor(id)}",
        edition=edition(),
        **(_equation(law.eq, law.holds) if law else {}),
    )


def how(symbol: str, number: Number) -> str:
    """Say how a published number is known."""
    if number.known:
        return f"{number.known}: {KNOWN[number.known].says}"
    if number.missing:
        return MISSING
    name = symbol.partition("@")[0]
    if name.endswith("_at_limit"):
        return "an estimate: the power limit for the time of the bound"
    if name in MEASURED:
        return "derived at the bound, with energies fitted to our own runs on one H200"
    return DERIVED


def of_fact(found: facts.Recorded) -> Entry:
    """A recorded value, with all sources that it was read in."""
    return Entry(
        id=found.id,
        kind="fact",
        says=found.says,
        source=facts.cited(found),
        value=facts.said(found),
        url=f"{facts.page(found.id)}.html#{facts.anchor(found.id)}",
        edition=edition(),
    )


def of_claim(one: Judged) -> Entry:
    """A claim of a source document, with the verdict computed now."""
    lines = ", ".join(map(str, one.claim.lines))
    return Entry(
        id=one.claim.id,
        kind="claim",
        says=one.claim.claim.rstrip("."),
        source=f"document {one.document}, lines {lines}",
        value=one.verdict.replace("_", " "),
        url=f"claims/document-{one.document}.html#claim-{one.claim.id}",
        edition=edition(),
    )


def of_page(name: str, says: str, url: str = GAP) -> Entry:
    """A page on which the reader chooses what is shown; its script puts the address in."""
    return Entry(
        kind="page",
        id=name,
        says=says,
        source="laws and records of this edition",
        url=url,
        edition=edition(),
    )


@cache
def ledger() -> dict:
    return read_numbers(BOOK / "numbers.csv")


def _equation(eq, holds=None) -> dict[str, str]:
    condition = "" if holds is None or str(holds) == "True" else latex(holds)
    return {"equation": latex(eq), "sympy": f"{eq.lhs} = {eq.rhs}", "holds": condition}


# Places ----------------------------------------------------------------------------------------


def url(id: str) -> str:
    """Return page and anchor of a law, derivation or step, from the top of the report.

    A law without a card of its own stands in the list of all laws.
    """
    name, step = _parts(id)
    if name not in pages():
        return f"laws.html#row-{anchors.slug(name)}"
    return f"{pages()[name]}.html#{anchors.label(id if step else name)}"


def words(case) -> str:
    """Say which combination, workload and devices numbers are of."""
    devices = max(case.tp, case.ep)
    on = f", {devices} devices" if devices > 1 else ""
    return f"{case.name}, batch {case.batch}, {case.isl:,} tokens in, {case.osl:,} out{on}"


def in_scenario(found: Entry, name: str) -> Entry:
    """Return the entry with the numbers of MODEL/HARDWARE/FORMAT put into its equation."""
    case = scenario(name)
    eq, holds = _stated(found)
    values = {x: float(v) for x, v in case.values.items()}
    return found.model_copy(
        update={
            "scenario": words(case),
            "worked": substituted(case, eq),
            "remark": remark(values, eq, holds, SERVICE.laws, value_of(eq.rhs, values)),
        }
    )


def _stated(found: Entry):
    name, step = _parts(found.id)
    if found.kind == "law":
        return BY_ID[name].eq, BY_ID[name].holds
    if name in DERIVATIONS:
        proof = DERIVATIONS[name]
        return proof.steps[step - 1 if step else -1][0], proof.holds
    law = naming.law_of(name)
    if law is None:
        raise BadInput(f"{found.id} has no law to put numbers into")
    return law.eq, law.holds
