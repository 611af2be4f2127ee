"""Show laws and derivations: ``{law} ID``, ``{derivation} ID``, ``{laws} chapter``, ``{symbols}``.

The page is written by the objects themselves, so it cannot disagree with what computes.
"""

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from .. import worked
from ..anchors import label
from ..cite import of_derivation, of_law, of_step
from ..citebox import box
from ..edition import pages
from ..errors import nearest
from ..law import Law, display
from ..laws.catalogue import BY_ID, CHAPTERS, DERIVATIONS
from ..symbols import GLOSSARY
from .cards import (
    derivation_details,
    dimensions,
    elasticities,
    in_unit,
    law_details,
    link,
    regime,
    step_basis,
)


class Written(SphinxDirective):
    """A directive that writes MyST and has it parsed in place.

    Its page is read again when a record changes that the worked examples use.
    """

    def parse(self, text: str) -> list[nodes.Node]:
        for path in worked.sources():
            self.env.note_dependency(str(path))
        holder = nodes.container()
        self.state.nested_parse(StringList(text.splitlines(), "law"), self.content_offset, holder)
        return holder.children

    def named(self, known: dict, what: str):
        name = self.arguments[0]
        if name not in known:
            raise self.error(f"no {what} {name!r}{nearest(name, known)}")
        return known[name]


class LawDirective(Written):
    """One law: what it says, the equation, its unit, where it comes from and where it holds."""

    required_arguments = 1

    def run(self):
        law = self.named(BY_ID, "law")
        return self.parse(law_text(law, bibliography(self.env)))


class LawsDirective(Written):
    """All laws of a chapter, one below the other: id, what it says, source, equation.

    A law with a card elsewhere links to it; one without has here what a card has.
    """

    required_arguments = 1

    def run(self):
        self.named(CHAPTERS, "chapter")
        return self.parse(list_text(self.arguments[0], bibliography(self.env)))


class DerivationDirective(Written):
    """A chain of equations, one row a step, with the reason on the right."""

    required_arguments = 1

    def run(self):
        self.named(DERIVATIONS, "derivation")
        return self.parse(derivation_text(self.arguments[0]))


class SymbolsDirective(Written):
    """The glossary of symbols, one table a topic."""

    option_spec = {"topic": directives.unchanged}

    def run(self):
        text, topic = [], None
        for symbol, entry in GLOSSARY.items():
            if entry.topic != topic:
                topic = entry.topic
                text += [
                    "",
                    f"**{topic}**",
                    "",
                    "| symbol | name | unit | meaning |",
                    "|---|---|---|---|",
                ]
            unit = f"{entry.unit:~}".replace("*", " ") or "–"
            text.append(f"| ${cell(entry.latex)}$ | `{symbol.name}` | {unit} | {entry.meaning} |")
        return self.parse("\n".join(text))


def law_text(law: Law, keys: set[str]) -> str:
    """MyST for one law."""
    lines = [
        f"({label(law.id)})=",
        "::::{div} law",
        f"**{law.id}** {law.says}",
        "",
        "$$",
        display(law.eq),
        "$$",
        "",
        f"{GLOSSARY[law.symbol].meaning}, {in_unit(law.symbol)}. Source: "
        f"{cited(law.source, keys)}.",
        f"{regime(law.holds)} {dimensions(law)} {elasticities(law)}",
    ]
    return "\n".join([*lines, *law_details(law), *box(of_law(law)), "::::"])


def list_text(chapter: str, keys: set[str]) -> str:
    """MyST for the list of all laws of a chapter."""
    lines = [":::{div} law-list"]
    for law in CHAPTERS[chapter]:
        carded = law.id in pages()
        name = link(law) if carded else law.id
        lines += [f"{anchor(law)}**{name}** {law.says}. {cited(law.source, keys)}"]
        lines += ["", "$$", display(law.eq), "$$", ""]
        if not carded:
            lines += [f"{regime(law.holds)} {dimensions(law)} {elasticities(law)}"]
            lines += [*law_details(law), *box(of_law(law)), ""]
    return "\n".join([*lines, ":::"])


def derivation_text(name: str) -> str:
    """MyST for one derivation."""
    proof = DERIVATIONS[name]
    lines = [f"({label(name)})=", "::::{div} derivation", f"**{name}**", ""]
    for step, (eq, why) in enumerate(proof.steps, 1):
        place = label(f"{name}/step {step}")
        basis = f"[{step_basis(proof, step, name)}]{{.by}}"
        number = f'<a class="step" href="#{place}" title="{name}/step {step}">{step}.</a>'
        lines += [f"({place})=", f"{number} {why} {basis}", "", "$$", display(eq), "$$", ""]
        lines += [*box(of_step(name, step)), ""]
    lines += [f"{regime(proof.holds, derived=True)} Dimensions were checked at each step."]
    return "\n".join([*lines, *derivation_details(proof), *box(of_derivation(name)), "::::"])


def anchor(law: Law) -> str:
    """An anchor for its place in a list, so that a law can be linked wherever it is listed."""
    return f'<a id="row-{law.id.lower()}"></a>'


def cell(text: str) -> str:
    r"""A bar ends a table cell; \vert prints the same."""
    return text.replace("|", r"\vert ")


def cited(source: str, keys: set[str]) -> str:
    """Turn "key, place; key, place" into citations where the key is in the bibliography."""
    parts = []
    for part in source.split("; "):
        key, comma, place = part.partition(", ")
        parts.append(f"{{cite}}`{key}`{comma}{place}" if key in keys else part)
    return "; ".join(parts)


def bibliography(env) -> set[str]:
    """Keys of the book's references."""
    text = (Path(env.srcdir) / "references.bib").read_text(encoding="utf-8")
    return {
        line.partition("{")[2].rstrip(",") for line in text.splitlines() if line.startswith("@")
    }


def setup(app: Sphinx) -> None:
    app.add_directive("law", LawDirective)
    app.add_directive("laws", LawsDirective)
    app.add_directive("derivation", DerivationDirective)
    app.add_directive("symbols", SymbolsDirective)
