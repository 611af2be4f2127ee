"""A published number opens a box that says what the ledger says."""

import json
import re
from functools import cache
from urllib.parse import parse_qs, urlsplit

import pytest

from inferecon import facts, naming
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
    ids = [id for id in opened.locator("a.num:visible").evaluate_all(SHOWN) if id in published()]
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
    """12.2 ms of traffic hide 0.283 ms of arithmetic; 2.0965 + 12.246 are 14.3 ms."""
    id = "deepseek-v3/h200-sxm/fp8:itl"
    opened = tab().open(f"{site}/{naming.page(id)}.html#{naming.anchor(id)}")
    box = opened.locator("#number-box")
    box.locator("summary", has_text="records, each with its source").click()
    said = " ".join(box.inner_text().split())
    assert "2.0965 ms + Max(0.28348 ms, 12.246 ms) = 14.3 ms" in said
    assert "traffic of a decode step at peak 12.2 ms, above arithmetic" in said
    assert "hbm_bandwidth = 4800 GB/s" in said and "Source: " in said
    assert box.locator(".katex-html:visible").count() == 1


def test_a_number_leads_to_the_notebook_that_published_it(tab, site):
    id = "llama-3.1-8b/h200-sxm/bf16:itl"
    opened = tab().open(f"{site}/{naming.page(id)}.html#{naming.anchor(id)}")
    link = opened.get_by_role("link", name="as it was executed").get_attribute("href")
    cells = json.loads((HTML / "models" / link).read_text(encoding="utf-8"))["cells"]
    assert "llama-3.1-8b" in "".join(cells[2]["source"])


def by_turns(cases):
    """Each case on a desk or on a phone, by turns."""
    return [((1280, 390)[i % 2], *case) for i, case in enumerate(cases)]


# Recorded values --------------------------------------------------------------------------------

RECORDED = [
    ("hardware/h200-sxm.html", "data/hardware/h200-sxm:hbm_bandwidth"),
    ("data/hardware.html", "data/hardware/h200-sxm:hbm_bandwidth"),
    ("hardware/index.html", "data/hardware/h200-sxm:board_power"),
    ("hardware/h200-sxm.html", "data/prices/h200-sxm:offer@verda"),
    ("models/deepseek-v3.html", "data/models/deepseek-v3:hidden_size"),
    ("data/models.html", "data/models/llama-3.1-8b:vocab_size"),
    ("data/models/phi-2.html", "data/models/phi-2:qk_norm_full"),
    ("data/hardware/a40.html", "data/hardware/a40:link_bandwidth"),
    ("data/formats.html", "data/formats/nvfp4:block_size"),
    ("data/assumptions.html", "data/assumptions/pue:pue"),
    ("data/assumptions.html", "data/grids/usa:grid_intensity"),
]


@pytest.mark.parametrize(("width", "quoting", "id"), by_turns(RECORDED))
def test_the_box_of_a_recorded_value_says_what_the_command_prints(width, quoting, id, tab, site):
    here = tab(width)
    opened = here.open(f"{site}/{quoting}")
    number = opened.locator(f'a.num[data-number="{id}"]').first
    number.scroll_into_view_if_needed()
    number.focus()
    opened.keyboard.press("Enter" if width == 390 else " ")
    box, (row,) = opened.locator("#number-box"), facts.shown(id)
    box.wait_for(state="visible")
    said = " ".join(box.text_content().split())
    for text in (row["value"], row["says"], row["known"], row["of"], f"inferecon show {id}"):
        assert " ".join(text.split()) in said
    for source in facts.recorded(id).sources:
        assert " ".join(" ".join(facts.source(source)[:1]).split()) in said
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box.locator("summary", has_text="Cite").click()
    assert f"**{id}** (fact)" in box.locator(".cite .form").first.text_content()
    opened.keyboard.press("Escape")
    box.wait_for(state="hidden")
    assert opened.evaluate("document.activeElement.dataset.number") == id
    assert here.wrong == []


def test_the_address_of_a_recorded_value_opens_its_box(tab, site):
    id = "data/assumptions/pue:pue"
    opened = tab(width=390).open(f"{site}/{facts.page(id)}.html#{facts.anchor(id)}")
    box = opened.locator("#number-box")
    box.wait_for(state="visible")
    assert "1.04 to 1.63" in box.text_content() and id in box.text_content()


def test_every_recorded_value_of_a_page_has_its_place_and_data(tab, site):
    """Each on a page, and none twice: the script knows them all."""
    for page in ("hardware/h200-sxm", "data/assumptions", "data/formats", "data/models/phi-2"):
        opened = tab().open(f"{site}/{page}.html")
        own = {facts.anchor(id) for id in facts.all_ids() if facts.page(id) == page}
        there = opened.locator("[id^=fact-]").evaluate_all("all => all.map(one => one.id)")
        assert own <= set(there) and len(there) == len(set(there))
        assert opened.locator("a.num[id^=fact-]:not([data-number])").count() == 0


def test_a_source_is_followed_only_to_an_address_of_the_web(tab, site):
    here, address = tab(), f"{site}/data/assumptions.html"
    path = HTML / "data" / "assumptions.html"
    hostile = path.read_text(encoding="utf-8").replace('"https://arxiv', '"javascript:alert(1)//')
    here.page.route(address, lambda route: route.fulfill(body=hostile, content_type="text/html"))
    opened = here.open(address)
    opened.locator('[data-number="data/assumptions/host-h200-sxm:host_power"]').click()
    box = opened.locator("#number-box")
    assert "Latif et al. 2025" in box.text_content()
    assert box.locator(".sources li").count() == 2 and box.locator(".sources a").count() == 0


def test_a_box_marks_how_a_number_and_its_inputs_are_known(tab, site):
    opened = tab().open(f"{site}/models/llama-3.1-8b.html#num-llama-3-1-8b-h200-sxm-bf16-itl")
    box = opened.locator("#number-box")
    box.wait_for(state="visible")
    assert box.locator("dd:has(.known-mark)").inner_text().startswith("≈ derived from records")
    assert "hbm_bandwidth = 4800 GB/s † vendor's figure" in box.text_content()


# Rows ------------------------------------------------------------------------------------------

ROWS = [  # page, section or chart, first cell, what its box says
    ("reference/validation", "#misses-first", "lt-aic-02354", "licence: Apache-2.0"),
    ("reference/validation", "#time-of-a-token-or-a-step", "lt-aic-00767", "show lt-aic-00767"),
    ("reference/validation", "#by-card", "h200-sxm", "≈ computed from predictions of rows held"),
    ("reference/validation", "#the-constants", "eff_experts", "inferecon calibrate"),
    ("reference/validation", "#whole-services", "DeepSeek-V3 on H800", "✓ measured by its oper"),
    ("reference/serving", "#against-services-that-were-measured", "", "≈ simulated event by event"),
    ("reference/speed", "#the-notebooks", "", "make bench"),
    ("chapters/serving", "#goodput-over-load", "", "notebooks/serving.ipynb"),
    ("chapters/costs", "#the-bill", "", "notebooks/costs.ipynb"),
    ("load", ".vl-numbers", "", "≈ computed, as the chart"),
]


@pytest.mark.parametrize(("width", "quoting", "within", "name", "says"), by_turns(ROWS))
def test_a_row_opens_a_box_that_repeats_its_cells(width, quoting, within, name, says, tab, site):
    here = tab(width)
    opened = here.open(f"{site}/{quoting}.html")
    opened.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    rows = opened.locator(f"{within} tbody tr", has=opened.locator("a.num:not([data-number])"))
    row = rows.filter(has_text=name).first
    button = row.locator("a.num")
    assert button.count() == 1 and name in button.text_content()
    button.focus()
    opened.keyboard.press("Enter")
    box = opened.locator("#number-box")
    box.wait_for(state="visible")
    said = " ".join(box.inner_text().split())
    assert says in said and f"{quoting}#row-" in said
    for cell in row.locator("td, th").all():
        if not cell.locator(".katex").count():
            assert " ".join(cell.text_content().split()) in said
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    opened.keyboard.press("Escape")
    box.wait_for(state="hidden")
    assert opened.evaluate("document.activeElement.closest('tr') !== null")
    assert here.wrong == []


LINKED = [  # page, its button, what its box says
    ("reference/validation", "#misses-first tr:has-text('lt-aic-02354') a.num", "Apache-2.0"),
    ("claims/document-3", "#claim-s3-dram-row td a.num", "1.555e+12 * 8 * 3.92e-12 = 48.7648"),
    ("claims/document-3", "#claim-s3-dram-row .figures a.num", "Holds"),
    ("claims/index", "#farthest-from-what-is-computed td a.num", "inferecon table claims/index"),
    ("hardware/l4", "li .figures a.num", "bf16 memory_needed"),
    ("hardware/l4", "#what-is-on-record .figures a.num", "inferecon show hardware/l4"),
    ("chapters/counts", "td:has-text('aquila-7b') a.num", "7,000,000,000"),
    ("chapters/plan", ".cell_output .figures a.num", "inferecon run out.ipynb"),
    (
        "data/assumptions",
        "tr:has([data-number='data/assumptions/pue:pue']) a.num:not([data-number])",
        "1.63",
    ),
    ("load", ".vl-numbers a.num", "inferecon table load"),
]


@pytest.mark.parametrize(("width", "quoting", "button", "says"), by_turns(LINKED))
def test_a_row_and_a_sentence_are_cited_and_their_address_opens_the_box_again(
    width, quoting, button, says, tab, site
):
    here = tab(width)
    opened = here.open(f"{site}/{quoting}.html")
    opened.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = opened.locator(button).first
    id, box = f"{quoting}#{found.get_attribute('id')}", opened.locator("#number-box")
    found.click()
    box.wait_for(state="visible")
    said = " ".join(box.inner_text().split())
    assert says in said and id in said and "inferecon build" not in said
    box.locator("summary", has_text="Cite").click()
    forms = box.locator(".cite .form").all_text_contents()
    assert forms[0].startswith(f"**{id}** (row): ") and "Value: " in forms[0]
    assert json.loads(forms[3])["url"] == id.replace("#", ".html#")
    assert not any("\ue000" <= letter <= "\uf8ff" for form in forms for letter in form)
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    again = tab(width).open(f"{site}/{quoting}.html{id[id.index('#') :]}")
    again.locator("#number-box").wait_for(state="visible")
    assert " ".join(again.locator("#number-box dl").inner_text().split()) == " ".join(
        box.locator("dl").inner_text().split()
    )
    assert here.wrong == []


@pytest.mark.parametrize(
    "quoting",
    ["reference/validation", "claims/document-2", "chapters/counts", "load", "hardware/l4"],
)
def test_every_row_and_sentence_has_an_address_of_its_own(quoting, tab, site):
    opened = tab().open(f"{site}/{quoting}.html")
    names = opened.locator("a.num:not([data-number])").evaluate_all("all => all.map(x => x.id)")
    assert names and len(set(names)) == len(names)
    assert all(re.fullmatch(r"row-[a-z0-9-]+", name) for name in names)
    every = opened.evaluate("[...document.querySelectorAll('[id]')].map(x => x.id)")
    assert len(every) == len(set(every))


def test_a_value_in_another_unit_than_its_record_s_is_in_its_box_as_it_stands(tab, site):
    """600 GB/s on record are 0.6 TB/s in the column."""
    opened = tab().open(f"{site}/data/hardware.html")
    number = opened.locator('[data-number="data/hardware/a10:hbm_bandwidth"]')
    assert number.text_content() == "0.6"
    number.click()
    said = opened.locator("#number-box").inner_text()
    assert said.startswith("600 GB/s") and re.search(r"Here as\s+0\.6 TB/s", said)


@pytest.mark.parametrize("quoting", ["data/hardware", "data/models", "hardware/index"])
def test_a_box_has_the_figure_of_its_cell(quoting, tab, site):
    """As the cell has it: the citation and the value beside it hold the same digits."""
    opened = tab().open(f"{site}/{quoting}.html")
    wrong = opened.evaluate("""() => {
        const data = JSON.parse(document.getElementById('numbers-data').textContent);
        const bare = text => text.replaceAll(',', '').match(/\\d+(\\.\\d+)?/)?.[0];
        return [...document.querySelectorAll('td a.num[data-number]')].filter(number => {
            const value = JSON.parse(citedNumber(data, number.dataset.number, 'json')).value;
            const said = number.dataset.here ?? value;
            return bare(number.textContent) !== bare(said);
        }).map(number => `${number.textContent}: ${number.dataset.number}`);
    }""")
    assert wrong == []


def test_a_table_of_figures_has_one_stop_a_row(tab, site):
    opened = tab().open(f"{site}/reference/validation.html")
    stops, rows, cells = opened.evaluate("""() => ['tbody a.num', 'tbody tr', 'tbody td']
        .map(all => document.querySelectorAll(`article table ${all}`).length)""")
    assert cells > 7000 and 0.9 * rows < stops <= rows


def figures(text):
    """All numbers in a text that is written with commas between thousands."""
    return [float(x.replace(",", "")) for x in re.findall(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", text)]
