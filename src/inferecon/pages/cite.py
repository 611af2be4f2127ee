"""Add the copy buttons to a page that has a box "Cite", or numbers that open one."""

from sphinx.application import Sphinx

from ..citebox import MARK
from ..numberbox import DATA


def add_script(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Load the script where there is something to copy."""
    body = context.get("body", "")
    if MARK in body or DATA in body:
        app.add_js_file("js/cite.js", loading_method="defer")


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", add_script)
