"""Add the copy buttons to a page that has a box "Cite"."""

from sphinx.application import Sphinx

from ..citebox import MARK


def add_script(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Add the copy buttons to a page that has a box."""
    if MARK in context.get("body", ""):
        app.add_js_file("js/cite.js", loading_method="defer")


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", add_script)
