"""Tables scroll in boxes of our own, each of which a keyboard reaches.

The theme measures each of its boxes when a page has loaded and changes the box before it
measures the next, so all that stands in them is laid out at once, also what nobody scrolled to:
seconds on the longest pages.
"""

from sphinx.application import Sphinx

OF_THEME = 'pst-scrollable-table-container"'
OWN = 'table-box" tabindex="0"'


def own_boxes(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Take the boxes of a page from the theme."""
    if "body" in context:
        context["body"] = context["body"].replace(OF_THEME, OWN)


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", own_boxes, priority=600)  # after those who write tables
