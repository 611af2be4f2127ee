"""Quote published numbers: ``{num}`deepseek-v3/h200-sxm/fp8:itl` `` writes value and unit.

The numbers are those the notebooks published in this build; a name that none of
them published is an error, so prose cannot quote what was not computed.
"""

import csv
import math
import os
from functools import cache
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from ..errors import nearest
from ..numbers import Number, digits


@cache
def read_numbers(path: Path, _modified: int) -> dict[str, Number]:
    """Return the published numbers by id, from the file that the build writes."""
    with path.open(newline="", encoding="utf-8") as lines:
        return {
            row["id"]: Number(
                row["id"].rpartition(":")[2], float(row["value"] or "nan"), row["unit"]
            )
            for row in csv.DictReader(lines)
        }


class NumberRole(SphinxRole):
    """``{num}`id` `` shows three digits and the unit, ``{val}`id` `` the digits alone."""

    def __init__(self, with_unit: bool):
        self.with_unit = with_unit

    def run(self):
        id, path = self.text.strip(), Path(os.environ["INFERECON_NUMBERS"])
        self.env.note_dependency(str(path))
        numbers = read_numbers(path, path.stat().st_mtime_ns)
        if id not in numbers:
            return [], [self._error(f"no published number {id!r}{nearest(id, numbers)}")]
        found = numbers[id]
        if math.isnan(found.value):
            return [], [self._error(f"{id} has no value: quote one that exists")]
        text = found.text if self.with_unit else digits(found.value)
        return [nodes.raw("", span(id, text), format="html")], []

    def _error(self, message: str):
        return self.inliner.reporter.error(message, line=self.lineno)


def span(id: str, text: str) -> str:
    """HTML of a quoted number: its id tells where it was published."""
    name = escape(id, quote=True)
    return f'<span class="num" data-number="{name}" title="{name}">{escape(text)}</span>'


def setup(app: Sphinx) -> None:
    app.add_role("num", NumberRole(with_unit=True))
    app.add_role("val", NumberRole(with_unit=False))
