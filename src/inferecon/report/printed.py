"""Tables and charts of one page for a terminal: made again, without the rest of the report.

What a page says of a row names this as its command, where no other gives the figures again.
"""

import base64
import html
import re
from collections.abc import Callable
from itertools import takewhile

from docutils.nodes import make_id

from ..errors import BadInput, nearest
from ..figures.data import as_csv
from ..files import BOOK
from ..pictures import PICTURES
from .claims import index_page
from .data import data_assumptions, data_formats, data_hardware, data_models
from .elasticities import elasticities, limits_page
from .planning import planning_page
from .serving import serving_page
from .speed import speed_page
from .validation import validation_page

MADE: dict[str, Callable[[], str]] = {
    "reference/validation": validation_page,
    "reference/serving": serving_page,
    "reference/planning": planning_page,
    "reference/speed": speed_page,
    "reference/elasticities": elasticities,
    "reference/limits": limits_page,
    "claims/index": index_page,
    "data/models": data_models,
    "data/hardware": data_hardware,
    "data/formats": data_formats,
    "data/assumptions": data_assumptions,
}
HEADING = re.compile(r"(#+) (.+)")
PICTURE = re.compile(r"`{3,}\{picture\} (\w+)")
SAVED = re.compile(r'"data:text/csv;charset=utf-8;base64,([^"]+)"')
ROLE = re.compile(r"\{\w+\}`([^`<]*?)(?: <[^`]*>)?`")


def printed(page: str, section: str = "") -> str:
    """Return the tables and the charts' numbers of a page, or of a section of it by its anchor.

    Raises BadInput, with the nearest names, for a page not made here or without such a section.
    """
    parts = _parts(_text(page))
    known = {name: None for _, names in parts for name in names}
    if section and section not in known:
        raise BadInput(f"{page} has no section {section!r}{nearest(section, known)}")
    shown = [part for part, names in parts if not section or section in names]
    if not shown:
        raise BadInput(f"{page} has no table" + (f" in {section}" if section else ""))
    return "\n\n".join(shown)


def _text(page: str) -> str:
    if page in MADE:
        return MADE[page]()
    drawn = {path.stem: path for path in BOOK.glob("*.md")}
    if page in drawn and PICTURE.search(text := drawn[page].read_text(encoding="utf-8")):
        return text
    with_charts = (n for n, p in drawn.items() if PICTURE.search(p.read_text(encoding="utf-8")))
    raise BadInput(f"no page {page!r} to print{nearest(page, [*MADE, *with_charts])}")


def _parts(text: str) -> list[tuple[str, list[str]]]:
    """Return each table or chart of a page, with the anchors of the sections that it stands in."""
    parts, within = [], []
    for block in re.split(r"\n(?=#+ )", text):
        head, _, rest = block.partition("\n")
        if found := HEADING.match(head):
            within = [*within[: len(found[1]) - 1], make_id(_plain(found[2]))]
        parts += [(part, within) for part in _tables(rest if found else block)]
    return parts


def _tables(text: str) -> list[str]:
    lines, found = text.splitlines(), []
    for at, line in enumerate(lines):
        if line.startswith("|") and not (at and lines[at - 1].startswith("|")):
            rows = takewhile(lambda row: row.startswith("|"), lines[at:])
            found.append("\n".join(map(_plain, rows)))
        if drawn := PICTURE.match(line):
            found.append(as_csv(PICTURES[drawn[1]]().to_dict()).rstrip())
    charts = (base64.b64decode(saved).decode().rstrip() for saved in SAVED.findall(text))
    return [*found, *charts]


def _plain(text: str) -> str:
    """Return Markdown as it reads: characters for their codes, roles and links as their words."""
    text = re.sub(r"\[([^\]]*)\](?:\([^)]*\)|\{[^}]*\})", r"\1", ROLE.sub(r"\1", text))
    return html.unescape(re.sub(r"</?[a-z][^>]*>", "", text)).replace("**", "")
