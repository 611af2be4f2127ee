"""Search: leave the words of each page for Pagefind, and show its page in place of Sphinx's own.

A built page is mostly formulas and navigation, which nobody searches and which take Pagefind
longer to read than all the rest.  So a page leaves its words beside the doctrees when it is
written, as a small HTML page with the same headings and anchors; ``search`` indexes these.
"""

import re
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from ..citebox import MARK as CITE
from ..search import WORDS

SCRIPT = "js/search.js"
# Nobody searches a result by its digits, nor a list of choices by all that stands in it.
UNSEEN = re.compile(r"<(script|style|noscript|svg|table|select)\b.*?</\1>", re.DOTALL)
UNASKED = re.compile(CITE)  # nor the four forms of a citation
SKIPPED = (nodes.math, nodes.math_block, nodes.comment, nodes.image, addnodes.toctree)
RECORDS = ("models/", "hardware/", "data/models/", "data/hardware/")  # looked up by name
# A search for words finds first what explains them: the chapters, then tables, then records.
WEIGHTS = {"data/": "0.2", "claims/": "0.3", "reference/": "0.3"}
WEIGHTS |= dict.fromkeys(("models/", "hardware/", "chapters/", "laws"), "0.5")


def words(node: nodes.Node, left_out: tuple[type, ...], level: int = 0) -> Iterator[str]:
    """Write the words under a node, in headings with anchors and in blocks."""
    if isinstance(node, nodes.Text):
        yield escape(node.astext())
    elif isinstance(node, nodes.raw):
        yield "" if UNASKED.search(node.astext()) else f" {escape(seen(node.astext()))} "
    elif isinstance(node, nodes.title) and isinstance(node.parent, nodes.section):
        title, anchor = escape(" ".join(node.astext().split())), escape(node.parent["ids"][0])
        kept = f' data-pagefind-meta="title:{title}"' if level == 1 else ""
        # a name such as Llama-3.1-8B is asked for in pieces
        asked = re.sub(r"(?<=\w)-(?=\w)", " ", title)
        yield f'<h{min(level, 6)} id="{anchor}"{kept}>{asked}</h{min(level, 6)}>\n'
    elif not isinstance(node, left_out):
        inner = "".join(
            part
            for child in node.children
            for part in words(child, left_out, level + isinstance(node, nodes.section))
        )
        block = isinstance(node, nodes.TextElement) and not isinstance(node, nodes.Inline)
        yield f"<p>{inner}</p>\n" if block else f"{inner} " if _apart(node) else inner


def _apart(node: nodes.Node) -> bool:
    return isinstance(node, (nodes.entry, nodes.list_item, nodes.term))


def seen(html: str) -> str:
    """Return what a reader sees of a piece of HTML."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", UNSEEN.sub(" ", html))).split())


def leave_words(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Write the words of a page for the index."""
    if doctree is None:
        return
    left_out = (*SKIPPED, nodes.table) if pagename.startswith(RECORDS) else SKIPPED
    weight = next((w for start, w in WEIGHTS.items() if pagename.startswith(start)), "1")
    path = Path(app.doctreedir) / WORDS / f"{pagename}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'<html lang="en"><body data-pagefind-weight="{weight}">\n'
        f"{''.join(words(doctree, left_out))}</body></html>\n",
        encoding="utf-8",
    )


def no_index(app: Sphinx) -> None:
    """Keep Sphinx from making an index and a page of its own, which misses typos and phrases."""
    app.builder.search = False


def search_page(app: Sphinx):
    """Have the page of the search written, to which the theme's boxes lead."""
    yield "search", {"title": "Search"}, "search.html"


def add_script(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    if template == "search.html":
        app.add_js_file(SCRIPT, loading_method="defer")


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", no_index)
    app.connect("html-collect-pages", search_page)
    app.connect("html-page-context", leave_words)
    app.connect("html-page-context", add_script)
