"""The HTML stage: Sphinx on the book, on all cores, only on what changed.

A page is written again when its text, a number that it quotes or a record behind its
examples changed.  Whatever one page can show of another (headings, labels, laws,
citations, the table of contents, the package itself) is the frame: when that changed
the book is built cold, because Sphinx alone would leave neighbours as they were.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from .edition import UNSTAMPED, commit, committed
from .errors import BuildFailed
from .files import BOOK, BUILD, CITATION, DATASET, ROOT
from .imprint import GIVEN, declared

HTML = BUILD / "html"
CODE = "from inferecon.press import press; press(*{!r})"
# Lines of a page that others may show: headings, labels, directives, citations, terms.
SEEN = re.compile(r'^\s*"?\s*(?:#|\(|:::|```|\{|\$\$)|\{(?:cite|term|eq|numref)\}|^\S+\n: ')
CODE_IN = (".py", ".mjs", ".html")
FOOT = re.compile(r'(<code class="commit">)[^<]*(</code> of <time>)[^<]*<')


def build_html(
    numbers: Path, jobs: int, book: Path = BOOK, build: Path = BUILD, places: bool = False
) -> None:
    """Write the book, warnings as errors; raise BuildFailed with what Sphinx said.

    The bytes do not depend on ``jobs``, nor on what was built before.  With ``places`` each
    of the numbers must have its place on the pages.
    """
    html, mark = build / "html", build / "html.key"
    keys, had = keys_of(numbers, book, build), marked(build)
    written = had[2:] or [UNSTAMPED]
    if had[:2] != keys:
        since = mark.stat().st_mtime if mark.exists() and had[:1] == keys[:1] else 0.0
        mark.unlink(missing_ok=True)  # from here on the folder is neither the old book nor the new
        if had[:1] != keys[:1]:
            for folder in (html, build / ".doctrees"):
                shutil.rmtree(folder, ignore_errors=True)
        environment = os.environ | {"SOURCE_DATE_EPOCH": "0", "INFERECON_NUMBERS": str(numbers)}
        told = str(book), str(html), jobs, since if places else None
        command = [sys.executable, "-c", CODE.format(told)]
        ran = subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True)
        if ran.returncode:
            print(ran.stdout[-6000:], ran.stderr[-6000:], sep="\n", file=sys.stderr)
            raise BuildFailed("the book does not build; what Sphinx said stands above")
        (html / ".buildinfo").unlink(missing_ok=True)  # a hash of this machine's paths
        written.append(UNSTAMPED)
    new = commit()
    if written != [new]:
        stamp(html, written, new)
    mark.write_text(" ".join([*keys, new]))


def keys_of(numbers: Path, book: Path = BOOK, build: Path = BUILD) -> list[str]:
    """Return the fingerprints of what goes into the site, the frame's first."""
    data = [path for path in (numbers, build / DATASET.name) if path.exists()]
    return [frame_key(book), pages_key(book, data)]


def marked(build: Path = BUILD) -> list[str]:
    """Return the fingerprints of the site that was built, and its commit; nothing if none was."""
    mark = build / "html.key"
    there = mark.exists() and (build / "html" / "index.html").exists()
    return mark.read_text().split() if there else []


def stamp(html: Path, old: list[str], new: str) -> None:
    """Put this checkout's commit and its day where pages name them; Sphinx need not run again."""
    foot = rf"\g<1>{new}\g<2>{committed()}<"
    for path in html.rglob("*.html"):
        before = text = path.read_text(encoding="utf-8")
        text = FOOT.sub(foot, text)
        for one in old:
            text = text.replace(one, new)
        if text != before:
            path.write_text(text, encoding="utf-8")


def frame_key(book: Path = BOOK) -> str:
    """Fingerprint of all that a page may show of others, and of what makes pages."""
    texts = pages_of(book)
    files = [p for p in book.rglob("*") if p.is_file() and p not in texts and ours(p)]
    files += [ROOT / "_config.yml", ROOT / "requirements.txt", CITATION]
    files += (p for p in (ROOT / "src").rglob("*") if p.suffix in CODE_IN)
    digest = hash_of(files)
    digest.update(repr([declared(key) for key in GIVEN]).encode())
    for path in texts:
        lines = path.read_text(encoding="utf-8").splitlines()
        seen = [line for line in lines if SEEN.search(line)]
        digest.update(f"{path}\0{seen}".encode())
    return digest.hexdigest()


def pages_key(book: Path, data: Iterable[Path]) -> str:
    """Fingerprint of the text of the pages, and of the numbers and records behind them."""
    records = (ROOT / "data").rglob("*.yaml")
    return hash_of([*pages_of(book), *records, *data]).hexdigest()


def pages_of(book: Path) -> list[Path]:
    """Return all pages: what is written by hand, generated or executed."""
    return sorted(p for p in book.rglob("*") if p.suffix in (".md", ".ipynb") and ours(p))


def ours(path: Path) -> bool:
    """Leave out the ledger, which the pages do not read, and half-written files."""
    return path.name != "numbers.csv" and not path.name.startswith(".")


def hash_of(files: Iterable[Path]):
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest
