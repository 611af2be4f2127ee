"""The tree of parts and chapters at the left of every page.

The theme resolves the whole table of contents again for each page, which makes the build
quadratic with a large factor.  Here the tree is read once; a page only marks its own branch.
"""

from dataclasses import dataclass
from pathlib import Path

from sphinx.application import Sphinx

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Entry:
    """One page in the tree, with the pages below it."""

    page: str
    title: str
    below: tuple["Entry", ...]

    def holds(self, page: str) -> bool:
        """Say whether ``page`` is this entry or lies below it."""
        return self.page == page or any(entry.holds(page) for entry in self.below)


def entries(app: Sphinx, pages) -> tuple[Entry, ...]:
    """Return the entries of some pages of the table of contents, with all below them."""
    return tuple(
        Entry(
            page,
            heading(app, page),
            tuple(e for part in site_of(app, page).subtrees for e in entries(app, part.items)),
        )
        for page in pages
    )


def site_of(app: Sphinx, page: str):
    """Return what the table of contents says about one page."""
    return app.config.external_site_map[page]


def heading(app: Sphinx, page: str) -> str:
    """Return a page's title, with its number where the table of contents numbers it."""
    numbers = app.env.toc_secnumbers.get(page, {}).get("", ())
    return " ".join(filter(None, (".".join(map(str, numbers)), app.env.titles[page].astext())))


def read_parts(app: Sphinx, env) -> None:
    """Keep the tree of the book: (caption, entries) for each part."""
    parts = app.config.external_site_map.root.subtrees
    app.builder.globalcontext_parts = [(part.caption, entries(app, part.items)) for part in parts]


def add_parts(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Hand the tree to the template."""
    context["book_parts"] = app.builder.globalcontext_parts


def add_templates(app: Sphinx, config) -> None:
    """Let Sphinx find ``book-nav.html`` and show it in the left column."""
    config.templates_path.append(str(TEMPLATES))
    config.html_sidebars = {"**": ["navbar-logo.html", "search-button-field.html", "book-nav.html"]}


def setup(app: Sphinx) -> None:
    app.connect("config-inited", add_templates)
    app.connect("env-check-consistency", read_parts)  # after sections were numbered
    app.connect("html-page-context", add_parts)
