"""What a site has beside its pages: lists of pages, data and anchors for programs, and a map.

Titles and descriptions are read from the heads of the pages as they were written.  Where the
site will stand and where its source is, who publishes it says: in ``CITATION.cff``, or in the
environment as ``INFERECON_URL`` and ``INFERECON_REPOSITORY``, as CI does.  What needs an address
that nobody gave is left out: a copy that is handed around stands nowhere.
"""

import json
import re
import shutil
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple

import yaml

from . import anchors
from .cite import url
from .edition import edition
from .files import BOOK, SWEEP, replace_text
from .imprint import TITLE, declared

CARD = "card.png"  # what a link to a page shows where it is posted
SHARP = 2  # pixels of the card a unit of the drawing
HEAD = 20_000  # characters in which a page has its title and description
DATASETS = {
    "dataset/numbers.csv": "every published number: id, value, unit, 90 % interval",
    "dataset/results.parquet": "one row a combination and step: model, device, format, results",
    "sweep": "the executed notebook of each combination that runs: MODEL/DEVICE--FORMAT.ipynb",
    "derivations.json": "every law, derivation and symbol, in LaTeX and SymPy",
    "derivations.schema.json": "JSON schema of derivations.json",
    "anchors.json": "where each law, derivation and step stands: id to page and anchor",
}


class Page(NamedTuple):
    part: str
    path: str
    title: str
    description: str


def write(html: Path, toc: Path, files: list[Path], site: str | None = None) -> None:
    """Write all lists into a built site and copy the data files that there are."""
    site = declared("url") if site is None else site
    for path in files:
        (html / "dataset").mkdir(exist_ok=True)
        if path.exists():
            shutil.copyfile(path, html / "dataset" / path.name)
    notebooks(html.parent / SWEEP.name, html / SWEEP.name)
    places = {id: url(id) for id in anchors.published()}
    places |= {old: url(new) for old, new in anchors.redirects().items()}
    replace_text(html / "anchors.json", _json(places))
    pages = [_read(html, part, page) for part, page in listed(toc)]
    data = {path: says for path, says in DATASETS.items() if (html / path).exists()}
    replace_text(html / "index.json", index(pages, data))
    replace_text(html / "llms.txt", llms(pages, data))
    if site:
        replace_text(html / "sitemap.xml", sitemap(pages, site))
        (html / CARD).write_bytes(card())


def notebooks(source: Path, target: Path) -> None:
    """Make ``target`` hold the executed notebooks of ``source``, and no others."""
    wanted, there = (
        {path.relative_to(folder): _written(path) for path in folder.glob("*/*.ipynb")}
        for folder in (source, target)
    )
    for name in there.keys() - wanted.keys():
        (target / name).unlink()
    for name, written in wanted.items():
        if there.get(name) != written:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name)


def _written(path: Path) -> tuple[int, int]:
    """Return size and time of a file, by which a copy that keeps the time is known."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def index(pages: list[Page], data: dict[str, str]) -> str:
    """Return the list of pages and data as JSON."""
    return _json(
        {
            "title": TITLE,
            "edition": edition(),
            "licence": {"text, figures and data": "CC-BY-4.0", "code": "Apache-2.0"},
            "pages": [page._asdict() for page in pages],
            "datasets": [{"path": path, "description": says} for path, says in data.items()],
        }
    )


def llms(pages: list[Page], data: dict[str, str]) -> str:
    """Return the same as Markdown, for a reader that is a program."""
    lines = [f"# {TITLE}", "", f"> {pages[0].description}", ""]
    part = None
    for page in pages:
        if page.part != part:
            part = page.part
            lines += ["", f"## {part}", ""]
        says = f": {page.description}" if page.description else ""
        lines += [f"- [{page.title}]({page.path}){says}"]
    lines += ["", "## Data for programs", ""]
    lines += [f"- [{path}]({path}): {says}" for path, says in data.items()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def sitemap(pages: list[Page], site: str) -> str:
    """Return the map for search engines, which must hold whole addresses."""
    lines = [f"<url><loc>{escape(f'{site}/{page.path}')}</loc></url>" for page in pages]
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{space}">'
    return "\n".join([head, *lines, "</urlset>"]) + "\n"


def card() -> bytes:
    """Return the chart of the first page as PNG, the form that those who show links can read."""
    import vl_convert  # starts a JavaScript engine

    drawn = (BOOK / "assets" / "summary.svg").read_text(encoding="utf-8")
    return vl_convert.svg_to_png(drawn, scale=SHARP)


def listed(toc: Path) -> list[tuple[str, str]]:
    """Return part and name of every page in the table of contents, in its order."""
    root = yaml.safe_load(toc.read_text(encoding="utf-8"))
    found = [("Overview", root["root"])]
    found += [("Chapters", page) for page in _files(root.get("chapters", []))]
    for part in root.get("parts", []):
        caption = part.get("caption", "Chapters")
        found += [(caption, page) for page in _files(part["chapters"])]
    return found


def _files(entries: list[dict]) -> list[str]:
    return [name for one in entries for name in (one["file"], *_files(one.get("sections", [])))]


def _read(html: Path, part: str, page: str) -> Page:
    path = f"{page}.html"
    with (html / path).open(encoding="utf-8") as file:
        head = file.read(HEAD)
    title = re.search(r'<meta property="og:title" content="([^"]*)"', head)
    says = re.search(r'<meta name="description" content="([^"]*)"', head)
    return Page(part, path, *(unescape(found[1]) if found else "" for found in (title, says)))


def _json(content: object) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
