"""The box "Cite" under each law and derivation: four forms, folded, ready to copy.

The text stands in the page and can be selected; ``js/cite.js`` adds the buttons
that copy it, so a page without scripts lacks nothing but those.
"""

from html import escape

from sphinx.application import Sphinx

from ..cite import Entry, written

MARK = 'class="cite"'
FORMS = {"markdown": "Markdown", "latex": "LaTeX", "bibtex": "BibTeX", "json": "JSON"}


def box(found: Entry) -> list[str]:
    """Return MyST lines of the box; of the four forms one is open at a time."""
    group = escape(f"cite-{found.id}", quote=True)
    parts = []
    for form, title in FORMS.items():
        # an empty line would end nothing here, but a fence would: text of laws cannot hold one
        text = escape(written(found, form))
        opened = " open" if form == "markdown" else ""
        parts.append(
            f'<details name="{group}"{opened}><summary>{title}</summary><pre>{text}</pre></details>'
        )
    body = "".join(parts)
    return [
        "``````{raw} html",
        f'<details {MARK}><summary>Cite<span class="visually-hidden"> {escape(found.id)}</span>'
        f"</summary>{body}</details>",
        "``````",
    ]


def add_script(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Add the copy buttons to a page that has a box."""
    if MARK in context.get("body", ""):
        app.add_js_file("js/cite.js", loading_method="defer")


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", add_script)
