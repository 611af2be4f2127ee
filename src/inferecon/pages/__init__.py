"""The book's own Sphinx extension: how a page is rendered, never what a number is.

Each part is a module with a ``setup(app)`` of its own; a new role or directive is one more
module and one more name in ``PARTS``.
"""

from sphinx.application import Sphinx

from . import charts, cite, claims, katex_node, laws, published, sidebar

PARTS = (charts, cite, claims, katex_node, laws, published, sidebar)


def setup(app: Sphinx) -> dict:
    """Connect every part to Sphinx."""
    for part in PARTS:
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
