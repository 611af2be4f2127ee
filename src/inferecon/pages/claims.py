"""Load the filter of claims on the pages that list claims, and on no other."""

from sphinx.application import Sphinx

MARK = 'class="claim-filter'
SCRIPT = "js/claims.js"


def add_script(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Add the filter to a page whose body has a place for it."""
    if MARK in context.get("body", ""):
        app.add_js_file(SCRIPT, loading_method="defer")


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", add_script)
