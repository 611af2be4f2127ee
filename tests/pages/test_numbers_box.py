"""A published number opens a box that says what the ledger says."""

import re
from functools import cache
from urllib.parse import parse_qs, urlsplit

import pytest

from inferecon import naming
from inferecon.files import NUMBERS
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


REPORT = """document.body.insertAdjacentHTML('beforeend', '<a class="report-number"'
    + ' href="https://example.org/issues/new?title=Wrong&body=Page%3A+index%0A">x</a>')"""


def test_the_box_reports_its_number_where_the_report_has_an_address(tab, site):
    opened = tab().open(f"{site}/index.html")
    opened.evaluate(REPORT)
    number = opened.locator("a.num:visible").first
    number.click()
    link = opened.get_by_role("link", name="Report it").get_attribute("href")
    asked, id = parse_qs(urlsplit(link).query), number.get_attribute("data-number")
    assert asked["title"] == [f"Wrong number {id}"]
    assert asked["body"] == [f"Page: index\nNumber: {id}\n"]


def figures(text):
    """All numbers in a text that is written with commas between thousands."""
    return [float(x.replace(",", "")) for x in re.findall(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", text)]
