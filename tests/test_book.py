"""The book: no typed numbers, every law shown, the ledger in order, links that lead somewhere."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

from inferecon import anchors, edition, sitefiles
from inferecon.analysis import results
from inferecon.errors import BadInput
from inferecon.files import LEDGER, ROOT
from inferecon.html import HTML, build_html, frame_key
from inferecon.laws.catalogue import CHAPTERS, DERIVATIONS, LAWS
from inferecon.making import PAGES
from inferecon.matrix import HARDWARE, MODELS, WORKLOAD
from inferecon.numbers import Number
from inferecon.records import ids
from inferecon.report.readme import README
from inferecon.report.readme import text as readme_text
from inferecon.results import moved, numbers_text, read_numbers
from inferecon.search import write_index

BOOK = ROOT / "book"
PROSE = sorted(BOOK.glob("*.md"))
every_page = pytest.mark.parametrize("path", PROSE, ids=lambda path: path.stem)
NUMBERS = read_numbers(LEDGER)


# Prose -----------------------------------------------------------------------------------------

UNIT = (
    r"(?:[kMGTP]i?B(?:/s)?|bytes?|B/s|bits?|[kMGTP]?FLOP(?:/s)?|[mµun]?s|seconds?|minutes?|hours?"
    r"|tokens?|tok/s|[kM]?W|[kMGT]?Wh|p?J|joules?|USD|dollars?|g|kg|tonnes?|%|percent)"
)
TYPED = re.compile(rf"(?:(?<![\w.])\d[\d.,]*(?:\s|-|&nbsp;)?{UNIT}(?![\w/-])|\$\s?\d|[€£]\s?\d)")
# What prose may state: a unit itself, and the workload of the default sweep as the code has it.
STATED = re.compile(rf"\b1 (?:byte|bit|token|second|FLOP)\b|\b{WORKLOAD['isl']:,} tokens\b")


def sentences(text):
    """Prose without code, formulas, directives, comments and link targets, sentence by sentence."""
    text = re.sub(r"^(`{3,}|~{3,}).*?^\1\s*$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL)
    text = re.sub(r"(?<!\\)\$(?=\S)[^$\n]+?(?<=\S)\$", "", text)
    text = re.sub(r"\{cite\}`[^`]*`", "CITED", text)
    text = re.sub(r"\{[\w:-]+\}`[^`]*`", "", text)
    text = re.sub(r"`[^`\n]*`", "", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.split(r"(?<=[.!?:])\s+|\n", text)


def typed(text):
    """Sentences that hold a number with a unit and cite nobody."""
    return [
        sentence
        for sentence in sentences(text)
        if "CITED" not in sentence and TYPED.search(STATED.sub("", sentence))
    ]


@every_page
def test_a_number_with_a_unit_is_published_or_cited(path):
    assert typed(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "It takes 12 ms.",
        "About 3.35 TB/s, then.",
        "A cache of 70,272 bytes.",
        "It costs $3 an hour.",
        "80 GB cards",
        "uses 40.2 kWh of it",
        "is 30 % faster",
        "reads 8-bit weights of 671 GB",
    ],
)
def test_a_typed_number_is_found(sentence):
    assert typed(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "It takes {num}`a/b/c:itl`.",
        "It takes 12 ms {cite}`pope2023`.",
        "The formula $t = 3\\,\\text{ms}$ is shown.",
        "Say `12 ms` in code.",
        "Chapter 3 has 12 laws.",
        "[A page](12ms.html) of it.",
        "```sh\nsleep 12 s\n```",
    ],
)
def test_what_is_no_typed_number_is_left_alone(sentence):
    assert not typed(sentence)


@every_page
def test_a_quoted_number_is_in_the_ledger_and_has_a_value(path):
    quoted = re.findall(r"\{(?:num|val)\}`([^`]+)`", path.read_text(encoding="utf-8"))
    missing = [id for id in quoted if NUMBERS.get(id.strip(), (None,))[0] is None]
    assert missing == []


def directives(kind):
    """Arguments of a directive over all prose pages."""
    pattern = re.compile(rf"^[`:]{{3,}}\{{{kind}\}}[ \t]*(\S+)", re.MULTILINE)
    return {name for path in PROSE for name in pattern.findall(path.read_text(encoding="utf-8"))}


def test_every_law_is_shown_on_some_page():
    shown = directives("law") | {
        law.id for chapter in directives("laws") for law in CHAPTERS[chapter]
    }
    assert {law.id for law in LAWS} <= shown
    assert CHAPTERS.keys() == directives("laws")


def test_every_derivation_is_shown_on_some_page():
    assert DERIVATIONS.keys() == directives("derivation")


def test_the_symbols_are_shown():
    assert any("{symbols}" in path.read_text(encoding="utf-8") for path in PROSE)


# Pages -----------------------------------------------------------------------------------------

REFERENCE = ("elasticities", "limits", "planning", "serving", "speed", "validation")
GENERATED = {f"models/{id}" for id in ("index", *MODELS)}
GENERATED |= {f"hardware/{id}" for id in ("index", *HARDWARE)}
GENERATED |= {f"data/{name}" for name in ("models", "hardware", "formats", "assumptions")}
GENERATED |= {f"claims/{name}" for name in ("index", "document-1", "document-2", "document-3")}
GENERATED |= {"data/sources", *(f"reference/{name}" for name in REFERENCE)}
GENERATED |= {f"chapters/{name}" for name in PAGES}
for kind in ("models", "hardware"):
    GENERATED |= {f"data/{kind}/{id}" for id in ids(kind) if f"{kind}/{id}" not in GENERATED}


def listed(node):
    """Every page named in the table of contents."""
    if isinstance(node, list):
        return [page for item in node for page in listed(item)]
    if not isinstance(node, dict):
        return []
    own = [node[key] for key in ("root", "file") if key in node]
    return own + [page for value in node.values() for page in listed(value)]


def test_every_page_is_listed_once_and_every_listed_page_exists():
    pages = listed(yaml.safe_load((BOOK / "_toc.yml").read_text(encoding="utf-8")))
    assert len(pages) == len(set(pages))
    assert set(pages) == {path.stem for path in PROSE} | GENERATED
    for name in PAGES:
        assert (ROOT / "notebooks" / f"{name}.ipynb").exists()


@every_page
def test_a_page_begins_with_its_title(path):
    options = r"(?:---\n(?:[\w.]+: \w+\n)+---\n\n)?"  # of the theme
    begin = options + r"(?:\([\w-]+\)=\n)?# \S"
    assert re.match(begin, path.read_text(encoding="utf-8"))


# Ledger ----------------------------------------------------------------------------------------


def test_the_ledger_is_written_as_the_build_writes_it():
    assert LEDGER.read_text(encoding="utf-8") == numbers_text(NUMBERS)
    assert len(NUMBERS) > 1000


def test_the_changelog_names_the_ledger_so_a_moved_number_needs_a_line():
    fingerprint = hashlib.sha256(LEDGER.read_bytes()).hexdigest()[:12]
    assert fingerprint in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_readme_shows_the_numbers_of_the_ledger():
    readme = README.read_text(encoding="utf-8")
    assert readme == readme_text(readme, NUMBERS)
    assert "<!-- num " in readme


def ms(*figures):
    """Numbers a:itl, b:itl ... of these milliseconds."""
    return {f"{name}:itl": Number(x, "ms") for name, x in zip("abcd", figures, strict=False)}


def test_a_moved_number_is_said_with_old_and_new():
    old, new = ms(4.0, 1.0, None, 1.0), ms(5.0, 1.0 + 1e-12, 2.0)
    assert moved(old, new | {"e:itl": Number(3.0, "")}) == [
        "a:itl: 4 ms -> 5 ms",
        "c:itl: missing -> 2 ms",
        "d:itl: 1 ms -> absent",
        "e:itl: absent -> 3",
    ]


def test_a_changed_unit_is_a_moved_number():
    assert moved({"a": Number(1.0, "ms")}, {"a": Number(1.0, "s")}) == ["a: 1 ms -> 1 s"]
    assert moved(ms(None), ms(None)) == []


PREDICTED = Number(3.0, "ms", 2.0, 4.0, "calibrated")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"low": 2.5}, "3 ms (2.5 to 4, calibrated)"),
        ({"high": 5.0}, "3 ms (2 to 5, calibrated)"),
        ({"known": "extrapolated"}, "3 ms (2 to 4, extrapolated)"),
        ({"low": None, "high": None, "known": ""}, "3 ms"),
    ],
)
def test_a_changed_interval_is_a_moved_number(change, said):
    new = {"a": PREDICTED._replace(**change)}
    assert moved({"a": PREDICTED}, new) == [f"a: 3 ms (2 to 4, calibrated) -> {said}"]
    assert moved({"a": PREDICTED}, {"a": PREDICTED}) == []


def test_the_ledger_keeps_intervals(tmp_path):
    numbers = {"a": PREDICTED, "b": Number(1.5, "s"), "c": Number(None, "USD/Mtoken")}
    path = tmp_path / "numbers.csv"
    path.write_text(numbers_text(numbers))
    assert path.read_text().splitlines() == [
        "id,value,unit,low,high,known",
        "a,3,ms,2,4,calibrated",
        "b,1.5,s,,,",
        "c,,USD/Mtoken,,,",
    ]
    assert read_numbers(path) == numbers


@pytest.mark.parametrize(
    "line", ["a,3,ms,2,4,", "a,3,ms,2,,calibrated", "a,,ms,2,4,calibrated", "a,3,ms,2,4,guessed"]
)
def test_a_prediction_without_all_its_parts_is_refused(tmp_path, line):
    path = tmp_path / "numbers.csv"
    path.write_text(f"id,value,unit,low,high,known\n{line}\n")
    with pytest.raises(BadInput, match="numbers.csv line 2"):
        read_numbers(path)


# HTML ------------------------------------------------------------------------------------------

COMBINATION = "deepseek-r1-distill-llama-8b/h200-sxm/bf16"
UNPRICED = "deepseek-r1-distill-llama-8b/h20/bf16:cost_per_token"  # no offer is on record
INDEX = f"""# A small book

ITL is {{num}}`{COMBINATION}:itl`, in digits {{val}}`{COMBINATION}:itl` {{cite}}`williams2009`.

```{{law}} ITL
```

```{{derivation}} BATCH-FIT
```

See {{ref}}`the law <law-itl>`, {{ref}}`a proof <derivation-batch-fit>` and {{doc}}`laws`.

```{{symbols}}
```
"""
ON_INDEX = {"law-itl", "derivation-batch-fit"}
MISTAKES = f"""# A broken book

```{{law}} ITLL
```

```{{derivation}} BATCH-FITS
```

```{{laws}} cash
```

{{num}}`{COMBINATION}:itll` and {{val}}`{UNPRICED}` and $\\frac{{1}}$.
"""


def build(folder, pages):
    """Build pages with the configuration of the book; return the finished process."""
    book = folder / "book"
    book.mkdir()
    for name, text in pages.items():
        path = book / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    toc = {"format": "jb-book", "root": "index"}
    if others := [{"file": name} for name in pages if name != "index"]:
        toc["chapters"] = others
    (book / "_toc.yml").write_text(yaml.safe_dump(toc))
    shutil.copy(BOOK / "references.bib", book)
    (book / "assets").symlink_to(BOOK / "assets")
    command = [Path(sys.executable).with_name("jupyter-book"), "build", book]
    command += ["--config", ROOT / "_config.yml", "--path-output", folder, "-W", "-n"]
    environment = os.environ | {"INFERECON_NUMBERS": str(LEDGER), "SOURCE_DATE_EPOCH": "0"}
    return subprocess.run(
        [*map(str, command), "--keep-going", "-q"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def stub(name):
    """A page with the anchors that cards link to, and nothing else."""
    here = [anchors.label(id) for id, page in edition.pages().items() if page == name]
    if name == "reference/elasticities":
        here = [f"elasticity-{anchors.slug(law.id)}" for law in results()]
    blocks = [f"({label})=\n{label}\n" for label in here if label not in ON_INDEX]
    return "\n".join([f"# {name}\n", *blocks])


@pytest.fixture(scope="module")
def small_book(tmp_path_factory):
    """HTML of a page with every role and directive, beside the real page of all laws."""
    folder = tmp_path_factory.mktemp("small")
    laws = (BOOK / "laws.md").read_text(encoding="utf-8")
    others = sorted(set(re.findall(r"\{doc\}`([\w/-]+)`", laws)) - {"laws"})
    pages = {"index": INDEX, "laws": laws, "references": (BOOK / "references.md").read_text()}
    pages["models/deepseek-r1-distill-llama-8b"] = "# The page of its numbers\n"
    done = build(folder, pages | {name: stub(name) for name in others})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    html = folder / "_build" / "html"
    write_index(folder / "_build" / ".doctrees", html)
    sitefiles.write(html, folder / "book" / "_toc.yml", [LEDGER])
    return html


class Page:
    """Links, fetched files and anchors of one HTML page."""

    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        self.anchors = set(map(unescape, re.findall(r'\s(?:id|name)="([^"]+)"', text)))
        self.links = list(map(unescape, re.findall(r'<a\s(?:[^>]*?\s)?href="([^"]+)"', text)))
        loads = r'<(?:script|img|iframe|source|object|embed)\s(?:[^>]*?\s)?(?:src|data)="([^"]+)"'
        sheets = r'<link\s(?![^>]*rel="search")(?:[^>]*?\s)?href="([^"]+)"'
        self.fetched = list(map(unescape, re.findall(loads, text) + re.findall(sheets, text)))


def broken(html):
    """Links that lead nowhere and files fetched from elsewhere, by page."""
    files = [path for path in html.rglob("*.html") if "_static" not in path.parts]
    pages = {path.resolve(): Page(path) for path in files}
    found = defaultdict(list)
    for path, page in pages.items():
        for target in [*page.links, *page.fetched]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.fetched and parts.scheme != "data":
                    found[path.name].append(f"fetches {target}")
                continue
            other = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not other.exists():
                found[path.name].append(f"no file {target}")
            elif anchor and other in pages and anchor not in pages[other].anchors:
                found[path.name].append(f"no anchor {target}")
    assert all(page.links and page.fetched and page.anchors for page in pages.values())
    return dict(found)


def test_links_of_a_small_book_lead_somewhere_and_nothing_is_fetched(small_book):
    assert broken(small_book) == {}


def test_a_quoted_number_is_the_one_of_the_ledger(small_book):
    page = (small_book / "index.html").read_text(encoding="utf-8")
    value, unit, *interval = NUMBERS[f"{COMBINATION}:itl"]
    assert unit == "ms" and interval == [None, None, ""]
    whole, bare = re.findall(r'<a class="num" data-number="[^"]+:itl"[^>]*>([^<]+)</a>', page)
    assert float(bare) == pytest.approx(value, rel=5e-3) and whole == f"{bare} ms"
    assert page.count('id="num-deepseek-r1-distill-llama-8b-h200-sxm-bf16-itl"') == 1
    assert page.count('id="numbers-data"') == 1 and "js/numbers.js" in page
    assert page.count("js/cite.js") == 1
    assert page.index("js/cite.js") < page.index("js/numbers.js")  # whose buttons it uses


def test_a_law_and_a_derivation_are_shown_with_formula_and_source(small_book):
    page = (small_book / "index.html").read_text(encoding="utf-8")
    assert 'id="law-itl"' in page and 'id="derivation-batch-fit"' in page
    assert "the faster half hides behind the slower" in page and 'class="katex' in page
    assert "the real batch is the whole number below" in page
    assert 'id="derivation-batch-fit-step-2"' in page
    # a law, a derivation, and each of its steps
    assert page.count('class="cite"') == 2 + page.count('class="step"') > 3 and "js/cite.js" in page
    assert page.count("<summary>Worked example</summary>") == 2


def test_the_page_of_all_laws_has_a_row_for_each(small_book):
    page = (small_book / "laws.html").read_text(encoding="utf-8")
    assert [law.id for law in LAWS if f'id="row-{law.id.lower()}"' not in page] == []


def test_a_name_that_does_not_exist_fails_the_build(tmp_path):
    done = build(tmp_path, {"index": MISTAKES})
    said = done.stdout + done.stderr
    assert done.returncode != 0
    for sentence in (
        "no law 'ITLL'; did you mean ITL",
        "no derivation 'BATCH-FITS'; did you mean BATCH-FIT",
        "no chapter 'cash'; did you mean cache",
        f"no published number '{COMBINATION}:itll'; did you mean",
        f"{UNPRICED} has no value: quote one that exists",
        "KaTeX cannot read",
    ):
        assert sentence in said


def test_links_of_the_built_report_lead_somewhere_and_nothing_is_fetched(small_book):
    """Checks _build/html where a build has left it; the small book stands for it elsewhere."""
    assert broken(HTML if (HTML / "index.html").exists() else small_book) == {}


# Only what changed, on all cores -----------------------------------------------------------------


def written_book(folder):
    """Pages enough for Sphinx to read them beside each other, one with a law, one with a number."""
    book = folder / "book"
    book.mkdir()
    pages = {f"page{n}": f"# Page {n}\n\nSee {{doc}}`index`.\n" for n in range(6)}
    pages["models/deepseek-r1-distill-llama-8b"] = "# The page of its numbers\n"
    pages["index"] = f"# A book\n\nITL is {{num}}`{COMBINATION}:itl`.\n\nIt is short.\n"
    (book / "models").mkdir()
    for name, text in pages.items():
        (book / f"{name}.md").write_text(text)
    chapters = [{"file": name} for name in sorted(pages) if name != "index"]
    toc = {"format": "jb-book", "root": "index", "parts": [{"numbered": True}]}
    toc["parts"][0]["chapters"] = chapters
    (book / "_toc.yml").write_text(yaml.safe_dump(toc))
    (book / "assets").symlink_to(BOOK / "assets")
    (book / "references.bib").write_text("")
    return book


def everything(html):
    """Bytes of every file of a site."""
    return {str(p.relative_to(html)): p.read_bytes() for p in html.rglob("*") if p.is_file()}


def test_a_book_has_the_same_bytes_cold_or_not_on_one_core_or_two(tmp_path):
    book, ledger = written_book(tmp_path), tmp_path / "numbers.csv"
    lines = LEDGER.read_text().splitlines(keepends=True)
    text = "".join(one for one in lines if one.startswith(("id,", "deepseek-r1-distill-llama-8b/")))
    ledger.write_text(text)
    step = tmp_path / "step"
    build_html(ledger, 2, book, step)
    first = everything(step / "html")
    untouched = (step / "html" / "page3.html").stat().st_mtime_ns

    value = f"{NUMBERS[COMBINATION + ':itl'][0]:.10g}"
    assert f"{COMBINATION}:itl,{value}," in text
    ledger.write_text(text.replace(f"{COMBINATION}:itl,{value},", f"{COMBINATION}:itl,77.7,"))
    page = book / "page2.md"
    page.write_text(page.read_text() + "\nOne sentence more.\n")
    build_html(ledger, 2, book, step)
    assert untouched == (step / "html" / "page3.html").stat().st_mtime_ns
    assert "One sentence more." in (step / "html" / "page2.html").read_text()
    for name in ("index", "models/deepseek-r1-distill-llama-8b"):
        assert "77.7" in (step / "html" / f"{name}.html").read_text()

    cold = tmp_path / "cold"
    build_html(ledger, 1, book, cold)
    assert everything(cold / "html") == everything(step / "html") != first


def test_what_one_page_shows_of_another_is_the_frame(tmp_path):
    book = written_book(tmp_path)
    page, before = book / "page2.md", frame_key(book)
    text = page.read_text()
    page.write_text(text + "\nA sentence.\n")
    assert before == frame_key(book)
    for change in ("## A heading", "(a-label)=", "```{law} ITL", "So {cite}`williams2009`."):
        page.write_text(f"{text}\n{change}\n")
        assert before != frame_key(book), change
    page.write_text(text)
    assert before == frame_key(book)
    (book / "_toc.yml").write_text((book / "_toc.yml").read_text() + "\n")
    assert before != frame_key(book)
