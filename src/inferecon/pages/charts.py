"""Charts on pages: ``{picture} chapter`` draws one, and Vega is loaded where there are any.

A chart reaches the page as ``<figure class="vl-chart" id="vl-…">`` with an empty
``<div class="vl-view">``, a still picture in ``<noscript>`` and its specification in
``<script type="application/json">``; ``js/charts.js`` draws it.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from .. import figures, worked
from ..errors import nearest
from ..pictures import PICTURES
from .scripts import load

MARK = 'class="vl-chart"'
STYLE = "css/charts.css"
SCRIPTS = ("vega/vega.min.js", "vega/vega-lite.min.js", "vega/vega-embed.min.js", "js/charts.js")


def add_scripts(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Add the chart scripts to a page whose body holds a chart."""
    load(app, context, MARK, [STYLE], SCRIPTS)


class Picture(SphinxDirective):
    """The chart of a chapter, drawn from its laws; its page is read again if a record changes."""

    required_arguments = 1

    def run(self):
        name = self.arguments[0]
        if name not in PICTURES:
            raise self.error(f"no picture {name!r}{nearest(name, PICTURES)}")
        for path in worked.sources():
            self.env.note_dependency(str(path))
        return [nodes.raw("", figures.figure(PICTURES[name]().to_dict()), format="html")]


class VegaLite:
    """MyST-NB plugin: a chart in a notebook's output becomes the figure of the page."""

    mime_priority_overrides = [("html", figures.MIME, 1)]

    @staticmethod
    def handle_mime(renderer, data, inline):
        """Return the figure for a Vega-Lite output, None for any other."""
        if inline or data.mime_type != figures.MIME:
            return None
        return [nodes.raw("", figures.figure(data.content), format="html")]


def setup(app: Sphinx) -> None:
    app.add_directive("picture", Picture)
    app.connect("html-page-context", add_scripts)
