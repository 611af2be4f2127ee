"""A published number opens a box that says what the ledger says."""

import json
import re
from functools import cache
from urllib.parse import parse_qs, urlsplit

import pytest

from inferecon import naming
from inferecon.files import NUMBERS
from inferecon.html import HTML
from inferecon.results import read_numbers

PAGES = ["index.html", "latency.html", "models/llama-3.1-8b.html", "hardware/h200-sxm.html"]
FOLDED = ["scenario:itl", "counts/llama-3.1-8b:params_total"]
# Each number of a page once, in its order; `:visible` leaves out what is folded away.
SHOWN = "numbers => [...new Set(numbers.map(number => number.dataset.number))]"


@cache
def published():
    return read_numbers(NUMBERS)


def check(opened, id):
    """The open box names the number and has its value in full; Escape closes it."""
    box, number = opened.locator("#number-box"), published()[id]
    box.wait_for(state="visible")
    said = box.text_content()
    assert id in said
    if number.value is not None:
        assert any(x == pytest.approx(number.value, rel=1e-9) for x in figures(said)), said
    opened.keyboard.press("Escape")
    box.wait_for(state="hidden")


@pytest.mark.parametrize("quoting", PAGES)
def test_the_box_of_a_number_says_what_the_ledger_says(quoting, tab, site):
    here = tab()
    opened = here.open(f"{site}/{quoting}")
    ids = opened.locator("a.num:visible").evaluate_all(SHOWN)
    for id in {ids[0], ids[len(ids) // 2], ids[-1]}:
        opened.locator(f'.num[data-number="{id}"]:visible').first.click()
        check(opened, id)
        assert opened.evaluate("document.activeElement.dataset.number") == id
    assert here.wrong == []


@pytest.mark.parametrize("id", FOLDED)
def test_the_address_of_a_number_opens_its_box(id, tab, site):
    here = tab(width=390)
    check(here.open(f"{site}/{naming.page(id)}.html#{naming.anchor(id)}"), id)
    assert here.wrong == []


FORM = """document.querySelector('.report-number').href =
    'https://example.org/issues/new?title=Wrong&body=Page%3A+index%0A'"""


@pytest.mark.parametrize(("prepare", "title"), [(FORM, "title"), ("0", "subject")])
def test_the_box_reports_its_number(prepare, title, tab, site):
    opened = tab().open(f"{site}/index.html")
    opened.evaluate(prepare)
    number = opened.locator("a.num:visible").first
    number.click()
    link = opened.get_by_role("link", name="Report it").get_attribute("href")
    asked, id = parse_qs(urlsplit(link).query), number.get_attribute("data-number")
    assert asked[title] == [f"Wrong number {id}"]
    assert asked["body"][0].startswith("Page: index\n")
    assert f"\nNumber: {id}\nValue: " in asked["body"][0]
    assert "+" not in link
    opened.get_by_role("button", name="Copy the report").click()


def test_a_number_shows_its_equation_the_values_in_it_its_bound_and_its_sources(tab, site):
    """12.2 ms of traffic hide 0.283 ms of arithmetic; 2.10 + 12.2 are 14.3 ms."""
    id = "deepseek-v3/h200-sxm/fp8:itl"
    opened = tab().open(f"{site}/{naming.page(id)}.html#{naming.anchor(id)}")
    box = opened.locator("#number-box")
    box.locator("summary", has_text="records, each with its source").click()
    said = " ".join(box.inner_text().split())
    assert "2.10 ms + Max(0.283 ms, 12.2 ms) = 14.3 ms" in said
    assert "traffic of a decode step at peak 12.2 ms, above arithmetic" in said
    assert "hbm_bandwidth = 4800 GB/s" in said and "Source: " in said
    assert box.locator(".katex-html:visible").count() == 1


def test_a_number_leads_to_the_notebook_that_published_it(tab, site):
    id = "llama-3.1-8b/h200-sxm/bf16:itl"
    opened = tab().open(f"{site}/{naming.page(id)}.html#{naming.anchor(id)}")
    link = opened.get_by_role("link", name="as it was executed").get_attribute("href")
    cells = json.loads((HTML / "models" / link).read_text(encoding="utf-8"))["cells"]
    assert "llama-3.1-8b" in "".join(cells[2]["source"])


def figures(text):
    """All numbers in a text that is written with commas between thousands."""
    return [float(x.replace(",", "")) for x in re.findall(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", text)]
