"""An entry of this report, and how it writes itself as Markdown, LaTeX, BibTeX or JSON."""

import json
import re

from pydantic import BaseModel

from .errors import BadInput, nearest
from .imprint import AUTHORS, EDITION, TITLE

FORMS = ("markdown", "latex", "bibtex", "json")
GAP = chr(0xE000)  # where a script puts the address of a view; no text of ours has it


class Entry(BaseModel):
    """What is cited.  ``equation`` is LaTeX, ``sympy`` the same as SymPy writes it."""

    id: str
    kind: str  # law, derivation, step, number, fact or claim
    says: str
    of: str = ""  # whose value: model, devices, format, batch and lengths
    equation: str = ""
    sympy: str = ""
    holds: str = ""
    source: str
    value: str = ""
    known: str = ""  # how a value is known: a bound, calibrated, ...
    url: str
    edition: str
    commit: str = ""
    scenario: str = ""
    worked: str = ""  # LaTeX: the equation with the numbers of the scenario put in
    remark: str = ""


def written(found: Entry, form: str = "markdown") -> str:
    """Return an entry in one of the forms."""
    if form not in FORMS:
        raise BadInput(f"no form {form!r}{nearest(form, FORMS)}")
    return {"markdown": markdown, "latex": latex_text, "bibtex": bibtex, "json": json_text}[form](
        found
    )


def markdown(found: Entry) -> str:
    lines = [f"**{found.id}** ({found.kind}): {_plain(found.says)}", ""]
    if found.of:
        lines += [f"Of {_plain(found.of)}.", ""]
    if found.value:
        lines += [f"Value: {found.value}", ""]
    if found.known:
        lines += [f"Known as: {found.known}.", ""]
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
    if found.of:
        lines += [f"Of {_tex(found.of)}."]
    if found.value:
        lines += [f"Value: {_tex(found.value)}."]
    if found.known:
        lines += [f"Known as: {_tex(found.known)}."]
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
    note += [f"of {found.of}"] if found.of else []
    note += [f"value: {found.value}"] if found.value else []
    note += [f"known as: {found.known}"] if found.known else []
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
