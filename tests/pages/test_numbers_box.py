"""A published number opens a box that says what the ledger says."""

import re

import pytest

from inferecon.files import NUMBERS
from inferecon.results import read_numbers

PAGES = ["index.html", "latency.html", "models/llama-3.1-8b.html", "hardware/h200-sxm.html"]
PAGES += ["chapters/scenario.html", "chapters/counts.html"]
# Each number of a page once, in its order, unless it is folded away.
SHOWN = """() => [...new Set([...document.querySelectorAll('a.num')]
    .filter(number => number.checkVisibility()).map(number => number.dataset.number))]"""


@pytest.mark.parametrize("quoting", PAGES)
def test_the_box_of_a_number_says_what_the_ledger_says(quoting, tab, site):
    numbers, here = read_numbers(NUMBERS), tab()
    opened = here.open(f"{site}/{quoting}")
    ids = opened.evaluate(SHOWN)
    for id in {ids[0], ids[len(ids) // 2], ids[-1]}:
        opened.locator(f'.num[data-number="{id}"]:visible').first.click()
        box = opened.locator("#number-box")
        box.wait_for(state="visible")
        said, number = box.text_content(), numbers[id]
        assert id in said
        if number.value is not None:
            assert any(x == pytest.approx(number.value, rel=1e-9) for x in figures(said)), said
        opened.keyboard.press("Escape")
        box.wait_for(state="hidden")
    assert here.wrong == []


def figures(text):
    """All numbers in a text that is written with commas between thousands."""
    return [float(x.replace(",", "")) for x in re.findall(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", text)]
