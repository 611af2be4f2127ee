"""Charts that compare named things: bars, points, tornado."""

import altair as alt

from ..numbers import digits
from .data import Column
from .frame import PALETTE, Drawing, draws, finish

NAMED = {"name": Column("name"), "group": Column("group")}


@draws
def bars(rows: list[dict], unit: str, title: str, subtitle: list[str]) -> Drawing:
    """Horizontal bars: ``rows`` hold name, value and group, longest value at the bottom."""
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            x=alt.X(
                field="value",
                type="quantitative",
                title=unit,
                axis=alt.Axis(tickCount=5, titleAnchor="end"),  # a phone is narrower than it
            ),
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
                legend=alt.Legend(orient="bottom", columns=2),
            ),
            tooltip=[
                alt.Tooltip(field="name", type="nominal"),
                alt.Tooltip(field="value", type="quantitative", format=",.3~r", title=unit),
            ],
        )
    )
    columns = NAMED | {"value": Column("value", unit)}
    return finish(chart, title, subtitle, f"{title}. In {unit}: {_said(rows)}.", rows, columns)


@draws
def grouped(rows: list[dict], unit: str, title: str, subtitle: list[str]) -> Drawing:
    """Points on a logarithmic axis: ``rows`` hold name, group and value; names keep their order.

    A row may have ``low`` and ``high``: the ends of its interval, drawn as a line behind it.
    """
    names = list(dict.fromkeys(row["name"] for row in rows))
    unsure = any("low" in row for row in rows)
    group = {"field": "group", "type": "nominal", "title": None}
    y = alt.Y(
        field="name",
        type="nominal",
        sort=names,
        title=None,
        axis=alt.Axis(grid=True, labelLimit=220),
    )
    x = alt.X(
        field="value",
        type="quantitative",
        title=f"{unit} (logarithmic)",
        scale=alt.Scale(type="log", nice=not unsure, padding=10 if unsure else 0),
    )
    color = alt.Color(**group, legend=alt.Legend(orient="bottom", columns=1, labelLimit=320))
    shown = {"value": unit} | ({"low": "from", "high": "to"} if unsure else {})
    chart = alt.Chart(alt.Data(values=rows))
    points = chart.mark_point(filled=True, size=90, opacity=1).encode(
        x=x,
        y=y,
        color=color,
        shape=alt.Shape(**group),
        tooltip=[
            alt.Tooltip(field="name", type="nominal"),
            alt.Tooltip(field="group", type="nominal"),
            *(
                alt.Tooltip(field=field, type="quantitative", format=",.3~r", title=says)
                for field, says in shown.items()
            ),
        ],
    )
    columns = NAMED | {"value": Column("value", unit)}
    if unsure:
        columns |= {"low": Column("low", unit), "high": Column("high", unit)}
        # of one grey: a second layer with colours would take the shapes out of the legend
        ends = chart.mark_rule(strokeWidth=2, color=PALETTE[-1]).encode(
            x=alt.X(field="low", type="quantitative"), x2=alt.X2(field="high"), y=y
        )
        points = alt.layer(ends, points)
    description = f"{title}. In {unit}: {_said(rows)}."
    return finish(points, title, subtitle, description, rows, columns)


@draws
def tornado(rows: list[dict], unit: str, title: str, subtitle: list[str]) -> Drawing:
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
    columns = NAMED | {"value": Column("value", unit)}
    description = f"{title}, {unit}. The strongest first: {_said(rows)}."
    return finish(chart, title, subtitle, description, rows, columns)


def _said(rows: list[dict]) -> str:
    """Say every row: a name once, then its groups, unless the name has the group in it."""
    said: dict[str, list[str]] = {}
    for row in rows:
        group = "" if row["group"] in row["name"] else f"{row['group']} "
        ends = f" ({digits(row['low'])} to {digits(row['high'])})" if "low" in row else ""
        said.setdefault(row["name"], []).append(f"{group}{digits(row['value'])}{ends}")
    return "; ".join(f"{name}: {', '.join(values)}" for name, values in said.items())
