"""Charts of rates: the roofline, and throughput against speed."""

import altair as alt

from ..numbers import digits
from .data import Column
from .frame import Drawing, draws, finish
from .meaning import DASHES, GREY, PHASES, inks


@draws
def roofline(roof: list[dict], points: list[dict], title: str, subtitle: list[str]) -> Drawing:
    """Rates against intensity: ``roof`` rows (intensity, rate), ``points`` also phase and label.

    A point may carry a ``text`` to stand beside it.
    """
    x = alt.X(
        field="intensity",
        type="quantitative",
        scale=alt.Scale(type="log"),
        title="arithmetic intensity (FLOP/B)",
        axis=alt.Axis(tickCount=4, labelOverlap="greedy", labelSeparation=8),
    )
    y = alt.Y(
        field="rate",
        type="quantitative",
        scale=alt.Scale(type="log"),
        title="rate (TFLOP/s per device)",
        axis=alt.Axis(tickCount=3),
    )
    line = alt.Chart(alt.Data(values=roof)).mark_line(color=GREY, strokeWidth=2).encode(x=x, y=y)
    legend = alt.Legend(orient="bottom")
    phase, phases = {"field": "phase", "type": "nominal", "title": None}, list(PHASES)
    hues = alt.Scale(domain=phases, range=list(PHASES.values()))
    colour = alt.Color(**phase, scale=hues, legend=legend)
    shapes = alt.Scale(domain=phases, range=["cross", "triangle-down"])
    shape = alt.Shape(**phase, scale=shapes, legend=legend)
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
    layers = [line, marks]
    texts = [p for p in points if "text" in p]
    if texts:
        layers.append(
            alt.Chart(alt.Data(values=texts))
            .mark_text(align="right", dx=-2, dy=-11, fontSize=11)
            .encode(x=x, y=y, text=alt.Text(field="text", type="nominal"))
        )
    said = "; ".join(
        f"{p['label']}: {digits(p['intensity'])} FLOP/B, at most {digits(p['rate'])} TFLOP/s"
        for p in points
    )
    columns = {
        "label": Column("step"),
        "intensity": Column("intensity", "FLOP/B", "intensity"),
        "rate": Column("rate", "TFLOP/s", "at most"),
    }
    chart = alt.layer(*layers)
    return finish(chart, title, subtitle, f"{title}. {said}.", points, columns)


@draws
def latency_throughput(rows: list[dict], title: str, subtitle: list[str]) -> Drawing:
    """Throughput of a device against speed for a reader, one line a context length.

    ``rows`` hold interactivity (token/s), throughput (token/s), batch, isl, and it as ``context``.
    """
    x = alt.X(field="interactivity", type="quantitative", title="speed for one reader (tok/s)")
    y = alt.Y(
        field="throughput",
        type="quantitative",
        scale=alt.Scale(type="log"),
        title="output of one device (tok/s)",
        axis=alt.Axis(tickCount=3),
    )
    prompts = list(dict.fromkeys(row["context"] for row in rows))
    context = {"field": "context", "type": "nominal", "title": "prompt (tokens)"}
    context["legend"] = alt.Legend(
        orient="bottom", symbolType="stroke", symbolSize=400, symbolStrokeWidth=2
    )
    colour = alt.Color(**context, scale=alt.Scale(domain=prompts, range=inks(prompts)))
    dashes = alt.Scale(domain=prompts, range=DASHES[: len(prompts)])
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
        .mark_line(point=alt.OverlayMarkDef(filled=True, size=36))
        .encode(
            x=x,
            y=y,
            color=colour,
            strokeDash=alt.StrokeDash(**context, scale=dashes),
            order=alt.Order(field="batch", type="quantitative"),
            tooltip=tooltip,
        )
    )
    lines: dict[str, list[dict]] = {}
    for row in rows:
        lines.setdefault(row["context"], []).append(row)
    said = "; ".join(
        f"prompt {context}: "
        + ", ".join(
            f"batch {r['batch']:,} {digits(r['interactivity'])} and {digits(r['throughput'])}"
            for r in (line[0], line[-1])
        )
        for context, line in lines.items()
    )
    columns = {
        "isl": Column("isl", "token", "prompt"),
        "batch": Column("batch"),
        "interactivity": Column("interactivity", "token/s"),
        "throughput": Column("throughput_device", "token/s"),
    }
    both = "Tokens a second of a reader and of a device"
    description = f"{title}, {', '.join(subtitle)}. {both}, {said}."
    return finish(chart, title, subtitle, description, rows, columns)
