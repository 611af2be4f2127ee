"""What runs in the process that prints the book: Sphinx, and all that a site has beside pages.

It is a process of its own, so that a build that changes no page need not import it.
"""

import gc
import os
import re
import sys
from collections import Counter
from html import unescape
from multiprocessing.util import _exit_function
from pathlib import Path

from . import export, naming, sitefiles
from .edition import pages
from .errors import BuildFailed
from .files import DATASET, ROOT
from .pages.published import published
from .search import write_index
from .stages import once


def press(book: str, html: str, jobs: int, since: float | None) -> None:
    """Print a book with all that its site has beside pages, and end the process: 0 if it is right.

    ``since`` is when the pages were last right: those that are younger must have the places of
    their numbers; None asks for no check.
    """
    try:
        wrong = sphinx(book, html, jobs)
        if not wrong:
            beside(Path(book), Path(html))
        if not wrong and since is not None:
            check_places(published(), Path(html), since)
    except BuildFailed as error:
        print(error, file=sys.stderr)
        wrong = 1
    _exit_function()  # Node would live on, and keep our output open
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(wrong)  # taking a book apart, node by node, takes seconds


def beside(book: Path, html: Path) -> None:
    """Write what a site has beside its pages: derivations, search index, lists for programs."""
    texts = [book / "examples.yaml", book / "references.bib"]
    once(
        f"derivations of {html}",
        lambda: export.write(html),
        inputs=filter(Path.exists, texts),
        told=pages(),
        outputs=lambda: html.glob("derivations*.json"),
    )
    write_index(html.parent / ".doctrees", html)
    numbers = Path(os.environ["INFERECON_NUMBERS"])
    sitefiles.write(html, book / "_toc.yml", [numbers, html.parent / DATASET.name])


def sphinx(book: str, html: str, jobs: int) -> int:
    """Build a book in this process as ``jupyter-book build -W -n`` would, which has no ``-j``."""
    from jupyter_book.sphinx import build_sphinx

    gc.disable()  # a book is a graph of millions of nodes, walked in vain at each collection
    chosen = {"external_toc_path": str(Path(book) / "_toc.yml"), "nitpicky": True}
    chosen["latex_individualpages"] = False
    result = build_sphinx(
        Path(book),
        Path(html),
        noconfig=True,
        path_config=ROOT / "_config.yml",
        confoverrides=chosen,
        warningiserror=True,
        keep_going=True,
        quiet=True,
        jobs=jobs,
    )
    return 1 if isinstance(result, BaseException) else result


def check_places(numbers: dict, html: Path, since: float = 0.0) -> None:
    """Fail unless the address of every published number is an anchor of its own in the pages.

    Pages that were last written before ``since`` (seconds since 1970) are right.
    """
    wanted: dict[str, list[str]] = {}
    for id in numbers:
        wanted.setdefault(f"{naming.page(id)}.html", []).append(naming.anchor(id))
    wrong = []
    for page, anchors_there in wanted.items():
        there = (html / page).exists()
        if there and (html / page).stat().st_mtime < since:
            continue
        text = (html / page).read_text(encoding="utf-8") if there else ""
        count = Counter(map(unescape, re.findall(r'\sid="([^"]+)"', text)))
        wrong += [f"{page}#{name}" for name in anchors_there if count[name] != 1]
        wrong += [f"{page}#{name} twice" for name, n in Counter(anchors_there).items() if n > 1]
    if wrong:
        print(*wrong[:20], sep="\n")
        raise BuildFailed(f"{len(wrong):,} numbers have no place of their own; the first above")
