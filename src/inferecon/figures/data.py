"""The numbers behind a chart: carried by the chart itself, taken along from the page.

A chart keeps its table in ``usermeta``, which Vega-Lite leaves alone.  A page turns that
table into links which hold the whole file, so they need neither a network nor a script:
from ``file://`` a browser would show a file beside the page instead of saving it.
"""

import base64
import csv
import io
import json
import math
import re
from html import escape
from typing import NamedTuple

from ..imprint import AUTHORS, EDITION, LICENCE, TITLE
from ..numbers import UNIT_NAMES, digits, rounded

MOST = 60  # rows of a table beside a chart; the files hold all
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet computes a text that begins so


class Column(NamedTuple):
    """``name`` is a symbol's, or a word where no symbol is meant; ``title`` is for the page."""

    name: str
    unit: str = ""
    title: str = ""

    def head(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def shown(self) -> str:
        name, unit = self.title or self.name, UNIT_NAMES.get(self.unit, self.unit)
        return f"{name} ({unit})" if unit else name


def carry(chart, file: str, columns: dict[str, Column], rows: list[dict]):
    """Return the chart with a table: of each row the fields that ``columns`` names, in order."""
    table = {
        "file": slug(file),
        "columns": [column._asdict() for column in columns.values()],
        "rows": [[_cell(row.get(field)) for field in columns] for row in rows],
    }
    return chart.properties(usermeta={"table": table})


def renamed(chart, file: str, columns: dict[str, Column] | None = None):
    """Return the chart with its table under another file name, and some columns renamed."""
    table, new = chart.usermeta["table"], columns or {}
    named = [new.get(old["name"], Column(**old))._asdict() for old in table["columns"]]
    return chart.properties(usermeta={"table": {**table, "file": slug(file), "columns": named}})


def table_of(spec: dict) -> dict | None:
    """Return the table that a chart carries; its columns are Columns."""
    table = spec.get("usermeta", {}).get("table")
    return table and {**table, "columns": [Column(**column) for column in table["columns"]]}


def slug(text: str) -> str:
    """Return a file name, without its ending, that every system takes."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower().replace(",", "")).strip("-.") or "chart"


def as_csv(spec: dict) -> str:
    """Write the table: a head of names with units, then numbers as they are and harmless texts."""
    table, out = table_of(spec), io.StringIO()
    writer = csv.writer(out)
    writer.writerow(_harmless(column.head()) for column in table["columns"])
    writer.writerows([_harmless(cell) for cell in row] for row in table["rows"])
    return out.getvalue()


def as_json(spec: dict) -> str:
    """Write what the chart says, whose it is, the units, and one object a row."""
    table = table_of(spec)
    names = [column.name for column in table["columns"]]
    content = {
        "title": " ".join(spec.get("title", {}).get("text", [])),
        "description": spec.get("description", ""),
        "case": spec.get("title", {}).get("subtitle", []),
        "source": f"{AUTHORS}, {TITLE}, edition {EDITION}",
        "licence": LICENCE,
        "columns": [{"name": c.name, "unit": c.unit} for c in table["columns"]],
        "rows": [dict(zip(names, row, strict=True)) for row in table["rows"]],
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def links(spec: dict) -> str:
    """Return the line under a chart from which its numbers are saved; nothing without a table."""
    if not (table := table_of(spec)):
        return ""
    files = (("csv", "text/csv", as_csv(spec)), ("json", "application/json", as_json(spec)))
    found = "".join(
        f' <a download="{table["file"]}.{end}" aria-label="{end.upper()} of {table["file"]}" '
        f'href="data:{kind};charset=utf-8;base64,{base64.b64encode(text.encode()).decode()}">'
        f"{end.upper()}</a>"
        for end, kind, text in files
    )
    return f'<p class="vl-data">Save{found}</p>'


def folded(spec: dict) -> str:
    """Return the table of a chart, to unfold beneath it: all rows, or as many as a page can bear.

    Names are those of the axes; what is saved has those of the symbols.
    """
    if not (table := table_of(spec)):
        return ""
    rows, more = table["rows"][:MOST], len(table["rows"]) - MOST
    head = "".join(f"<th>{escape(column.shown())}</th>" for column in table["columns"])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_written(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    rest = f"<p>{more:,} further rows are in the CSV.</p>" if more > 0 else ""
    return (
        '<details class="vl-numbers"><summary>The numbers of this figure</summary>'
        '<div class="pst-scrollable-table-container"><table class="table dataframe">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{rest}</details>"
    )


def _written(cell: str | float | None) -> str:
    if cell is None or isinstance(cell, str):
        return cell or ""
    return f"{cell:,}" if isinstance(cell, int) else digits(cell)


def _cell(value):
    """A number keeps the digits that every processor agrees on; a missing one is null."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value
    return rounded(float(value)) if math.isfinite(value) else None


def _harmless(cell):
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
