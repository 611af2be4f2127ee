"""Chart of predicted against measured figures: a point a row, its interval, and the diagonal."""

import math

import altair as alt

from ..numbers import digits
from .data import Column
from .frame import Drawing, draws, finish

SAID = 5  # rows that the text alternative names
FINE = 4  # digits of a drawn figure


@draws
def scatter(rows: list[dict], unit: str, title: str, subtitle: list[str], said: str) -> Drawing:
    """Predicted against measured on logarithmic axes; a point on the diagonal is exact.

    ``rows`` hold id, metric, group, source, model, card, engine, measured, predicted, low and
    high, the worst first; ``said`` tells in words what the points show.
    """
    rows = [{name: _fine(value) for name, value in row.items()} for row in rows]
    ends = [row[end] for row in rows for end in ("measured", "predicted")]
    scale = alt.Scale(type="log", nice=False, domain=[min(ends) * 0.8, max(ends) * 1.25])
    axis = alt.Axis(values=_ticks(*scale.domain), format="~s", labelOverlap="greedy")
    clipped = {"type": "quantitative", "scale": scale, "axis": axis}
    x = alt.X(field="measured", title=f"measured ({unit})", **clipped)
    upright = {"title": f"predicted ({unit})", **clipped}
    y = alt.Y(field="predicted", **upright)
    exact = (
        alt.Chart(alt.Data(values=[{"measured": end, "predicted": end} for end in scale.domain]))
        .mark_line(color="#8A8A8A", strokeWidth=1.5, aria=False)
        .encode(x=x, y=y)
    )
    spans = (
        alt.Chart()
        .mark_rule(color="#8A8A8A", strokeWidth=1, opacity=0.35, clip=True, aria=False)
        .encode(x=x, y=alt.Y(field="low", **upright), y2=alt.Y2(field="high"))
    )
    number = {"type": "quantitative", "format": ",.3~r"}
    names = ("id", "metric", "source", "model", "card", "engine")
    points = (
        alt.Chart()
        .mark_point(filled=True, size=34, opacity=0.85, aria=False)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                field="group",
                type="nominal",
                title=None,
                sort=list(dict.fromkeys(sorted(row["group"] for row in rows))),
                legend=alt.Legend(orient="bottom", columns=1, labelLimit=220, symbolOpacity=1),
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
    # the unit of a row is its metric's
    columns |= {name: Column(name) for name in ("measured", "predicted", "low", "high")}
    text = f"{title}. {said} In {unit}; the farthest off: {worst}."
    return finish(alt.layer(exact, many), title, subtitle, text, rows, columns, height=340)


def _ticks(low: float, high: float) -> list[float]:
    """Return powers of ten, and two and five of them where they are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits_ = (1,) if math.log10(high / low) > 3 else (1, 2, 5)
    ticks = (float(f"{digit}e{power}") for power in powers for digit in digits_)
    return [tick for tick in ticks if low <= tick <= high]


def _fine(value):
    """Shorten a number; one that is missing, such as an interval, is not drawn."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.{FINE}g}") if math.isfinite(value) else None
