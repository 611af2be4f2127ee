"""Show what a term or a law says where it is linked, without leaving the line.

The text of each target is put into the page that links it, since a page that was opened from
a folder may read no other.  Without the script a link is a link.
"""

import json
import re
from functools import cache
from html import escape, unescape

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from ..anchors import label, slug
from ..law import display
from ..laws.catalogue import LAWS
from .katex_node import render

GLOSSARY = "glossary"
DATA, SCRIPT = "previews", "js/previews.js"
TARGET = re.compile(r'href="[^"#]*#((?:term|law|row)-[^"]+)"')
LISTED = re.compile(r'id="(row-[^"]+)"')
LATER = re.compile(r'data-links="([^"]*)"')  # anchors that a script of the page will link


@cache
def laws() -> dict[str, object]:
    """Return each law by the anchor of its card and by that of its row among all laws."""
    rows = {f"row-{slug(law.id)}": law for law in LAWS}
    return rows | {label(law.id): law for law in LAWS}


def terms(env) -> dict[str, str]:
    """Return what the glossary says of each term, as HTML, by its anchor."""
    if not hasattr(env, "inferecon_terms"):
        found = {}
        for item in env.get_doctree(GLOSSARY).findall(nodes.definition_list_item):
            named = [*item.findall(nodes.term)]
            said = " ".join(part.astext() for part in item.findall(nodes.definition))
            for term in named:
                title = escape(term.astext())
                html = f"<p><strong>{title}</strong></p><p>{escape(' '.join(said.split()))}</p>"
                found |= {anchor: html for anchor in term["ids"]}
        env.inferecon_terms = found
    return env.inferecon_terms


def of_law(law) -> str:
    """Return name, equation and words of a law, as HTML."""
    return (
        f"<p><strong>{escape(law.id)}</strong> {escape(law.says)}</p>"
        f"{render(display(law.eq), True)}"
    )


def previewed(body: str, env) -> dict[str, str]:
    """Return the text for each term and law that a page links, by anchor.

    A law that the page lists has its words and its equation beside the link: all of them once
    more made the list of laws a third heavier, and slower to open.
    """
    anchors = {unescape(found) for found in TARGET.findall(body)}
    anchors |= {one for found in LATER.findall(body) for one in found.split()}
    there = {unescape(found) for found in LISTED.findall(body)}
    anchors -= there | {label(laws()[row].id) for row in there & laws().keys()}
    if not anchors:
        return {}
    known = terms(env) if any(a.startswith("term-") for a in anchors) else {}
    known = known | {a: of_law(laws()[a]) for a in anchors & laws().keys()}
    return {anchor: known[anchor] for anchor in sorted(anchors & known.keys())}


def depend(app: Sphinx, doctree: nodes.document) -> None:
    """Write a page again when the glossary changes that it quotes."""
    if any(link["reftype"] == "term" for link in doctree.findall(addnodes.pending_xref)):
        app.env.note_dependency(app.env.doc2path(GLOSSARY, base=False))


def add(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Give a page the texts of what it links, and the script that shows them."""
    if doctree is None or "body" not in context:
        return
    if found := previewed(context["body"], app.env):
        text = json.dumps(found, ensure_ascii=False, sort_keys=True).replace("<", r"\u003c")
        context["body"] += f'<script type="application/json" id="{DATA}">{text}</script>'
        app.add_js_file(SCRIPT, loading_method="defer")


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", depend)
    app.connect("html-page-context", add)
