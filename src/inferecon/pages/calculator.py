"""The calculator: ``{calculator}`` writes form and records, and its page loads the script."""

from collections.abc import Iterable

from docutils import nodes
from jinja2 import Environment, FileSystemLoader, select_autoescape
from markupsafe import Markup
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from ..calculator import bundle, records
from ..files import DATA
from .scripts import load, place
from .sidebar import TEMPLATES

MARK = '<div class="calculator">'
DATA_SCRIPT, SCRIPT = "js/records.js", "js/calculator.js"
STYLE = "css/calculator.css"
ENTRY = "calculator.mjs"
ENVIRONMENT = Environment(
    loader=FileSystemLoader(TEMPLATES),
    autoescape=select_autoescape(),
    trim_blocks=True,
)


def html() -> str:
    """Return the form, its fields labelled, and the empty places for the answers."""
    data = records.data()
    known = {id: one for id, one in data["models"].items() if "lacks" not in one}
    presets = [{"choices": choices} for _, choices in records.PRESETS]
    return ENVIRONMENT.get_template("calculator.html").render(
        tool="calculator",
        models=named(known),
        hardware=named(data["hardware"]),
        formats={role: [(id, id) for id in found] for role, found in data["roles"].items()},
        grids=named(data["grids"]),
        engines=[
            ("", "derived alone"),
            *(
                (id, f"derived, and predicted for {one['name']}")
                for id, one in data["predictions"]["engines"].items()
            ),
        ],
        links=anchors(one["at"] for one in data["shown"].values()),
        presets=[("", "…"), *((n, title) for n, (title, _) in enumerate(records.PRESETS))],
        presets_json=Markup(records.written(presets)),
    )


def anchors(addresses: Iterable[str]) -> str:
    """Return the anchors of laws that a script will link, for their previews."""
    return " ".join(sorted({at.partition("#")[2] for at in addresses}))


def named(found: dict) -> list[tuple[str, str]]:
    """Return ids with their names, in the order of the names."""
    return sorted(((id, one["name"]) for id, one in found.items()), key=lambda x: x[1].lower())


class CalculatorDirective(SphinxDirective):
    """The calculator; its page is read again when a record changes."""

    def run(self):
        for path in sorted([*DATA.rglob("*.yaml"), *DATA.glob("calibration/*.csv")]):
            self.env.note_dependency(str(path))
        # columns beside each other need the width, two headings no list
        self.env.metadata[self.env.docname]["html_theme.sidebar_secondary.remove"] = "true"
        return [nodes.raw("", html(), format="html")]


def scripts() -> dict[str, str]:
    """Return both scripts by file name: the records, and what computes with them.

    The records stand in a file of their own, so that the page is drawn before they are read.
    """
    return {
        DATA_SCRIPT: f"const calculatorRecords = {records.written(records.data())};\n",
        SCRIPT: bundle.bundled(ENTRY),
    }


def write_scripts(app: Sphinx, env, pages: list[str]) -> None:
    modules = bundle.MODULES.glob("*.mjs")
    place(app, "calculator", (DATA_SCRIPT, SCRIPT), scripts, modules)


def add_scripts(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    load(app, context, MARK, [STYLE], (DATA_SCRIPT, SCRIPT))


def setup(app: Sphinx) -> None:
    app.add_directive("calculator", CalculatorDirective)
    app.connect("env-before-read-docs", write_scripts)
    app.connect("html-page-context", add_scripts)
