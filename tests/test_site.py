"""The lists beside the pages: every page once, addresses only where they are declared."""

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from docutils import nodes
from docutils.core import publish_doctree

from inferecon import anchors, imprint, sitefiles
from inferecon.errors import BadInput
from inferecon.pages import head, search

TOC = """format: jb-book
root: index
parts:
  - caption: Chapters & more
    chapters:
      - file: cost
        sections:
          - file: models/one
"""
PAGE = """<head><meta property="og:title" content="{title}" />
<meta name="description" content="What &quot;it&quot; is." /></head>"""
NAMES = {"index": "A book", "cost": "Cost &amp; price", "models/one": "One"}


@pytest.fixture
def site(tmp_path):
    (tmp_path / "toc.yml").write_text(TOC)
    (tmp_path / "numbers.csv").write_text("id,value\n")
    html = tmp_path / "html"
    for name, title in NAMES.items():
        path = html / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE.format(title=title))

    def write(address=""):
        files = [tmp_path / "numbers.csv", tmp_path / "absent.parquet"]
        sitefiles.write(html, tmp_path / "toc.yml", files, address)
        return html

    return write


def test_the_index_lists_pages_and_the_data_that_there_is(site):
    index = json.loads((site() / "index.json").read_text())
    assert [page["path"] for page in index["pages"]] == [f"{name}.html" for name in NAMES]
    assert index["pages"][1] == {
        "part": "Chapters & more",
        "path": "cost.html",
        "title": "Cost & price",
        "description": 'What "it" is.',
    }
    assert [one["path"] for one in index["datasets"]] == ["dataset/numbers.csv", "anchors.json"]


def test_the_list_for_language_models_has_a_line_a_page(site):
    text = (site() / "llms.txt").read_text()
    assert '- [Cost & price](cost.html): What "it" is.\n- [One](models/one.html)' in text
    assert text.startswith("# The economics of LLM inference\n\n> What")


def test_a_map_needs_an_address(site):
    assert not (site() / "sitemap.xml").exists()
    text = (site("https://example.org/a&b") / "sitemap.xml").read_text()
    assert text.count("<url>") == 3 and "<loc>https://example.org/a&amp;b/cost.html</loc>" in text


def test_a_card_is_drawn_where_the_site_has_an_address(site):
    assert not (site() / sitefiles.CARD).exists()
    drawn = (site("https://example.org") / sitefiles.CARD).read_bytes()
    wide, high = (int.from_bytes(drawn[at : at + 4]) for at in (16, 20))  # of the head of a PNG
    assert drawn.startswith(b"\x89PNG") and wide >= 1200 and high >= 600


def test_the_environment_says_where_a_site_will_stand(monkeypatch):
    declared = imprint.declared.__wrapped__
    monkeypatch.delenv("INFERECON_URL", raising=False)
    assert declared("url") == ""
    monkeypatch.setenv("INFERECON_URL", "https://example.org/report/")
    assert declared("url") == "https://example.org/report"
    monkeypatch.setenv("INFERECON_URL", 'https://example.org/"><script>')
    with pytest.raises(BadInput, match="INFERECON_URL=.* is no address"):
        declared("url")


def test_every_id_has_an_address_of_its_own(site):
    places = json.loads((site() / "anchors.json").read_text())
    assert set(anchors.published()) <= set(places)
    assert places["ITL"] == "latency.html#law-itl"


@pytest.mark.parametrize(
    ("repository", "starts", "title"),
    [
        ("https://example.org/repository", "https://example.org/repository/issues/new?", "title"),
        ("", "mailto:?", "subject"),
    ],
)
def test_a_wrong_number_is_reported_with_its_page(repository, starts, title, monkeypatch):
    monkeypatch.setattr(head, "declared", {"repository-code": repository}.get)
    address = head.report_url("models/one")
    asked = parse_qs(urlsplit(address).query)
    assert address.startswith(starts)
    assert asked[title] == ["Wrong number on models/one"]
    assert asked["body"][0].startswith("Page: models/one\nEdition: ")
    assert "+" not in address or repository


def test_the_executed_notebooks_are_those_of_the_sweep(site, tmp_path):
    for name in ("one/h100--bf16", "one/h100--fp8"):
        path = tmp_path / "sweep" / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    assert (site() / "sweep" / "one" / "h100--fp8.ipynb").read_text() == "one/h100--fp8"
    path.unlink()
    (tmp_path / "sweep" / "one" / "h100--bf16.ipynb").write_text("run again")
    there = [*(site() / "sweep").glob("*/*")]
    assert [(path.name, path.read_text()) for path in there] == [("h100--bf16.ipynb", "run again")]


def document(*paragraphs):
    """A page of one section, as docutils reads it."""
    tree = publish_doctree("Llama-3.1\n=========\n\n" + "\n\n".join(paragraphs))
    section = nodes.section("", *tree.children[:], ids=["llama-3-1"])
    section.insert(0, nodes.title("", "Llama-3.1"))
    tree.children = []
    tree += section
    return tree


def test_a_page_is_described_by_its_first_paragraph_without_a_formula():
    tree = document("Let :math:`x` be. Then", "What is it? " + "It is long. " * 30)
    says = head.describe(tree)
    assert says.startswith("What is it? It is long.") and says.endswith("It is long.")
    assert 100 < len(says) <= head.LONGEST


def test_the_words_of_a_page_have_headings_but_no_formulas_and_no_results():
    tree = document("One :math:`y` two.")
    tree += nodes.raw("", '<a class="num">12 ms</a>', format="html")
    tree += nodes.raw("", "<table><tr><td>77.7</td></tr></table>", format="html")
    text = "".join(search.words(tree, search.SKIPPED))
    assert '<h1 id="llama-3-1" data-pagefind-meta="title:Llama-3.1">Llama 3.1</h1>' in text
    assert re.search(r"<p>One\s+two\.</p>", text) and "12 ms" in text and "77.7" not in text
