"""Charts that compare named things: bounds with predictions, counts, tornado."""

from collections.abc import Callable

import altair as alt

from ..numbers import digits
from .data import Column
from .frame import Drawing, draws, finish, ticks
from .meaning import BOUND, BOUND_FULL, CLASSES, FAMILIES, GREY, INK

ROW = 19  # px, of a name
SAID = {
    "derived": "derived bound",
    "predicted": "predicted",
    "low": "from",
    "high": "to",
    "full": "bound, as many as fit",
}


@draws
def bounds(rows: list[dict], unit: str, title: str, subtitle: list[str]) -> Drawing:
    """Of each name a derived bound, a wall, and what is predicted: hollow, with its interval.

    ``rows`` hold name, family of the model, class of the device, derived, and where known
    predicted, low and high, and full: the bound with as many sequences as fit, a double wall.
    Names keep their order; the axis is logarithmic.
    """
    names = list(dict.fromkeys(row["name"] for row in rows))
    y = alt.Y(
        field="name", type="nominal", sort=names, title=None, axis=alt.Axis(grid=True, labelLimit=0)
    )
    scale = alt.Scale(type="log", nice=False, padding=10)
    ends = [row[field] for row in rows for field in SAID if field in row]
    axis = alt.Axis(values=ticks(min(ends), max(ends)), format=",~r")

    def x(field: str) -> alt.X:
        return alt.X(field=field, type="quantitative", title=unit, scale=scale, axis=axis)

    colour = named("family", FAMILIES, rows, alt.Color)
    shape = named("class", CLASSES, rows, alt.Shape)
    here = {name: says for name, says in SAID.items() if any(name in row for row in rows)}
    tips = [
        alt.Tooltip(field="name", type="nominal"),
        *(
            alt.Tooltip(field=field, type="quantitative", format=",.3~r", title=says)
            for field, says in here.items()
        ),
    ]
    chart = alt.Chart(alt.Data(values=rows)).encode(y=y)
    layers = []
    if "low" in here:
        layers.append(
            chart.mark_rule(strokeWidth=2, color=GREY).encode(x=x("low"), x2=alt.X2(field="high"))
        )
    for field, wall in (("derived", BOUND), ("full", BOUND_FULL)):
        if field in here:
            drawn = chart.mark_point(filled=True, shape=wall, size=150, opacity=1)
            layers.append(drawn.encode(x=x(field), color=colour, tooltip=tips))
    if "predicted" in here:
        drawn = chart.mark_point(filled=False, size=70, strokeWidth=2, opacity=1)
        layers.append(drawn.encode(x=x("predicted"), color=colour, shape=shape, tooltip=tips))
    columns = {"name": Column("name")}
    for field in ("family", "class"):
        if len({row.get(field) for row in rows}) > 1:
            columns[field] = Column(field)
    columns |= {field: Column(field, unit, says) for field, says in here.items()}
    words = "; ".join(
        f"{row['name']}: "
        + ", ".join(f"{says} {digits(row[f])}" for f, says in here.items() if f in row)
        for row in rows
    )
    text = f"{title}. In {unit}: {words}."
    high = max(120, ROW * len(names))
    return finish(alt.layer(*layers), title, subtitle, text, rows, columns, height=high)


def named(field: str, meanings: dict[str, str], rows: list[dict], channel: Callable):
    """Return a channel with a fixed meaning; its legend has what is there, if it is several."""
    there = [name for name in meanings if any(row.get(field) == name for row in rows)]
    legend = None
    if len(there) > 1:  # a colour is shown by a disc, a shape by itself
        disc = {"symbolType": "circle"} if channel is alt.Color else {}
        legend = alt.Legend(orient="bottom", symbolOpacity=1, **disc)
    scale = alt.Scale(domain=there, range=[meanings[name] for name in there])
    return channel(field=field, type="nominal", title=None, scale=scale, legend=legend)


@draws
def bars(rows: list[dict], unit: str, title: str, subtitle: list[str]) -> Drawing:
    """Bars with value and group written at their ends: ``rows`` hold name, group and value."""
    names, groups = (list(dict.fromkeys(row[key] for row in rows)) for key in ("name", "group"))
    rows = [{**row, "text": f"{_short(row['value'])}  {row['group']}".strip()} for row in rows]
    most = max(row["value"] for row in rows)
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X(
            field="value",
            type="quantitative",
            title=unit,
            axis=alt.Axis(tickCount=5),
            scale=alt.Scale(domain=[0, most * 1.5], nice=False),  # the words need room
        ),
        y=alt.Y(field="name", type="nominal", sort=names, title=None, axis=alt.Axis(labelLimit=0)),
        yOffset=alt.YOffset(field="group", type="nominal", sort=groups),
        tooltip=[
            alt.Tooltip(field="name", type="nominal"),
            alt.Tooltip(field="group", type="nominal"),
            alt.Tooltip(field="value", type="quantitative", format=",.3~r", title=unit),
        ],
    )
    ends = base.mark_text(align="left", dx=4, fontSize=11).encode(
        text=alt.Text(field="text", type="nominal")
    )
    columns = {"name": Column("name")} | ({"group": Column("group")} if any(groups) else {})
    columns["value"] = Column("value", unit)
    text = f"{title}. In {unit}: {_said(rows)}."
    high = len(names) * (15 * len(groups) + 8)
    chart = alt.layer(base.mark_bar(color=GREY), ends)
    return finish(chart, title, subtitle, text, rows, columns, height=high)


def _short(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else digits(value)


@draws
def tornado(rows: list[dict], unit: str, title: str, subtitle: list[str]) -> Drawing:
    """Bars from one to a ratio: ``rows`` hold name, group and value; names keep their order."""
    names, groups = (list(dict.fromkeys(row[key] for row in rows)) for key in ("name", "group"))
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
            yOffset=alt.YOffset(field="group", type="nominal", sort=groups),
            color=alt.Color(
                field="group",
                type="nominal",
                title=None,
                sort=groups,
                scale=alt.Scale(domain=groups, range=[GREY, INK][: len(groups)]),
                legend=alt.Legend(orient="bottom"),
            ),
            tooltip=[
                alt.Tooltip(field="name", type="nominal"),
                alt.Tooltip(field="group", type="nominal"),
                alt.Tooltip(field="value", type="quantitative", format=",.3~r", title=unit),
            ],
        )
    )
    columns = {"name": Column("name"), "group": Column("group"), "value": Column("value", unit)}
    description = f"{title}, {unit}. The strongest first: {_said(rows)}."
    return finish(chart, title, subtitle, description, rows, columns)


def _said(rows: list[dict]) -> str:
    """Say every row: a name once, then its groups."""
    said: dict[str, list[str]] = {}
    for row in rows:
        said.setdefault(row["name"], []).append(f"{row['group']} {_short(row['value'])}".strip())
    return "; ".join(f"{name}: {', '.join(values)}" for name, values in said.items())
