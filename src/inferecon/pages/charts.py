"""Load Vega on the pages that show a chart, and on no other.

A chart reaches the page as ``<figure class="vl-chart" id="vl-…">`` with an empty
``<div class="vl-view">``, a still picture in ``<noscript>`` and its specification in
``<script type="application/json">``; ``js/charts.js`` draws it.
"""

from docutils import nodes
from sphinx.application import Sphinx

from .. import figures

MARK = 'class="vl-chart"'
SCRIPTS = ("vega/vega.min.js", "vega/vega-lite.min.js", "vega/vega-embed.min.js", "js/charts.js")


def add_scripts(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Add the chart scripts to a page whose body holds a chart."""
    if MARK in context.get("body", ""):
        for script in SCRIPTS:
            app.add_js_file(script, loading_method="defer")


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
    app.connect("html-page-context", add_scripts)
