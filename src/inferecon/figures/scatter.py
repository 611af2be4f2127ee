"""Chart of predicted against measured figures: a point a row, its interval, and the diagonal."""

import math

import altair as alt

from ..numbers import digits
from .data import Column
from .frame import Drawing, draws, finish, ticks
from .meaning import FAMILIES, GREY, INK

SAID = 5  # rows that the text alternative names
FINE = 4  # digits of a drawn figure


@draws
def scatter(
    rows: list[dict],
    unit: str,
    title: str,
    subtitle: list[str],
    said: str,
    shapes: dict[str, str],
) -> Drawing:
    """Predicted against measured on logarithmic axes; a point on the diagonal is exact.

    ``rows`` hold id, metric, group, source, model, family, card, engine, measured, predicted, low
    and high, the worst first; ``said`` tells in words what the points show.  Colours are families
    of models; ``shapes`` has the shape of each group.
    """
    rows = [{name: _fine(value) for name, value in row.items()} for row in rows]
    ends = [row[end] for row in rows for end in ("measured", "predicted")]
    scale = alt.Scale(type="log", nice=False, domain=[min(ends) * 0.8, max(ends) * 1.25])
    axis = alt.Axis(
        values=ticks(*scale.domain),
        format="~s" if scale.domain[0] >= 1 else ",~r",
        labelOverlap="greedy",
    )
    clipped = {"type": "quantitative", "scale": scale, "axis": axis}
    x = alt.X(field="measured", title=f"measured ({unit})", **clipped)
    upright = {"title": f"predicted ({unit})", **clipped}
    y = alt.Y(field="predicted", **upright)
    exact = (
        alt.Chart(alt.Data(values=[{"measured": end, "predicted": end} for end in scale.domain]))
        .mark_line(color=GREY, strokeWidth=1.5, aria=False)
        .encode(x=x, y=y)
    )
    spans = (
        alt.Chart()
        .mark_rule(color=GREY, strokeWidth=1, opacity=0.35, clip=True, aria=False)
        .encode(x=x, y=alt.Y(field="low", **upright), y2=alt.Y2(field="high"))
    )
    number = {"type": "quantitative", "format": ",.3~r"}
    names = ("id", "metric", "source", "model", "card", "engine")
    groups = [name for name in shapes if any(row["group"] == name for row in rows)]
    families = [name for name in FAMILIES if any(row["family"] == name for row in rows)]
    hues = alt.Scale(domain=families, range=[FAMILIES[name] for name in families])
    legend = alt.Legend(orient="bottom", symbolOpacity=1)
    inked = alt.Legend(orient="bottom", symbolOpacity=1, symbolFillColor=INK, symbolStrokeColor=INK)
    points = (
        alt.Chart()
        .mark_point(filled=True, size=40, opacity=0.85, aria=False)
        .encode(
            x=x,
            y=y,
            color=alt.Color(field="family", type="nominal", title=None, scale=hues, legend=legend),
            shape=alt.Shape(
                field="group",
                type="nominal",
                title=None,
                scale=alt.Scale(domain=groups, range=[shapes[name] for name in groups]),
                legend=inked,
            ),
            tooltip=[
                *(alt.Tooltip(field=name, type="nominal") for name in names),
                alt.Tooltip(field="measured", **number),
                alt.Tooltip(field="predicted", **number),
                alt.Tooltip(field="low", **number),
                alt.Tooltip(field="high", **number),
            ],
        )
    )
    many = alt.layer(spans, points, data=alt.Data(values=rows))
    worst = "; ".join(
        f"{row['id']}, {row['model']} on {row['card']}: measured {digits(row['measured'])}, "
        f"predicted {digits(row['predicted'])}"
        for row in rows[:SAID]
    )
    columns = {name: Column(name) for name in names}
    ends = ("measured", "predicted", "low", "high")
    columns |= {name: Column(name, unit) for name in ends}
    text = f"{title}. {said} In {unit}; the farthest off: {worst}."
    return finish(alt.layer(exact, many), title, subtitle, text, rows, columns, height=340)


def _fine(value):
    """Shorten a number; one that is missing, such as an interval, is not drawn."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.{FINE}g}") if math.isfinite(value) else None
