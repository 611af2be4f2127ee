"""The book's own Sphinx extension: how a page is rendered, never what a number is.

Each part is a module with a ``setup(app)`` of its own; a new role or directive is one more
module and one more name in ``PARTS``.
"""

from pathlib import Path

from myst_nb.sphinx_ext import add_global_html_resources
from sphinx.application import Sphinx

from . import (
    calculator,
    charts,
    cite,
    claims,
    explorer,
    head,
    katex_node,
    laws,
    previews,
    published,
    search,
    sidebar,
    tables,
)

PARTS = (
    calculator,
    charts,
    cite,
    claims,
    explorer,
    head,
    katex_node,
    laws,
    previews,
    published,
    search,
    sidebar,
    tables,
)


def setup(app: Sphinx) -> dict:
    """Connect every part to Sphinx."""
    for part in PARTS:
        part.setup(app)
    app.connect("config-inited", number_no_figures, priority=900)  # after those who set it
    app.connect("env-before-read-docs", prepare)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def prepare(app: Sphinx, env, pages: list[str]) -> None:
    """Let Sphinx read pages beside each other, and give the same bytes at every build.

    Jupyter Book adds two extensions itself that only forget to say that they are safe: one
    numbers parts after reading, in one process, and the other is for LaTeX alone.  MyST-NB
    copies its style sheet at the end, so that only a second build would know its checksum.
    """
    for name in ("sphinx_multitoc_numbering", "sphinx_jupyterbook_latex"):
        if name in app.extensions:
            app.extensions[name].parallel_read_safe = True
    (Path(app.outdir) / "_static").mkdir(parents=True, exist_ok=True)
    add_global_html_resources(app, None)


def number_no_figures(app: Sphinx, config) -> None:
    """Leave figures without numbers: no page refers to one, and numbering reads all pages again."""
    config.numfig = False
