"""Charts of what the derivations say: a timeline, curves, regimes, stacks."""

from itertools import groupby, pairwise

import altair as alt

from ..numbers import digits
from .data import Column
from .frame import PALETTE, Drawing, draws, finish

SHAPE = {True: "log", False: "linear"}


def _legend(title: str | None = None, columns: int = 2) -> alt.Legend:
    return alt.Legend(orient="bottom", columns=columns, labelLimit=320, title=title)


@draws
def timeline(
    spans: list[dict], marks: list[dict], lanes: list[str], title: str, subtitle: list[str]
) -> Drawing:
    """Spans of work on lanes: rows (lane, begin, end, what), times in ms.

    ``marks`` are lengths with a label, which stands at the mark's ``side``, left or right, and
    ``what`` they measure; they are rows of the table too.
    """
    y = alt.Y(field="lane", type="nominal", sort=lanes, title=None, scale=alt.Scale(domain=lanes))
    x = alt.X(field="begin", type="quantitative", title="time (ms)")
    kinds = list(dict.fromkeys(row["what"] for row in spans))
    touching = {
        a["lane"] for a, b in pairwise(spans) if (a["lane"], a["end"]) == (b["lane"], b["begin"])
    }
    bars = (
        alt.Chart(alt.Data(values=spans))
        .mark_bar(height={"band": 0.5}, stroke="white", strokeWidth=0.5)
        .encode(
            x=x,
            x2=alt.X2(field="end"),
            y=y,
            color=alt.Color(
                field="what",
                type="nominal",
                sort=kinds,
                title=None,
                scale=alt.Scale(domain=kinds),
                legend=_legend(columns=1),
            ),
            strokeOpacity=alt.condition(  # parts steps that touch; a thin span would drown in it
                alt.FieldOneOfPredicate(field="lane", oneOf=sorted(touching)),
                alt.value(1),
                alt.value(0),
            ),
            tooltip=[
                alt.Tooltip(field="what", type="nominal"),
                alt.Tooltip(field="begin", type="quantitative", format=",.4~r", title="from, ms"),
                alt.Tooltip(field="end", type="quantitative", format=",.4~r", title="to, ms"),
            ],
        )
    )
    lengths = alt.Chart(alt.Data(values=marks)).encode(x=x, x2=alt.X2(field="end"), y=y)
    rules = [lengths.mark_rule(strokeWidth=3)] if marks else []  # Vega warns of a layer of none
    labels = [
        alt.Chart(alt.Data(values=[mark]))
        .mark_text(align=mark["side"], dy=-11, fontSize=12)
        .encode(
            x=alt.X(field="begin" if mark["side"] == "left" else "end", type="quantitative"),
            y=y,
            text=alt.Text(field="label", type="nominal"),
        )
        for mark in marks
    ]
    said = []
    for what in kinds:
        work = [row for row in spans if row["what"] == what]
        times = f" {len(work)} times" if len(work) > 1 else ""
        said.append(
            f"{what}{times} from {digits(work[0]['begin'])} to {digits(work[-1]['end'])} ms"
        )
    said += [f"{m['label']}: {digits(m['begin'])} to {digits(m['end'])} ms" for m in marks]
    columns = {"lane": Column("lane"), "what": Column("what")}
    columns |= {"begin": Column("begin", "ms", "from"), "end": Column("end", "ms", "to")}
    chart = alt.layer(bars, *rules, *labels)
    description = f"{title}. {'; '.join(said)}."
    return finish(chart, title, subtitle, description, [*spans, *marks], columns, height=240)


@draws
def lines(
    rows: list[dict],
    x_title: str,
    y_title: str,
    title: str,
    subtitle: list[str],
    *,
    log: bool = False,
    rule: dict | None = None,
) -> Drawing:
    """One line a group: rows (x, y, group), on axes of doublings if ``log``.

    Rows may have ``low`` and ``high``, the ends of an interval, drawn as a band behind the line.
    ``rule`` (x, before, after) divides the x axis and says what lies on either side.
    """
    groups = list(dict.fromkeys(row["group"] for row in rows))
    scale = alt.Scale(type=SHAPE[log], nice=not log, **({"base": 2} if log else {}))
    x = alt.X(
        field="x", type="quantitative", title=x_title, scale=scale, axis=alt.Axis(tickCount=5)
    )
    group = {"field": "group", "type": "nominal", "title": None}
    group |= {"scale": alt.Scale(domain=groups), "legend": _legend(columns=1)}
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=alt.OverlayMarkDef(filled=True, size=40))
        .encode(
            x=x,
            y=alt.Y(field="y", type="quantitative", title=y_title, scale=scale),
            color=alt.Color(**group),
            shape=alt.Shape(**group),
            tooltip=[
                alt.Tooltip(field="group", type="nominal"),
                alt.Tooltip(field="x", type="quantitative", format=",", title=x_title),
                alt.Tooltip(field="y", type="quantitative", format=",.3~r", title=y_title),
            ],
        )
    )
    if rule:
        place = alt.Chart(alt.Data(values=[rule])).encode(x=x)
        words = [
            place.mark_text(align=align, baseline="top", dx=dx, fontSize=12).encode(
                y=alt.value(0), text=alt.Text(field=side, type="nominal")
            )
            for side, align, dx in (("before", "right", -5), ("after", "left", 5))
        ]
        chart = alt.layer(place.mark_rule(strokeDash=[4, 3]), *words, chart)
    bands = []
    for name, colour in zip(groups, PALETTE, strict=False):
        ends = [row for row in rows if row["group"] == name and "low" in row]
        if ends:  # of one colour each: a scale of its own would take the shapes out of the legend
            band = alt.Chart(alt.Data(values=ends)).mark_area(color=colour, opacity=0.15)
            low = alt.Y(field="low", type="quantitative", title=y_title, scale=scale)
            bands.append(band.encode(x=x, y=low, y2=alt.Y2(field="high")))
    if bands:
        chart = alt.layer(*bands, chart)
    first = {row["group"]: row for row in reversed(rows)}
    last = {row["group"]: row for row in rows}
    said = "; ".join(
        f"{group}: from {digits(a['y'])} at {a['x']:,.0f} to {digits(b['y'])} at {b['x']:,.0f}"
        for group, a, b in ((group, first[group], last[group]) for group in groups)
    )
    where = f" {rule['before']} until {rule['x']:,.0f}, then {rule['after']}." if rule else ""
    description = f"{title}; {y_title} over {x_title}.{where} {said}."
    columns = {"group": Column("group"), "x": Column("x"), "y": Column("y")}
    if bands:
        columns |= {"low": Column("low"), "high": Column("high")}
    return finish(chart, title, subtitle, description, rows, columns)


@draws
def regimes(rows: list[dict], bounds: list[str], title: str, subtitle: list[str]) -> Drawing:
    """A map of which bound wins: rows (batch, context, bound, itl in ms), one colour a bound."""
    rows = [{**row, "text": "" if row["itl"] is None else digits(row["itl"], 2)} for row in rows]
    rows = [{**row, "cell": f"{row['bound']}\n{row['text']}".strip()} for row in rows]
    batches = list(dict.fromkeys(row["batch"] for row in rows))
    contexts = sorted({row["context"] for row in rows}, reverse=True)
    colours = dict(zip(bounds, [*PALETTE[:4], PALETTE[-1]], strict=True))
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X(
            field="batch",
            type="ordinal",
            sort=batches,
            title="batch (sequences)",
            axis=alt.Axis(format=",", labelAngle=0),
        ),
        y=alt.Y(
            field="context",
            type="ordinal",
            sort=contexts,
            title="prompt (tokens)",
            axis=alt.Axis(format=","),
        ),
        tooltip=[
            alt.Tooltip(field="batch", type="quantitative", format=","),
            alt.Tooltip(field="context", type="quantitative", format=",", title="prompt, tokens"),
            alt.Tooltip(field="bound", type="nominal", title="longest part"),
            alt.Tooltip(field="text", type="nominal", title="ITL, ms"),
        ],
    )
    cells = base.mark_rect(stroke="white").encode(
        color=alt.Color(
            field="bound",
            type="nominal",
            title=None,
            scale=alt.Scale(domain=bounds, range=list(colours.values())),
            legend=_legend(columns=3),
        )
    )
    texts = base.mark_text(fontSize=10, lineBreak="\n", dy=-6).encode(
        text=alt.Text(field="cell", type="nominal"),
        color=alt.condition(
            f"datum.bound === '{bounds[0]}'",  # blue alone is dark
            alt.value("white"),
            alt.value("black"),
        ),
    )
    said = "; ".join(
        f"prompt {c:,}: {_runs([r for r in rows if r['context'] == c])}" for c in reversed(contexts)
    )
    description = f"{title}. The longest part of a step, by prompt and batch: {said}."
    columns = {
        "context": Column("isl", "token", "prompt"),
        "batch": Column("batch"),
        "bound": Column("longest part"),
        "itl": Column("itl", "ms", "ITL"),
    }
    height = 44 * len(contexts)
    return finish(cells + texts, title, subtitle, description, rows, columns, height)


@draws
def _runs(row: list[dict]) -> str:
    """Say which bound holds from which batch to which."""
    said = []
    for bound, found in groupby(row, key=lambda r: r["bound"]):
        ends = [f"{r['batch']:,}" for r in found]
        said.append(f"{bound} at batch {' to '.join(dict.fromkeys((ends[0], ends[-1])))}")
    return ", ".join(said)


def stack(rows: list[dict], unit: str, title: str, subtitle: list[str]) -> Drawing:
    """Stacked columns over batch: rows (batch, part, value); the first part lies below."""
    parts = list(dict.fromkeys(row["part"] for row in rows))
    order = {part: place for place, part in enumerate(parts)}
    chart = (
        alt.Chart(alt.Data(values=[{**row, "order": order[row["part"]]} for row in rows]))
        .mark_bar(stroke="white", strokeWidth=1)
        .encode(
            x=alt.X(
                field="batch",
                type="ordinal",
                title="batch (sequences)",
                axis=alt.Axis(format=",", labelAngle=0),
            ),
            y=alt.Y(field="value", type="quantitative", title=unit),
            color=alt.Color(
                field="part", type="nominal", sort=parts, title=None, legend=_legend(columns=3)
            ),
            order=alt.Order(field="order", type="quantitative"),
            tooltip=[
                alt.Tooltip(field="batch", type="quantitative", format=","),
                alt.Tooltip(field="part", type="nominal"),
                alt.Tooltip(field="value", type="quantitative", format=",.3~r", title=unit),
            ],
        )
    )
    said = []
    for batch in dict.fromkeys(row["batch"] for row in rows):
        column = [row for row in rows if row["batch"] == batch]
        whole = digits(sum(row["value"] for row in column))
        split = ", ".join(f"{row['part']} {digits(row['value'])}" for row in column)
        said.append(f"batch {batch:,}: {whole}, of which {split}")
    columns = {"batch": Column("batch"), "part": Column("part"), "value": Column("value", unit)}
    description = f"{title}. In {unit}: {'; '.join(said)}."
    return finish(chart, title, subtitle, description, rows, columns)
