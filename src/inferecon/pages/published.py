"""Quote published numbers: ``{num}`deepseek-v3/h200-sxm/fp8:itl` `` writes value and unit.

The numbers are those the notebooks published in this build; a name that none of
them published is an error, so prose cannot quote what was not computed.  When
the page is written, ``numberbox`` gives each its anchor and what the box says.
"""

import hashlib
import json
import os
import shutil
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from .. import facts
from ..errors import nearest
from ..factbox import told
from ..files import replace_text
from ..law import display
from ..laws.catalogue import LAWS
from ..numberbox import DATA, Numbers, explained, page_of, quoted, quoted_in
from ..results import read_numbers
from .katex_node import render

SCRIPTS = ("js/rows.js", "js/numbers.js")  # the second uses the first


@cache
def read(path: Path, _modified: int) -> Numbers:
    """Return the published numbers by id, from the file that the build writes."""
    return read_numbers(path)


def published() -> Numbers:
    """Return the numbers of this build."""
    path = Path(os.environ["INFERECON_NUMBERS"])
    return read(path, path.stat().st_mtime_ns)


def quotes(env) -> dict[str, set[str]]:
    """Return the ids that each page quotes, which Sphinx keeps from build to build."""
    if not hasattr(env, "inferecon_quotes"):
        env.inferecon_quotes = {}
    return env.inferecon_quotes


def outdated(app: Sphinx, env, added: set, changed: set, removed: set) -> set[str]:
    """Return the pages that quote a number or a recorded value which moved, or have its place."""
    ids = moved_numbers(Path(app.doctreedir)) | moved_facts(Path(app.doctreedir))
    quoting = {page for page, quoted in quotes(env).items() if quoted & ids}
    return quoting | set(map(page_of, ids))


def moved_numbers(folder: Path) -> set[str]:
    """Return the ids whose numbers are not those of last time, and keep these."""
    path, kept = Path(os.environ["INFERECON_NUMBERS"]), folder / "numbers.csv"
    if kept.exists() and kept.read_bytes() == path.read_bytes():
        return set()
    before, now = read_numbers(kept), published()
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, kept)
    return {id for id in before.keys() | now.keys() if before.get(id) != now.get(id)}


def moved_facts(folder: Path) -> set[str]:
    """Return the ids of recorded values of which the box says other than last time."""
    kept = folder / "facts.json"
    before = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    told_now = ((id, json.dumps(told([id]))) for id in facts.all_ids())
    now = {id: hashlib.sha256(text.encode()).hexdigest()[:16] for id, text in told_now}
    replace_text(kept, json.dumps(now))
    return {id for id in before.keys() | now.keys() if before.get(id) != now.get(id)}


def note(app: Sphinx, doctree: nodes.document) -> None:
    """Note what a page quotes, by a role or in a table that the report wrote."""
    found = (quoted_in(raw.astext()) for raw in doctree.findall(nodes.raw))
    quotes(app.env)[app.env.docname] = set().union(*found)


def forget(app: Sphinx, env, page: str) -> None:
    """Drop what a page quoted, because it is read again or gone."""
    quotes(env).pop(page, None)


def merge(app: Sphinx, env, pages: list[str], other) -> None:
    """Take over what a process of its own read."""
    quotes(env).update({page: ids for page, ids in quotes(other).items() if page in pages})


class NumberRole(SphinxRole):
    """``{num}`id` `` shows three digits and the unit, ``{val}`id` `` the digits alone.

    Both add the interval of a prediction and the mark of how it is known.
    """

    def __init__(self, with_unit: bool):
        self.with_unit = with_unit

    def run(self):
        id, numbers = self.text.strip(), published()
        if id not in numbers:
            return [], [self._error(f"no published number {id!r}{nearest(id, numbers)}")]
        if numbers[id].missing:
            return [], [self._error(f"{id} has no value: quote one that exists")]
        return [nodes.raw("", quoted(id, numbers[id], self.with_unit), format="html")], []

    def _error(self, message: str):
        return self.inliner.reporter.error(message, line=self.lineno)


def typeset(law: str) -> str:
    """Return the equation of a law, which the box of a number shows."""
    return render(display(_laws()[law].eq), True)


@cache
def _laws() -> dict:
    return {law.id: law for law in LAWS}


def explain(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Give the numbers of a page their places, and the page the script of the box."""
    if doctree is None or "body" not in context:
        return
    context["body"] = explained(context["body"], pagename, published(), typeset)
    if DATA in context["body"]:
        for script in SCRIPTS:
            app.add_js_file(script, loading_method="defer", priority=600)


def setup(app: Sphinx) -> None:
    app.add_role("num", NumberRole(with_unit=True))
    app.add_role("val", NumberRole(with_unit=False))
    app.connect("env-get-outdated", outdated)
    app.connect("env-purge-doc", forget)
    app.connect("doctree-read", note)
    app.connect("env-merge-info", merge)
    app.connect("html-page-context", explain, priority=400)  # before the copy buttons
