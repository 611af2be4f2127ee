"""What all charts share: their colours, their frame, and how they get onto a page.

Altair writes the marks and channels of a chart; title, width and table are then added to
the specification itself, because Altair copies all data of a layered chart for each of
them and checks every part on its own.  A test checks whole charts against the schema.

In a notebook a chart is its Vega-Lite specification.  On a page it is one HTML
figure: a drawing that needs no script, the specification for the page to bring
alive, and links that save the numbers.  Nothing is fetched.
"""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from html import escape
from textwrap import wrap

import altair as alt
from altair.utils.schemapi import debug_mode

from .data import Column, carry, links

# Okabe and Ito: told apart with any kind of colour vision, on white and on black.
PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8A8A8A"]
MIME = "application/vnd.vegalite.v5+json"  # the newest one JupyterLab 4 draws without a network
WIDE = 640  # of a chart that has no page to fill
LETTERS = 32  # of a title, on a telephone


def render(spec: dict, **_) -> dict:
    """Return what a notebook shows: the specification, which JupyterLab and the book can draw.

    JupyterLab 4 never ends measuring an output that is as wide as itself, and hangs.
    """
    if _fills(spec):
        spec = {**_fixed(spec), "usermeta": {**spec.get("usermeta", {}), "fills": True}}
    return {MIME: spec, "text/plain": spec.get("description") or "Chart"}


def still(spec: dict) -> str:
    """Return a chart as SVG."""
    import vl_convert  # starts a JavaScript engine, which only the pages need

    return vl_convert.vegalite_to_svg(_fixed(spec))


def _fills(spec: dict) -> bool:
    return spec.get("width") == "container"


def _fixed(spec: dict) -> dict:
    return {**spec, "width": WIDE} if _fills(spec) else spec


def figure(spec: dict) -> str:
    """Return the HTML figure of a chart: still drawing, text alternative, specification, data."""
    drawn = {key: value for key, value in spec.items() if key != "usermeta"}
    if spec.get("usermeta", {}).get("fills"):
        drawn["width"] = "container"  # a page ends measuring
    body = json.dumps(drawn, sort_keys=True, separators=(",", ":")).replace("<", r"\u003c")
    key = hashlib.sha256(body.encode()).hexdigest()[:10]
    label = escape(spec.get("description") or "Chart", quote=True)
    picture = still(drawn)
    high = re.search(r'height="(\d+)', picture)[1]  # kept free, so that no line below moves
    return (
        f'<figure class="vl-chart" id="vl-{key}" aria-label="{label}">'
        f'<div class="vl-view" style="min-height:{high}px"></div><noscript>{picture}</noscript>'
        f'<script type="application/json">{body}</script>{links(spec)}</figure>'
    )


@dataclass(frozen=True)
class Drawing:
    """A finished chart: a Vega-Lite specification that a notebook can show."""

    spec: dict

    @property
    def usermeta(self) -> dict:
        return self.spec["usermeta"]

    def properties(self, **new) -> "Drawing":
        """Return the same chart with other entries at its top."""
        return Drawing({**self.spec, **new})

    def to_dict(self) -> dict:
        return self.spec

    def _repr_mimebundle_(self, *_, **__) -> dict:
        return render(self.spec)


def draws(function: Callable) -> Callable:
    """Let Altair build a chart without checking each part of it on its own."""

    @wraps(function)
    def unchecked(*args, **options):
        with debug_mode(False):
            return function(*args, **options)

    return unchecked


def finish(
    chart: alt.TopLevelMixin,
    title: str,
    subtitle: list[str],
    description: str,
    rows: list[dict],
    columns: dict[str, Column],
    height: int = 280,
) -> Drawing:
    """Give a chart its finding as title, a text alternative, its table, and the page's width.

    ``columns`` says which fields of the rows are its table; ``carry`` gives it other names.
    """
    spec = chart.to_dict(validate=False)
    lines = wrap(title, LETTERS)
    spec["title"] = {"text": lines, "subtitle": subtitle, "anchor": "start", "offset": 10}
    spec |= {"description": description, "width": "container", "height": height}
    spec["config"] = {**spec["config"], "range": {"category": PALETTE}}
    return carry(Drawing(spec), f"{title} {' '.join(subtitle[:1])}", columns, rows)


alt.renderers.register("inferecon", render)
alt.renderers.enable("inferecon")
alt.data_transformers.disable_max_rows()
