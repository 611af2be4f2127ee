"""Draw arrays: every function takes numbers that laws computed and returns an Altair chart.

In a notebook a chart is its Vega-Lite specification.  On a page it is one HTML
figure: a drawing that needs no script, and the specification for the page to
bring alive.  Nothing is fetched.
"""

import hashlib
import json
from html import escape

import altair as alt

# Okabe and Ito: told apart with any kind of colour vision, on white and on black.
PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8A8A8A"]
MIME = "application/vnd.vegalite.v5+json"  # the newest one JupyterLab 4 draws without a network


def render(spec: dict, **_) -> dict:
    """Return what a notebook shows: the specification, which JupyterLab and the book can draw."""
    return {MIME: spec, "text/plain": spec.get("description") or "Chart"}


def still(spec: dict) -> str:
    """Return a chart as SVG, 640 wide where it would fill the page."""
    import vl_convert  # starts a JavaScript engine, which only the pages need

    return vl_convert.vegalite_to_svg({**spec, "width": 640} if _fills(spec) else spec)


def _fills(spec: dict) -> bool:
    return spec.get("width") == "container"


def figure(spec: dict) -> str:
    """Return the HTML figure of a chart: still drawing, text alternative and specification."""
    body = json.dumps(spec, sort_keys=True, separators=(",", ":")).replace("</", "<\\/")
    key = hashlib.sha256(body.encode()).hexdigest()[:10]
    label = escape(spec.get("description") or "Chart", quote=True)
    return (
        f'<figure class="vl-chart" id="vl-{key}" aria-label="{label}">'
        f'<div class="vl-view"></div><noscript>{still(spec)}</noscript>'
        f'<script type="application/json">{body}</script></figure>'
    )


alt.renderers.register("inferecon", render)
alt.renderers.enable("inferecon")
alt.data_transformers.disable_max_rows()


def _finish(chart: alt.Chart, title: str, subtitle: list[str], description: str) -> alt.Chart:
    """Give a chart its finding as title, a text alternative, and the width of the page."""
    return chart.properties(
        title=alt.TitleParams(title, subtitle=subtitle, anchor="start"),
        description=description,
        width="container",
        height=280,
    ).configure_range(category=PALETTE)


def roofline(roof: list[dict], points: list[dict], title: str, subtitle: list[str]) -> alt.Chart:
    """Rates against intensity: ``roof`` rows (intensity, rate), ``points`` also phase and label."""
    x = alt.X(
        field="intensity",
        type="quantitative",
        scale=alt.Scale(type="log"),
        title="arithmetic intensity (FLOP/B)",
    )
    y = alt.Y(
        field="rate",
        type="quantitative",
        scale=alt.Scale(type="log"),
        title="rate (TFLOP/s per device)",
    )
    line = (
        alt.Chart(alt.Data(values=roof)).mark_line(color="#8A8A8A", strokeWidth=2).encode(x=x, y=y)
    )
    colour = alt.Color(
        field="phase", type="nominal", title=None, legend=alt.Legend(orient="bottom", columns=3)
    )
    shape = alt.Shape(field="phase", type="nominal", title=None)
    tooltip = [
        alt.Tooltip(field="label", type="nominal", title="step"),
        alt.Tooltip(field="intensity", type="quantitative", format=",.3~r", title="FLOP/B"),
        alt.Tooltip(field="rate", type="quantitative", format=",.3~r", title="TFLOP/s"),
    ]
    marks = (
        alt.Chart(alt.Data(values=points))
        .mark_point(filled=True, size=80, opacity=1)
        .encode(x=x, y=y, color=colour, shape=shape, tooltip=tooltip)
    )
    said = "; ".join(f"{p['label']}: {p['intensity']:.3g} FLOP/B" for p in points)
    return _finish(line + marks, title, subtitle, f"{title}. {said}.")


def latency_throughput(rows: list[dict], title: str, subtitle: list[str]) -> alt.Chart:
    """Throughput of a device against speed for a reader, one line a context length.

    ``rows`` hold interactivity (token/s), throughput (token/s), batch, context.
    """
    x = alt.X(field="interactivity", type="quantitative", title="speed for one reader (tok/s)")
    y = alt.Y(
        field="throughput",
        type="quantitative",
        scale=alt.Scale(type="log"),
        title="output of one device (tok/s)",
    )
    colour = alt.Color(
        field="context",
        type="nominal",
        title="prompt (tokens)",
        legend=alt.Legend(orient="bottom", columns=3),
    )
    tooltip = [
        alt.Tooltip(field="batch", type="quantitative", title="batch"),
        alt.Tooltip(field="context", type="nominal", title="prompt"),
        alt.Tooltip(
            field="interactivity", type="quantitative", format=",.3~r", title="tok/s, reader"
        ),
        alt.Tooltip(field="throughput", type="quantitative", format=",.3~r", title="tok/s, device"),
    ]
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=alt.OverlayMarkDef(filled=True, size=50))
        .encode(
            x=x,
            y=y,
            color=colour,
            shape=alt.Shape(field="context", type="nominal", title="prompt (tokens)"),
            order=alt.Order(field="batch", type="quantitative"),
            tooltip=tooltip,
        )
    )
    return _finish(chart, title, subtitle, f"{title}: {', '.join(subtitle)}.")


def bars(rows: list[dict], unit: str, title: str, subtitle: list[str]) -> alt.Chart:
    """Horizontal bars: ``rows`` hold name, value and group, longest value at the bottom."""
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            x=alt.X(field="value", type="quantitative", title=unit, axis=alt.Axis(tickCount=5)),
            y=alt.Y(
                field="name",
                type="nominal",
                sort=[r["name"] for r in rows],
                title=None,
                axis=alt.Axis(labelLimit=220),
            ),
            color=alt.Color(
                field="group",
                type="nominal",
                title=None,
                legend=alt.Legend(orient="bottom", columns=3),
            ),
            tooltip=[
                alt.Tooltip(field="name", type="nominal"),
                alt.Tooltip(field="value", type="quantitative", format=",.3~r", title=unit),
            ],
        )
    )
    said = "; ".join(f"{row['name']} {row['value']:.3g} {unit}" for row in rows)
    return _finish(chart, title, subtitle, f"{title}. {said}.")


def grouped(rows: list[dict], unit: str, title: str, subtitle: list[str]) -> alt.Chart:
    """Points on a logarithmic axis: ``rows`` hold name, group and value; names keep their order."""
    names = list(dict.fromkeys(row["name"] for row in rows))
    group = {"field": "group", "type": "nominal", "title": None}
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            x=alt.X(
                field="value",
                type="quantitative",
                title=f"{unit} (logarithmic)",
                scale=alt.Scale(type="log"),
            ),
            y=alt.Y(
                field="name",
                type="nominal",
                sort=names,
                title=None,
                axis=alt.Axis(grid=True, labelLimit=220),
            ),
            color=alt.Color(**group, legend=alt.Legend(orient="bottom")),
            shape=alt.Shape(**group),
            tooltip=[
                alt.Tooltip(field="name", type="nominal"),
                alt.Tooltip(field="group", type="nominal"),
                alt.Tooltip(field="value", type="quantitative", format=",.3~r", title=unit),
            ],
        )
    )
    said = "; ".join(f"{row['name']}, {row['group']}: {row['value']:.3g}" for row in rows)
    return _finish(chart, title, subtitle, f"{title}, {unit}. {said}.")


def tornado(rows: list[dict], unit: str, title: str, subtitle: list[str]) -> alt.Chart:
    """Bars from one to a ratio: ``rows`` hold name, group and value; names keep their order."""
    names = list(dict.fromkeys(row["name"] for row in rows))
    chart = (
        alt.Chart(alt.Data(values=[{**row, "base": 1} for row in rows]))
        .mark_bar()
        .encode(
            x=alt.X(
                field="value",
                type="quantitative",
                title=unit,
                axis=alt.Axis(values=[0.25, 0.5, 0.7, 1, 1.4, 2, 4], format="~g"),
                scale=alt.Scale(type="log", nice=False, padding=10),
            ),
            x2=alt.X2(field="base"),
            y=alt.Y(field="name", type="nominal", sort=names, title=None),
            yOffset=alt.YOffset(field="group", type="nominal"),
            color=alt.Color(
                field="group", type="nominal", title=None, legend=alt.Legend(orient="bottom")
            ),
            tooltip=[
                alt.Tooltip(field="name", type="nominal"),
                alt.Tooltip(field="group", type="nominal"),
                alt.Tooltip(field="value", type="quantitative", format=",.3~r", title=unit),
            ],
        )
    )
    said = "; ".join(f"{row['name']} {row['group']}: {row['value']:.3g}" for row in rows)
    return _finish(chart, title, subtitle, f"{title}, {unit}. {said}.")
