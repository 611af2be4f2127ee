"""What a page says of itself: description and card in its head, edition and commit at its foot."""

import re
from html import escape
from urllib.parse import quote, urlencode

from docutils import nodes
from sphinx.application import Sphinx

from ..edition import UNSTAMPED, edition
from ..imprint import EDITION, TITLE, declared
from ..sitefiles import CARD
from .search import seen

# The theme settles "auto" when a page is complete: until then a dark one would be white.
# A table's columns move while its rows arrive: the style hides it until all of the page has been
# read and laid out once.
SETTLED = """{ const {dataset} = document.documentElement;
if (!['light', 'dark'].includes(dataset.theme)) dataset.theme =
    ['light', 'dark'].find(one => one === dataset.mode)
    ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
dataset.parsing = '';
document.addEventListener('readystatechange', () => requestAnimationFrame(() =>
    requestAnimationFrame(() => { delete dataset.parsing; })), {once: true}); }"""
ALONE = "html_theme.sidebar_secondary.remove"  # of a page without a list of its headings
LONGEST = 200  # characters of a description
ICONS = re.compile(r"<script[^>]*/fontawesome\.js[^>]*></script>")


def describe(doctree: nodes.document) -> str:
    """Return the first paragraph that needs no formula, cut after whole sentences."""
    for paragraph in doctree.findall(nodes.paragraph):
        own = isinstance(paragraph.parent, nodes.section)
        if own and not next(iter(paragraph.findall(nodes.math)), None):
            text = "".join(
                seen(leaf.astext()) if isinstance(leaf, nodes.raw) else leaf.astext()
                for leaf in paragraph.findall(lambda n: isinstance(n, (nodes.Text, nodes.raw)))
                if isinstance(leaf, nodes.raw) or not isinstance(leaf.parent, nodes.raw)
            )
            return shortened(" ".join(text.split()))
    return ""


def shortened(text: str) -> str:
    """Return as many whole sentences as fit, or one that is cut."""
    if len(text) <= LONGEST:
        return text
    sentences = re.split(r"(?<=[.?!]) ", text)
    kept = sentences[0]
    for sentence in sentences[1:]:
        if len(kept) + 1 + len(sentence) > LONGEST:
            break
        kept += f" {sentence}"
    if LONGEST / 4 < len(kept) <= LONGEST:
        return kept
    return text[:LONGEST].rpartition(" ")[0] + " …"


def report_url(page: str) -> str:
    """Return a filled form for a wrong number on a page.

    It is the one of the repository that is declared; without one a letter that names nobody:
    who gave the copy to its reader is not known here.
    """
    repository, says = declared("repository-code"), f"Wrong number on {page}"
    body = f"Page: {page}\nEdition: {edition()}\nCommit: {UNSTAMPED}\n"
    if repository:
        return f"{repository}/issues/new?{urlencode({'title': says, 'body': body})}"
    return f"mailto:?{urlencode({'subject': says, 'body': body}, quote_via=quote)}"


def without_icon_script(head: str) -> str:
    """Return a head without the script that looks for icons among all elements of a page."""
    return ICONS.sub("", head)


def add_head(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Fill the head of a page, and the foot that the template writes."""
    context |= {"edition": edition(), "unstamped": UNSTAMPED, "report_url": report_url(pagename)}
    context["without_icon_script"] = without_icon_script
    if doctree is None:
        return
    title, says = app.env.titles[pagename].astext(), describe(doctree)
    tags = {"og:title": title, "og:type": "article", "og:site_name": TITLE}
    if says:
        tags["og:description"] = says
    if site := declared("url"):
        tags |= {"og:url": f"{site}/{pagename}.html", "og:image": f"{site}/{CARD}"}
    lines = [f'<meta property="{name}" content="{escape(text)}" />' for name, text in tags.items()]
    if says:
        lines.append(f'<meta name="description" content="{escape(says)}" />')
    lines.append(f'<meta name="citation_title" content="{escape(f"{TITLE}: {title}")}" />')
    lines.append(f'<meta name="citation_publication_date" content="{EDITION}" />')
    if ALONE in (context.get("meta") or {}):  # which a browser must know before the text
        lines.append('<meta name="layout" content="wide" />')
    context["metatags"] = "\n".join([context.get("metatags", ""), *lines])


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", add_head)
    app.add_js_file(None, body=SETTLED, priority=0)
