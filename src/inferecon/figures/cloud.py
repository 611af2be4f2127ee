"""Chart of named things in a plane: models by colour, devices by shape, each with its name."""

import altair as alt

from ..numbers import digits
from .compare import named
from .data import Column
from .frame import Drawing, draws, finish, ticks
from .meaning import CLASSES, FAMILIES, GREY, INK

SIDES = {"right": ("left", 8, 0), "left": ("right", -8, 0), "below": ("center", 0, 13)}
SIDES["under"] = ("left", 4, 13)


@draws
def cloud(
    rows: list[dict],
    x_title: str,
    y_title: str,
    title: str,
    subtitle: list[str],
    *,
    diagonal: bool = False,
    front: list[dict] = (),
) -> Drawing:
    """Points on logarithmic axes: rows (name, x, y, and family of a model or class of a device).

    A row's ``side`` says where its name stands: right, left, below or under it.  One with a
    ``label`` has that in its place, which may be nothing.  With ``diagonal`` a line shows where
    both are equal; ``front`` are the rows that no other beats in both, joined by steps.
    """

    def axis(channel, field: str, says: str):
        ends = [pick(row[field] for row in rows) for pick in (min, max)]
        scale = alt.Scale(type="log", nice=False, padding=24)
        written = "~s" if ends[1] >= 1000 else ",.3~r"  # 500m is no half to most readers
        there = alt.Axis(values=ticks(ends[0] / 2, ends[1] * 2), format=written)
        return channel(field=field, type="quantitative", title=says, scale=scale, axis=there)

    x, y = axis(alt.X, "x", x_title), axis(alt.Y, "y", y_title)
    models = "family" in rows[0]
    colour = named("family", FAMILIES, rows, alt.Color) if models else alt.value(INK)
    shape = alt.value("circle") if models else named("class", CLASSES, rows, alt.Shape)
    tips = [
        alt.Tooltip(field="name", type="nominal"),
        alt.Tooltip(field="x", type="quantitative", format=",.3~r", title=x_title),
        alt.Tooltip(field="y", type="quantitative", format=",.3~r", title=y_title),
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y, tooltip=tips)
    layers = [base.mark_point(filled=True, size=80, opacity=1).encode(color=colour, shape=shape)]
    for side, (align, dx, dy) in SIDES.items():
        at = [row for row in rows if row.get("side", "right") == side]
        if at:
            words = alt.Chart(alt.Data(values=at)).encode(x=x, y=y)
            words = words.mark_text(align=align, dx=dx, dy=dy, fontSize=11, baseline="middle")
            text = "label" if "label" in rows[0] else "name"
            layers.append(words.encode(text=alt.Text(field=text, type="nominal")))
    if diagonal:
        ends = [pick(min(r["x"], r["y"]) for r in rows) for pick in (min, max)]
        ends[1] = max(r["y"] for r in rows)
        line = alt.Chart(alt.Data(values=[{"x": end, "y": end} for end in ends])).encode(x=x, y=y)
        layers.insert(0, line.mark_line(color=GREY, strokeWidth=1.5, strokeDash=[4, 3]))
    if front:
        steps = alt.Chart(alt.Data(values=list(front))).encode(x=x, y=y)
        dashed = {"strokeDash": [4, 3], "strokeWidth": 1.5, "interpolate": "step-after"}
        layers.insert(0, steps.mark_line(color=GREY, **dashed))
    told = [row for row in rows if row.get("label", row["name"])]
    said = "; ".join(f"{r['name']}: {digits(r['x'])} and {digits(r['y'])}" for r in told)
    text = f"{title}. {x_title} and {y_title}: {said}."
    columns = {"name": Column("name")}
    columns |= {field: Column(field) for field in ("family", "class") if field in rows[0]}
    columns |= {"x": Column(x_title), "y": Column(y_title)}
    return finish(alt.layer(*layers), title, subtitle, text, rows, columns, height=320)
