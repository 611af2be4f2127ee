"""Charts of what the derivations say: a timeline, curves, regimes, stacks."""

from itertools import groupby, pairwise

import altair as alt

from ..numbers import digits
from .data import Column
from .frame import Drawing, draws, finish
from .meaning import DASHES, GREY, PARTS, inks

SHAPE = {True: "log", False: "linear"}
DARK = {"weights", "cache"}  # parts on whose colour black letters cannot be read


def _legend(title: str | None = None) -> alt.Legend:
    return alt.Legend(orient="bottom", title=title)


@draws
def timeline(
    spans: list[dict],
    marks: list[dict],
    lanes: list[str],
    title: str,
    subtitle: list[str],
    colours: dict[str, str],
) -> Drawing:
    """Spans of work on lanes: rows (lane, begin, end, what), times in ms, one colour a ``what``.

    ``marks`` are lengths with a label, which stands at the mark's ``side``, left or right, and
    ``what`` they measure; they are rows of the table too.
    """
    y = alt.Y(field="lane", type="nominal", sort=lanes, title=None, scale=alt.Scale(domain=lanes))
    x = alt.X(field="begin", type="quantitative", title="time (ms)")
    there = {row["what"] for row in spans}
    kinds = [what for what in colours if what in there]
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
                scale=alt.Scale(domain=kinds, range=[colours[what] for what in kinds]),
                legend=_legend(),
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
    colours: dict[str, str] | None = None,
    floor: bool = False,
) -> Drawing:
    """One line a group, each with dashes of its own: rows (x, y, group), on axes of doublings
    if ``log``.

    ``rule`` (x, before, after) divides the x axis and says what lies on either side.  A group
    without one of the ``colours`` is drawn in ink.  A row may have ``low`` and ``high``, the ends
    of its interval, drawn as a band; a line of ``floor`` begins at zero.
    """
    groups = list(dict.fromkeys(row["group"] for row in rows))
    scale = alt.Scale(type=SHAPE[log], nice=not log, **({"base": 2} if log else {}))
    x = alt.X(
        field="x",
        type="quantitative",
        title=x_title,
        scale=scale,
        axis=alt.Axis(tickCount=5),
    )
    hues = [(colours or {}).get(g, ink) for g, ink in zip(groups, inks(groups), strict=True)]
    shown = alt.Legend(
        orient="bottom", symbolType="stroke", symbolSize=400, symbolStrokeWidth=2, symbolOpacity=1
    )
    several = {"legend": shown if len(groups) > 1 else None}
    group = {"field": "group", "type": "nominal", "title": None} | several
    color = alt.Color(**group, scale=alt.Scale(domain=groups, range=hues))
    dashes = alt.Scale(domain=groups, range=[DASHES[n % len(DASHES)] for n in range(len(groups))])
    upright = alt.Scale(**({"type": "log", "base": 2, "nice": False} if log and not floor else {}))
    high = {"type": "quantitative", "title": y_title, "scale": upright}
    high["axis"] = alt.Axis(format=",.4~r")
    data = alt.Chart(alt.Data(values=rows))
    chart = data.mark_line(point=alt.OverlayMarkDef(filled=True, size=26), strokeWidth=2).encode(
        x=x,
        y=alt.Y(field="y", **high),
        color=color,
        strokeDash=alt.StrokeDash(**group, scale=dashes),
        tooltip=[
            alt.Tooltip(field="group", type="nominal"),
            alt.Tooltip(field="x", type="quantitative", format=",", title=x_title),
            alt.Tooltip(field="y", type="quantitative", format=",.3~r", title=y_title),
        ],
    )
    unsure = any("low" in row for row in rows)
    if unsure:
        band = data.mark_area(opacity=0.14, line=False).encode(
            x=x,
            y=alt.Y(field="low", **high),
            y2=alt.Y2(field="high"),
            color=color,
        )
        chart = alt.layer(band, chart)
    if rule:
        place = alt.Chart(alt.Data(values=[rule])).encode(x=x)
        words = [
            place.mark_text(align=align, baseline="top", dx=dx, fontSize=12).encode(
                y=alt.value(0), text=alt.Text(field=side, type="nominal")
            )
            for side, align, dx in (("before", "right", -5), ("after", "left", 5))
        ]
        chart = alt.layer(place.mark_rule(strokeDash=[4, 3]), *words, chart)
    first = {row["group"]: row for row in reversed(rows)}
    last = {row["group"]: row for row in rows}
    said = "; ".join(
        f"{group}: from {digits(a['y'])} at {a['x']:,.0f} to {digits(b['y'])} at {b['x']:,.0f}"
        for group, a, b in ((group, first[group], last[group]) for group in groups)
    )
    where = f" {rule['before']} until {rule['x']:,.0f}, then {rule['after']}." if rule else ""
    description = f"{title}; {y_title} over {x_title}.{where} {said}."
    columns = {"group": Column("group"), "x": Column("x"), "y": Column("y")}
    if unsure:
        columns |= {"low": Column("low"), "high": Column("high")}
    return finish(chart, title, subtitle, description, rows, columns)


@draws
def regimes(rows: list[dict], bounds: list[str], title: str, subtitle: list[str]) -> Drawing:
    """A map of which bound wins: rows (batch, context, bound, itl in ms), one colour a bound."""
    rows = [{**row, "text": "" if row["itl"] is None else digits(row["itl"], 2)} for row in rows]
    rows = [{**row, "cell": f"{row['bound']}\n{row['text']}".strip()} for row in rows]
    batches = list(dict.fromkeys(row["batch"] for row in rows))
    contexts = sorted({row["context"] for row in rows}, reverse=True)
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
            scale=alt.Scale(domain=bounds, range=[PARTS[bound] for bound in bounds]),
            legend=_legend(),
        )
    )
    texts = base.mark_text(fontSize=10, lineBreak="\n", dy=-6).encode(
        text=alt.Text(field="cell", type="nominal"),
        color=alt.condition(
            alt.FieldOneOfPredicate(field="bound", oneOf=sorted(DARK)),
            alt.value("#fff"),  # "white" is the page's own colour
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


def _runs(row: list[dict]) -> str:
    """Say which bound holds from which batch to which."""
    said = []
    for bound, found in groupby(row, key=lambda r: r["bound"]):
        ends = [f"{r['batch']:,}" for r in found]
        said.append(f"{bound} at batch {' to '.join(dict.fromkeys((ends[0], ends[-1])))}")
    return ", ".join(said)


@draws
def stack(
    rows: list[dict], unit: str, title: str, subtitle: list[str], colours: dict[str, str]
) -> Drawing:
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
                field="part",
                type="nominal",
                sort=parts,
                title=None,
                scale=alt.Scale(domain=parts, range=[colours.get(part, GREY) for part in parts]),
                legend=_legend(),
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
