"""How the words of a chart break: for a page, and as changes for each narrower width.

A title that is drawn is cut where the picture ends, so it is broken before.  Nobody knows the
width of the reader's page, and measuring letters takes a browser: the words are broken here, once
for each of a few widths, and the page takes the widest that it can hold.
"""

import json
from collections.abc import Iterator
from textwrap import wrap

WIDE = 640  # of a chart that has no page to fill, px
WIDTHS = (880, WIDE, 520, 420, 340, 280)  # px
LETTER, SMALL = 8.6, 6.6  # mean width of a letter of the title, and of other words, px
LINE, SMALL_LINE = 16, 14  # height of their lines, px
SIDE = 62  # beside the plot, where numbers stand on the upright axis, px
SYMBOL, STROKE = 26, 46  # a symbol of a legend, or a piece of line, and the space around it, px
LABEL = 240  # the longest name on an upright axis, px
FIRST = (["encoding"], ["layer", 0])  # places of the encoding that draws the axes
NARROW, WIDEST = 520, 0.6  # where names may take so much of the width, and no more
LEAST = 12  # letters of a line

Change = tuple[list, object]  # a place in the specification, and what stands there


def laid(spec: dict, width: int) -> tuple[list[Change], int]:
    """Return what to change for a width, and how many px of lines the words take."""
    changes: list[Change] = []
    title = wrap(" ".join(spec["title"]["text"]), _letters(width, LETTER))
    said = [line for x in spec["title"]["subtitle"] for line in wrap(x, _letters(width, SMALL))]
    changes += [(["title", "text"], title), (["title", "subtitle"], said)]
    high = LINE * len(title) + SMALL_LINE * len(said)
    places = list(encodings(spec))
    names = max((_longest(e, rows) for _, e, rows in places), default=0)
    side = min(LABEL, width * WIDEST, names * SMALL + 10) if names else SIDE
    legends: dict[tuple, int] = {}  # two channels that share one have the same lines
    for place, encoding, rows in places:
        for channel, room in (("x", width - side - 10), ("y", spec["height"] + 30)):
            if text := _words(encoding.get(channel, {}).get("title")):
                lines = wrap(text, _letters(room, SMALL))
                changes.append(([*place, channel, "title"], lines))
                high += SMALL_LINE * (len(lines) - 1) * (channel == "x" and place[:2] in FIRST)
        if "axis" in encoding.get("y", {}) and names:
            limit = LABEL if width > NARROW else round(width * WIDEST)
            changes.append(([*place, "y", "axis", "labelLimit"], limit))
        for channel, drawn in encoding.items():
            if isinstance(drawn, dict) and drawn.get("legend"):
                key, room = [*place, channel, "legend"], width - side
                added, lines = _legend(drawn, _labels(drawn, rows), int(room))
                changes += [([*key, name], value) for name, value in added.items()]
                legends[tuple(lines)] = SMALL_LINE * sum(lines)
    return changes, high + sum(legends.values())


def changed(spec: dict, changes: list[Change]) -> dict:
    """Return a specification with changes; the one that is given stays as it is."""
    for (*path, last), value in changes:
        spec = place = _copied(spec)
        for key in path:
            place[key] = place = _copied(place[key])
        place[last] = value
    return spec


def fits(spec: dict) -> dict[int, list[Change]]:
    """Return, for each narrower or wider page, what differs from the specification itself."""
    return {
        width: [[path, value] for path, value in laid(spec, width)[0] if at(spec, path) != value]
        for width in WIDTHS
        if width != WIDE
    }


def heights(spec: dict, drawn: int) -> dict[int, int]:
    """Return how high the chart is at each width, if it is ``drawn`` px high at the usual one."""
    usual = laid(spec, WIDE)[1]
    return {width: drawn + laid(spec, width)[1] - usual for width in WIDTHS}


def encodings(spec: dict, place=(), rows=()) -> Iterator[tuple[list, dict, list]]:
    """Yield each encoding with its place, and the rows that it draws."""
    rows = spec.get("data", {}).get("values", rows)
    if "encoding" in spec:
        yield [*place, "encoding"], spec["encoding"], rows
    for n, layer in enumerate(spec.get("layer", [])):
        yield from encodings(layer, (*place, "layer", n), rows)


def at(spec, path: list):
    """Return what stands at a place; None where nothing does."""
    for key in path:
        if isinstance(spec, dict) and key not in spec:
            return None
        spec = spec[key]
    return spec


def _legend(channel: dict, labels: list[str], room: int) -> tuple[dict, list[int]]:
    """Return columns and words of a legend in a width, and the lines of each of its rows."""
    symbol = STROKE if channel["legend"].get("symbolType") == "stroke" else SYMBOL
    each = max(map(len, labels), default=1) * SMALL + symbol
    columns = max(1, min(len(labels), int(room / each)))
    words = {label: wrap(label, _letters(room - symbol, SMALL)) for label in labels}
    broken = {label: lines for label, lines in words.items() if len(lines) > 1}
    said = f"({json.dumps(broken, ensure_ascii=False)})[datum.label] || datum.label"
    found = {"columns": columns, "labelLimit": room, "labelExpr": said if broken else "datum.label"}
    rows = [labels[n : n + columns] for n in range(0, len(labels), columns)]
    return found, [max(len(words[label]) for label in row) for row in rows]


def _letters(room: float, letter: float) -> int:
    return max(LEAST, int(room / letter))


def _words(title) -> str:
    return " ".join(title) if isinstance(title, list) else title or ""


def _longest(encoding: dict, rows: list) -> int:
    """Return how long the longest name on an upright axis of names is."""
    y = encoding.get("y", {})
    if y.get("type") not in ("nominal", "ordinal"):
        return 0
    return max((len(str(row.get(y["field"], ""))) for row in rows), default=0)


def _labels(channel: dict, rows: list) -> list[str]:
    domain = (channel.get("scale") or {}).get("domain")
    found = domain or dict.fromkeys(row.get(channel["field"]) for row in rows)
    return [str(label) for label in found if label is not None]


def _copied(part):
    return list(part) if isinstance(part, list) else dict(part)
