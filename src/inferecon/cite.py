"""Cite one thing of this report: a law, a derivation or its step, a number, a fact or a claim.

An entry knows its id, what it says, where it stands and of which edition it is;
it writes itself as Markdown, LaTeX, BibTeX or JSON.  The second half of the
edition is the fingerprint of all laws.
"""

import json
import re
from functools import cache

from pydantic import BaseModel

from . import anchors, facts, naming
from .claims import Judged, judged
from .edition import edition, pages
from .errors import BadInput, nearest
from .files import BOOK
from .imprint import AUTHORS, EDITION, TITLE
from .law import Law, latex
from .laws import SERVICE
from .laws.catalogue import BY_ID, DERIVATIONS
from .numbers import Number
from .results import read_numbers
from .substitution import substituted
from .worked import remark, scenario, value_of

FORMS = ("markdown", "latex", "bibtex", "json")
GAP = chr(0xE000)  # where a script puts the address of a view; no text of ours has it


class Entry(BaseModel):
    """What is cited.  ``equation`` is LaTeX, ``sympy`` the same as SymPy writes it."""

    id: str
    kind: str  # law, derivation, step, number, fact or claim
    says: str
    equation: str = ""
    sympy: str = ""
    holds: str = ""
    source: str
    value: str = ""
    url: str
    edition: str
    commit: str = ""
    scenario: str = ""
    worked: str = ""  # LaTeX: the equation with the numbers of the scenario put in
    remark: str = ""


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


def of_value(id: str, number: Number) -> Entry:
    """The same for a value that need not be in the ledger."""
    law = naming.law_of(id)
    return Entry(
        id=id,
        kind="number",
        says=naming.says(id),
        source=f"law {law.id}" if law else "computed from the laws",
        value=number.said,
        url=f"{naming.page(id)}.html#{naming.anchor(id)}",
        edition=edition(),
        **(_equation(law.eq, law.holds) if law else {}),
    )


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


# Forms -----------------------------------------------------------------------------------------


def written(found: Entry, form: str = "markdown") -> str:
    """Return an entry in one of the forms."""
    if form not in FORMS:
        raise BadInput(f"no form {form!r}{nearest(form, FORMS)}")
    return {"markdown": markdown, "latex": latex_text, "bibtex": bibtex, "json": json_text}[form](
        found
    )


def markdown(found: Entry) -> str:
    lines = [f"**{found.id}** ({found.kind}): {_plain(found.says)}", ""]
    if found.value:
        lines += [f"Value: {found.value}", ""]
    if found.equation:
        lines += ["$$", found.equation, "$$", ""]
    if found.holds:
        lines += [f"Holds where ${found.holds}$.", ""]
    if found.worked:
        lines += [f"In {found.scenario}:", "", "$$", found.worked, "$$", ""]
    if found.remark:
        lines += [f"{_plain(found.remark)}.", ""]
    return "\n".join([*lines, f"Source: {_plain(found.source)}. {_where(found)}, `{found.url}`."])


def latex_text(found: Entry) -> str:
    lines = [rf"\textbf{{{_tex(found.id)}}} ({found.kind}): {_tex(found.says)}."]
    if found.value:
        lines += [f"Value: {_tex(found.value)}."]
    if found.equation:
        lines += [r"\begin{equation*}", found.equation, r"\end{equation*}"]
    if found.holds:
        lines += [f"Holds where ${found.holds}$."]
    if found.worked:
        lines += [f"In {_tex(found.scenario)}:"]
        lines += [r"\begin{equation*}", found.worked, r"\end{equation*}"]
    if found.remark:
        lines += [f"{_tex(found.remark)}."]
    where = rf"{_tex(_where(found))}, \texttt{{{_tex(found.url)}}}"
    return "\n".join([*lines, f"Source: {_tex(found.source)}. {where}."])


def bibtex(found: Entry) -> str:
    note = [f"Source: {found.source}"]
    note += [f"value: {found.value}"] if found.value else []
    note += [f"commit {found.commit}"] if found.commit else []
    worked = f"; in {_tex(found.scenario)}: ${found.worked}$" if found.worked else ""
    fields = {
        "author": f"{{{AUTHORS}}}",
        "title": f"{{{found.kind.capitalize()} {_tex(found.id)}: {_tex(found.says)}}}",
        "howpublished": rf"{TITLE}, edition {found.edition}, \texttt{{{_tex(found.url)}}}",
        "year": EDITION.partition(".")[0],
        "note": _tex("; ".join(note)) + worked,
    }
    rows = "\n".join(f"  {name:<12} = {{{value}}}," for name, value in fields.items())
    return f"@misc{{{key(found)},\n{rows}\n}}"


def key(found: Entry) -> str:
    """Return the name of an entry in a bibliography."""
    return re.sub(r"[^a-z0-9]+", "-", f"inferecon-{found.kind}-{found.id}".lower()).strip("-")


def json_text(found: Entry) -> str:
    kept = {k: v for k, v in found.model_dump().items() if v}
    return json.dumps(kept, ensure_ascii=False, indent=2)


def _where(found: Entry) -> str:
    commit = f", commit {found.commit}" if found.commit else ""
    return f"{AUTHORS}, {TITLE}, edition {found.edition}{commit}"


def _plain(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>$|])", r"\\\1", text)


def _tex(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(c, f"\\{c}" if c in "%_#&${}" else c) for c in text)


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
