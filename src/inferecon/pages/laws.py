"""Show laws and derivations: ``{law} ID``, ``{derivation} ID``, ``{laws} chapter``, ``{symbols}``.

The page is written by the objects themselves, so it cannot disagree with what computes.
"""

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from ..anchors import label
from ..cite import of_derivation, of_law
from ..citebox import box
from ..errors import nearest
from ..law import Law, display, latex
from ..laws import BY_ID, CHAPTERS, DERIVATIONS
from ..symbols import GLOSSARY


class Written(SphinxDirective):
    """A directive that writes MyST and has it parsed in place."""

    def parse(self, text: str) -> list[nodes.Node]:
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
    """All laws of a chapter, one below the other: id, what it says, source, equation."""

    required_arguments = 1

    def run(self):
        keys = bibliography(self.env)
        lines = [":::{div} law-list"]
        for law in self.named(CHAPTERS, "chapter"):
            lines += [
                f"{anchor(law)}**{law.id}** {law.says}. {cited(law.source, keys)}",
                "",
                "$$",
                display(law.eq),
                "$$",
                "",
            ]
        return self.parse("\n".join([*lines, ":::"]))


class DerivationDirective(Written):
    """A chain of equations, one row a step, with the reason on the right."""

    required_arguments = 1

    def run(self):
        proof, name = self.named(DERIVATIONS, "derivation"), self.arguments[0]
        lines = [f"({label(name)})=", "::::{div} derivation"]
        for step, (eq, why) in enumerate(proof.steps, 1):
            lines += [f"({label(f'{name}/step {step}')})="]
            lines += [f"**{step}.** {why}", "", "$$", display(eq), "$$", ""]
        if proof.holds is not True and str(proof.holds) != "True":
            lines += [f"*holds where* ${latex(proof.holds)}$", ""]
        return self.parse("\n".join([*lines, *box(of_derivation(name)), "::::"]))


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
    unit = f"{GLOSSARY[law.symbol].unit:~}".replace("*", " ") or "pure number"
    lines = [
        f"({label(law.id)})=",
        "::::{div} law",
        f"**{law.id}** {law.says}",
        "",
        "$$",
        display(law.eq),
        "$$",
        "",
        f"{GLOSSARY[law.symbol].meaning}, in {unit}. Source: {cited(law.source, keys)}.",
    ]
    if law.holds is not True and str(law.holds) != "True":
        lines += [f"Holds where ${latex(law.holds)}$."]
    return "\n".join([*lines, "", *box(of_law(law)), "::::"])


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
