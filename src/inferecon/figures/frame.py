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
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from html import escape

import altair as alt
from altair.utils.schemapi import debug_mode

from .data import Column, carry, folded, links
from .layout import WIDE, changed, fits, heights, laid
from .meaning import GREY, INK

MIME = "application/vnd.vegalite.v5+json"  # the newest one JupyterLab 4 draws without a network
CONFIG = {
    "range": {"category": [INK, GREY]},  # a chart names what else its colours mean
    "axisQuantitative": {"labelOverlap": "greedy", "labelSeparation": 8},
}

# One legend beneath the other; the schema of Vega-Lite forgot what its compiler passes on.
BELOW = {"legend": {"layout": {"bottom": {"direction": "vertical", "anchor": "start"}}}}


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

    return vl_convert.vegalite_to_svg(_fixed(spec), config=BELOW)


def _fills(spec: dict) -> bool:
    return spec.get("width") == "container"


def _fixed(spec: dict) -> dict:
    return {**spec, "width": WIDE} if _fills(spec) else spec


def figure(spec: dict) -> str:
    """Return the HTML figure of a chart: still drawing, text alternative, specification, data.

    Its numbers stand beside it, to be saved and as a table to unfold.
    """
    drawn = {key: value for key, value in spec.items() if key != "usermeta"}
    if spec.get("usermeta", {}).get("fills"):
        drawn["width"] = "container"  # a page ends measuring
    picture = still(drawn)
    high = int(re.search(r'height="(\d+)', picture)[1])
    # kept free, so that no line below moves
    free = ";".join(f"--high-{width}:{px}px" for width, px in heights(drawn, high).items())
    drawn["usermeta"] = {"fits": fits(drawn)}
    body = json.dumps(drawn, sort_keys=True, separators=(",", ":")).replace("<", r"\u003c")
    key = hashlib.sha256(body.encode()).hexdigest()[:10]
    label = escape(spec.get("description") or "Chart", quote=True)
    return (
        f'<figure class="vl-chart" id="vl-{key}" aria-label="{label}">'
        f'<div class="vl-view" style="{free}"></div><noscript>{picture}</noscript>'
        f'<script type="application/json">{body}</script>{links(spec)}{folded(spec)}</figure>'
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
    spec["title"] = {"text": [title], "subtitle": subtitle, "anchor": "start", "offset": 10}
    spec |= {"description": description, "width": "container", "height": height}
    spec["config"] = {**spec["config"], **CONFIG}
    spec = changed(spec, laid(spec, WIDE)[0])
    return carry(Drawing(spec), f"{title} {' '.join(subtitle[:1])}", columns, rows)


def ticks(low: float, high: float) -> list[float]:
    """Return powers of ten, and two and five of them where they are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits_ = (1,) if math.log10(high / low) > 3 else (1, 2, 5)
    ticks = (float(f"{digit}e{power}") for power in powers for digit in digits_)
    return [tick for tick in ticks if low <= tick <= high]


alt.renderers.register("inferecon", render)
alt.renderers.enable("inferecon")
alt.data_transformers.disable_max_rows()
