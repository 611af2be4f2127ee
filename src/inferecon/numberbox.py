"""What stands behind the published numbers of a page: anchors, tables of all, data for the box.

A number on a page is a link to its place.  ``js/numbers.js`` makes of it a button
that opens one box, filled from the JSON that ``data`` puts into the page; without
scripts the anchor remains, and the link to it from other pages.  The texts of a citation are
written by ``cite`` alone: the page has its forms with gaps, and the script fills them.
"""

import json
import math
import re
from collections.abc import Callable
from functools import cache
from html import escape, unescape

from . import facts, naming, rowbox
from .behind import behind
from .cite import MISSING, of_value, url
from .citing import FORMS, Entry, key, written
from .edition import UNSTAMPED, edition
from .factbox import FACT, told
from .numbers import KNOWN, UNIT_NAMES, Number, digits
from .provenance import MARKS
from .symbols import SYMBOLS

Numbers = dict[str, Number]
LINK = '<a class="num" data-number="'
PLACE = '<a class="num" id="'
QUOTED = re.compile(rf'{LINK}([^"]+)"( data-(?:known|here)="[^"]+")?>')
# The gaps of a citation, in the order of the script; characters that no text of ours has.
GAPS = (
    "id",
    "says",
    "of",
    "equation",
    "sympy",
    "holds",
    "source",
    "value",
    "known",
    "url",
    "key",
)
FIRST_GAP = 0xE000
DATA = "numbers-data"
ROW = "row"  # the shape of what is cited where figures have no ids


def quoted(id: str, number: Number, with_unit: bool = True) -> str:
    """HTML of a number in prose; ``explained`` gives it its place.

    A prediction cannot be quoted without its interval and the mark of how it is known.
    """
    start = f'{LINK}{escape(id, quote=True)}"'
    value = escape(number.shown if with_unit else digits(number.value))
    if not number.known:
        return f"{start}>{value}</a>"
    interval = escape(f"({digits(number.low)}–{digits(number.high)})")
    mark = f'<abbr title="{number.known}">{KNOWN[number.known].mark}</abbr>'
    return (
        f'{start} data-known="{number.known}">{value} {mark} '
        f'<span class="interval">{interval}</span></a>'
    )


def link(id: str, here: str = "") -> str:
    """Start the HTML of a number that is written otherwise than ``quoted`` does; end it with a.

    ``here`` is the value with its unit where this is not the one on record.
    """
    other = f' data-here="{escape(here, quote=True)}"' if here else ""
    return f'{LINK}{escape(id, quote=True)}"{other}>'


def anchor(id: str) -> str:
    """Return the anchor of a number or a recorded value."""
    return facts.anchor(id) if facts.is_fact(id) else naming.anchor(id)


def page_of(id: str) -> str:
    """Return the page on which a number or a recorded value has its place."""
    return facts.page(id) if facts.is_fact(id) else naming.page(id)


def explained(
    body: str, page: str, numbers: Numbers, typeset: Callable[[str], str] | None = None
) -> str:
    """Return the body of a page with anchors, the list of all its numbers, and their data.

    ``page`` is its path without ending.  The first mention of a number is its anchor.
    ``typeset`` gives the equation of a law by its id, as HTML.
    """
    body += listing(page, numbers)
    root, seen = "../" * page.count("/"), set()

    def placed(found: re.Match) -> str:
        id = unescape(found[1])
        name, own = escape(anchor(id), quote=True), page_of(id)
        if own == page and id not in seen:  # its place; the script knows the rest by the name
            seen.add(id)
            return f'{PLACE}{name}"{found[2] or ""}>'
        first = "" if id in seen else f' id="{name}"'
        seen.add(id)
        target = "" if own == page else f"{root}{own}.html"
        return f'{found[0][:-1]}{first} href="{target}#{name}">'

    body = QUOTED.sub(placed, body)
    rows = rowbox.told(page, body)
    if not seen and not rows:
        return body
    found = data(sorted(seen), numbers, root) | ({"rows": rows, "page": page} if rows else {})
    if rows:
        found["forms"][ROW] = forms(ROW)
    laws = sorted({kind["law"] for kind in found["kinds"] if "law" in kind} | rowbox.laws(rows))
    equations = (f'<template data-law="{id}">{typeset(id)}</template>' for id in laws if typeset)
    return body + "".join(equations) + script(found)


# All numbers of a page -------------------------------------------------------------------------


def listing(page: str, numbers: Numbers) -> str:
    """Return folded tables of every number that has its place on a page; none, nothing."""
    tables: dict[str, dict[str, dict[str, str]]] = {}
    ids = [id for id in numbers if naming.page(id) == page]
    for id in sorted(ids, key=_order):
        at = naming.place(id)
        cell = quoted(id, numbers[id])
        tables.setdefault(at.table, {}).setdefault(at.row, {})[at.column] = cell
    if not ids:
        return ""
    parts = "".join(_table(name, rows) for name, rows in tables.items())
    return (
        '<details class="all-numbers"><summary>All published numbers that have their place here, '
        f"each to cite: {len(ids):,}</summary>{parts}</details>"
    )


@cache
def _rank(symbol: str) -> int:
    """Symbols come in the order in which they were declared."""
    return list(SYMBOLS).index(symbol) if symbol in SYMBOLS else len(SYMBOLS)


def _order(id: str) -> tuple:
    case, symbol = naming.split(id)
    own, how = naming.bare(case)
    return own.rpartition("/")[0], how, _rank(symbol), own


def _table(name: str, rows: dict[str, dict[str, str]]) -> str:
    columns = list(dict.fromkeys(column for cells in rows.values() for column in cells))
    head = "".join(f'<th scope="col">{escape(c)}</th>' for c in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(row)}</th>'
        + "".join(f"<td>{cells.get(column, '')}</td>" for column in columns)
        + "</tr>\n"
        for row, cells in rows.items()
    )
    return (
        f"<details><summary>{escape(name)}</summary>"
        '<div class="wide-table"><div class="pst-scrollable-table-container">'
        f'<table class="table" aria-label="{escape(name, quote=True)}">'
        f"<thead><tr><td></td>{head}</tr></thead>\n<tbody>{body}</tbody></table></div></div></details>"
    )


def quoted_in(html: str) -> set[str]:
    """Return the ids of the numbers that a piece of HTML quotes."""
    return {unescape(found[1]) for found in QUOTED.finditer(html)}


# Data of the box -------------------------------------------------------------------------------


def data(ids: list[str], numbers: Numbers, root: str = "") -> dict:
    """Return what the box says of some numbers.

    ``numbers[case][symbol]`` is [place in ``kinds``, digits, value], and behind these three
    the digits of both ends of the interval that a prediction has.  ``behind`` has the values
    put into the laws and the records that they come from.  Ids of recorded values add what
    ``factbox`` says of them.
    """
    recorded = [id for id in ids if facts.is_fact(id)]
    ids = [id for id in ids if not facts.is_fact(id)]
    kinds: dict[tuple, tuple[int, dict]] = {}
    cases: dict[str, dict] = {}
    values: dict[str, dict[str, list]] = {}
    shapes: dict[str, dict[str, str]] = {}
    for id in ids:
        case, symbol = naming.split(id)
        value, unit, low, high, known = numbers[id]
        what = (naming.says(id), naming.law_of(id), unit, known)
        if what not in kinds:
            kinds[what] = len(kinds), _kind(id, symbol, unit, known, numbers)
        place, kind = kinds[what]
        shapes.setdefault(kind["shape"], forms(kind["shape"]))
        if case not in cases:
            of, command, pages = naming.case_of(case, numbers)
            links = [[naming.title(page), f"{page}.html"] for page in pages]
            cases[case] = {"of": of, "command": command, "pages": links, "page": naming.page(id)}
            if notebook := naming.notebook(case, numbers):
                cases[case]["notebook"] = notebook
        shown = "missing" if value is None else digits(value)
        ends = [digits(low), digits(high)] if known else []
        values.setdefault(case, {})[symbol] = [place, shown, value, *ends]
    if recorded:
        shapes[FACT] = forms(FACT)
    more = told(recorded, len(kinds))
    return {
        "root": root,
        "edition": edition(),
        "missing": MISSING,
        "forms": shapes,
        "kinds": [kind for _, kind in kinds.values()] + more["kinds"],
        "cases": cases | more["cases"],
        "numbers": values | more["numbers"],
        "behind": behind(ids, numbers),
        "details": more["details"],
        "read": more["read"],
    }


def _kind(id: str, symbol: str, unit: str, known: str, numbers: Numbers) -> dict:
    """Return what all numbers of one symbol have in common."""
    any_ = Number(math.pi, unit, math.pi, math.pi, known) if known else Number(math.pi, unit)
    found, law = of_value(id, any_, numbers), naming.law_of(id)
    shape = "".join(name[0] for name in ("equation", "holds") if getattr(found, name))
    said = {"symbol": symbol, "says": found.says, "source": found.source}
    said |= {"how": found.known, "known": known, "mark": mark(known)}
    said |= {"unit": UNIT_NAMES.get(unit, unit), "shape": shape}
    said |= {name: getattr(found, name) for name in ("equation", "sympy", "holds")}
    said |= {"law": law.id, "place": url(law.id)} if law else {}
    return {name: text for name, text in said.items() if text or name in ("unit", "shape")}


def mark(known: str) -> str:
    """Return the mark beside these words: that of a prediction, or that of what is derived."""
    return KNOWN[known].mark if known else MARKS["derived"].mark


@cache
def forms(shape: str) -> dict[str, str]:
    """Return each form of a citation with gaps; ``shape`` says of what, or which parts it has."""
    kind, shape = (shape, "") if shape in (FACT, ROW) else ("number", shape)
    gap = {name: chr(FIRST_GAP + i) for i, name in enumerate(GAPS)}
    absent = set() if "e" in shape else {"equation", "sympy"}
    absent |= set() if "h" in shape else {"holds"}
    absent |= {FACT: {"of", "known"}, ROW: {"of"}}.get(kind, set())
    parts = {name: "" if name in absent else gap[name] for name in GAPS if name != "key"}
    blank = Entry(kind=kind, edition=edition(), commit=UNSTAMPED, **parts)
    texts = {form: written(blank, form) for form in FORMS}
    texts["bibtex"] = texts["bibtex"].replace(f"{{{key(blank)},", f"{{{gap['key']},", 1)
    return texts


def script(found: dict) -> str:
    """Embed data in a page; nothing in it can end the element."""
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c")
    return f'<script type="application/json" id="{DATA}">{text}</script>'
