"""Charts of rates: the roofline, and throughput against speed."""

import altair as alt

from .frame import finish


def roofline(roof: list[dict], points: list[dict], title: str, subtitle: list[str]) -> alt.Chart:
    """Rates against intensity: ``roof`` rows (intensity, rate), ``points`` also phase and label.

    A point may carry a ``text`` to stand beside it.
    """
    x = alt.X(
        field="intensity",
        type="quantitative",
        scale=alt.Scale(type="log"),
        title="arithmetic intensity (FLOP/B)",
        axis=alt.Axis(labelOverlap="greedy", labelSeparation=8),
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
    texts = [p for p in points if "text" in p]
    if texts:
        marks += (
            alt.Chart(alt.Data(values=texts))
            .mark_text(align="right", dx=-8, dy=-6, fontSize=11)
            .encode(x=x, y=y, text=alt.Text(field="text", type="nominal"))
        )
    said = "; ".join(f"{p['label']}: {p['intensity']:.3g} FLOP/B" for p in points)
    return finish(line + marks, title, subtitle, f"{title}. {said}.")


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
    return finish(chart, title, subtitle, f"{title}: {', '.join(subtitle)}.")
