"""The explorer as a reader uses it, in a real Chromium, from a file and without a network."""

import csv
import io
import json
import shlex
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from test_every_page import axe_reports_nothing

from inferecon.html import HTML
from inferecon.matrix import SCENARIO
from inferecon.numbers import digits
from inferecon.pages import explorer
from inferecon.parameters import parse, validated
from inferecon.query import answer

POINT = "deepseek-v3/h200-sxm/fp8/16/1024"


@pytest.fixture(scope="module")
def address(alone, dataset):
    """The explorer of some combinations, without the book around it."""
    return alone(
        "explorer",
        ("book", "calculator", "explorer"),
        explorer.html(),
        explorer.scripts(dataset).values(),
    )


@pytest.fixture
def here(offline, address):
    offline.goto(f"{address}?basis=bound&model=")
    return offline


def settle(here):
    """Wait for the frame in which the view is written."""
    here.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")


def table(here) -> list[list[str]]:
    """Return the bounds of each row of the table."""
    return here.evaluate(
        """() => [...document.querySelectorAll('.rows tbody tr:has(.point)')].map(row =>
            [row.querySelector('.point').textContent,
             ...[...row.querySelectorAll('.bound')].map(cell => cell.textContent)])"""
    )


def asked(here) -> dict:
    found = urlsplit(here.evaluate("location.href")).query  # which here.url learns a little later
    return {key: value[0] for key, value in parse_qs(found).items()}


def test_the_table_ranks_what_the_dataset_says(here, dataset):
    here.select_option("[name=batch]", "16")
    settle(here)
    rows = pd.read_parquet(dataset).query("batch == 16 and isl == 1024 and cost_per_token > 0")
    rows = rows.sort_values(["cost_per_token", "itl"])
    shown = table(here)
    assert [row[3] for row in shown] == [digits(x) for x in rows["cost_per_token"]][: len(shown)]
    by_price = {digits(row.cost_per_token): digits(row.itl) for row in rows.itertuples()}
    assert all(by_price[row[3]] == row[1] for row in shown) and len(shown) > 10


def test_an_axis_takes_what_the_other_had(here):
    """A price stands on the horizontal axis, too: what was there goes to the vertical one."""
    here.select_option("[name=x]", "cost_per_token")
    settle(here)
    assert (here.input_value("[name=x]"), here.input_value("[name=y]")) == ("cost_per_token", "itl")
    here.select_option("[name=y]", "cost_per_token")
    settle(here)
    assert (here.input_value("[name=x]"), here.input_value("[name=y]")) == ("itl", "cost_per_token")
    here.select_option("[name=x]", "batch")
    here.select_option("[name=x]", "cost_per_token")
    settle(here)
    assert here.input_value("[name=x]") == "cost_per_token" != here.input_value("[name=y]")


def test_a_goal_drops_and_ranks_again(here):
    first = table(here)[0]
    slider = here.locator("[name=itl]")
    slider.focus()
    for _ in range(11):
        slider.press("ArrowLeft")
    settle(here)
    goal = float(asked(here)["itl"])
    assert f"at most {goal:g} ms" in here.text_content("[data-at=itl-said]")
    rows = table(here)
    assert rows and all(float(row[1].replace(",", "")) <= goal for row in rows)
    assert rows[0] != first and f"ITL of at most {goal:g} ms" in here.text_content(".tally")


def test_an_address_opens_what_it_was_sent_for(here, address):
    query = "basis=predicted&x=ttft&batch=all&model=llama-3.1-8b&sort=itl&down=down"
    query += "&device=h200-sxm~mi300x"
    here.goto(f"{address}?{query}&at={POINT}&name={POINT}*our+%3Cb%3Enode%3C%2Fb%3E")
    assert here.is_checked("[name=basis][value=predicted]")
    assert here.locator("[name=device]:checked").count() == 2
    assert here.input_value("[data-at=name]") == "our <b>node</b>"
    assert here.locator(".explorer b").count() == 0
    assert "our <b>node</b>" in here.text_content("[data-at=chart]")
    assert here.locator("th[aria-sort=descending]").text_content().startswith("ITL")
    before = here.url
    here.reload()
    assert here.url == before and asked(here)["at"] == POINT
    here.goto(f"{address}")
    assert here.url == address, "no default stands in the address"
    assert here.is_checked("[name=basis][value=predicted]")
    here.goto(f"{address}?itl=50")
    assert here.is_checked("[name=basis][value=bound]"), "as when it was sent"
    settle(here)
    assert asked(here) == {"basis": "bound", "itl": "50"}


def test_a_hostile_address_is_text(here, address):
    here.goto(
        f"{address}?model=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&itl=1e99&name=__proto__*x&x=%00"
    )
    said = here.text_content(".notice")
    assert said.startswith("Ignored in the address of this page: ") and "<img src=x" in said
    assert here.locator(".explorer img").count() == 0 and len(table(here)) > 5


def test_a_point_brings_its_figures_laws_and_commands(here, dataset):
    here.goto(f"{here.url.partition('?')[0]}?at={POINT}")
    row = (
        pd.read_parquet(dataset)
        .set_index(["combination", "batch", "isl"])
        .loc["deepseek-v3/h200-sxm/fp8", 16, 1024]
    )
    facts = here.text_content("[data-at=facts]")
    assert f"{digits(row.itl)} ms" in facts
    interval = f"~ ({digits(row.itl_low)}–{digits(row.itl_high)})"
    assert f"{digits(row.itl_predicted)} ms {interval}" in facts
    batch, request = here.locator("[data-at=facts] tr:has-text('time to first token')").all()
    assert batch.locator("td").all_text_contents() == [f"{digits(row.ttft)} ms", "–"]
    assert request.locator("td").first.text_content() == "–"
    assert f"{digits(row.ttft_predicted)} ms ~" in request.text_content()
    assert "Predicted for vLLM" in here.text_content("[data-at=told]")
    lines = here.text_content(".commands").splitlines()
    run, query = shlex.split(lines[1]), shlex.split(lines[3])
    given = validated(SCENARIO, parse(run[4::2]))
    assert (given["model"], given["tp"], given["batch"], given["isl"]) == (
        "deepseek-v3",
        8,
        16,
        1024,
    )
    assert answer(query[2], dataset)["itl"].tolist() == [row.itl]
    here.fill("[data-at=name]", "ours")
    assert asked(here)["name"] == f"{POINT}*ours" and "“ours”" in here.text_content(".rows")
    here.get_by_role("button", name="Close").click()
    assert here.locator("[data-at=point]").is_hidden() and "at" not in asked(here)


def test_a_point_of_the_chart_is_selected_where_it_is(here):
    x, y = here.evaluate(
        """() => document.querySelector('[data-at=chart] svg > path[fill^="#"]')
            .getAttribute('d').match(/^M([\\d.]+) ([\\d.]+)/).slice(1).map(Number)"""
    )
    chart = here.locator("[data-at=chart]")
    chart.hover(position={"x": x, "y": y})
    assert "batch" in here.text_content("[data-at=tip]")
    chart.click(position={"x": x, "y": y})
    assert asked(here)["at"] and here.locator("[data-at=point]").is_visible()


def test_bounds_and_predictions_are_told_apart(here):
    assert "hollow" not in here.text_content("[data-at=chart]")
    here.check("[name=basis][value=predicted]")
    settle(here)
    assert "hollow: predicted" in here.text_content("[data-at=chart]")
    label = here.get_attribute("[data-at=chart] svg", "aria-label")
    assert "predicted for vLLM" in label and "The table below has every point." in label
    offered = here.locator("[name=y] option").evaluate_all("all => all.map(one => one.value)")
    assert "energy_at_limit" not in offered
    first, second = here.locator(".rows td").first.locator("span").all()
    assert "~" in first.text_content() and first.get_attribute("class") == "foretold"
    assert second.get_attribute("class") == "bound"


def test_the_first_view_ranks_predictions_and_says_what_has_none(here, address, dataset):
    here.goto(address)
    said = here.text_content(".tally")
    assert "is predicted to do. " in said and "ranked by what vLLM" in said
    rows = pd.read_parquet(dataset).query("model == 'deepseek-v3' and isl == 1024 and itl > 0")
    bare = rows.groupby("combination")["itl_predicted"].count().eq(0).sum()
    assert f"{bare} of {rows['combination'].nunique()} that run are not predicted and not" in said
    assert "no row with weights in int8-w8a8 was measured" in said
    apart = here.locator(".rows tbody:has(th:text('Not predicted, so not ranked'))")
    notes = apart.locator(".note").all_text_contents()
    assert 0 < len(notes) <= bare
    reasons = {f"not predicted: {why}" for why in rows["unpredicted"].dropna()}
    assert set(notes) == reasons
    assert here.locator(".rows .foretold").evaluate_all("all => all.every(one => one.textContent)")
    here.check("[name=basis][value=bound]")
    settle(here)
    assert "ranked by derived bounds: the ideal" in here.text_content(".tally")
    assert asked(here) == {"basis": "bound"}


def test_an_empty_view_says_why_and_what_would_leave_some(here, address):
    here.goto(f"{address}?basis=predicted&model=llama-3.1-70b&itl=2&device=h200-sxm")
    assert here.text_content(".tally").startswith("No point is left: none of ")
    ways = here.locator("[data-at=instead] button")
    assert ways.count() >= 1
    ways.first.click()
    settle(here)
    assert here.locator(".rows .point").count() >= 1
    assert here.locator("[data-at=instead]").is_hidden()
    assert here.evaluate("document.activeElement.dataset.at") == "verdict"


def test_a_model_that_is_not_there_brings_the_nearest(here, address):
    here.goto(f"{address}?model=llama70b")
    said = here.text_content(".notice")
    assert "model cannot be “llama70b”, the nearest is Llama-3.1-70B" in said
    here.get_by_role("button", name="model: Llama-3.1-70B").click()
    settle(here)
    assert asked(here)["model"] == "llama-3.1-70b" and here.text_content(".notice") == ""


def test_the_presets_show_something(here):
    for n in range(len(explorer.PRESETS)):
        here.select_option("[name=preset]", str(n))
        settle(here)
        assert here.locator(".rows tbody tr").count() >= 1, n
    assert asked(here)["x"] == "batch" and "falls by a factor" in here.text_content(
        "[data-at=chart]"
    )


def test_combinations_that_cannot_run_say_why(here):
    here.select_option("[name=runs]", "no")
    settle(here)
    assert "states no fp8 rate" in here.text_content(".rows") or "are needed" in here.text_content(
        ".rows"
    )
    assert here.locator("[data-at=chart]").is_hidden()


def test_what_is_taken_away_says_the_same(here):
    shown = table(here)
    here.get_by_role("button", name="JSON", exact=True).click()
    taken = json.loads(here.evaluate("navigator.clipboard.readText()"))
    prices = [digits(one["results"]["cost_per_token"]["derived"]) for one in taken["points"]]
    assert [float(x) for x in prices[: len(shown)]] == [float(row[3]) for row in shown]
    here.get_by_role("button", name="BibTeX").click()
    cited = here.evaluate("navigator.clipboard.readText()")
    assert cited.startswith("@misc{inferecon-page-explorer") and "explorer.html" in cited
    files = {}
    for name in ("Download CSV", "Chart as SVG", "Chart as PNG"):
        with here.expect_download() as download:
            here.get_by_role("button", name=name).click()
        files[download.value.suggested_filename] = download.value.path().read_bytes()
    rows = list(csv.DictReader(io.StringIO(files["inferecon-explorer.csv"].decode())))
    assert len(rows) == len(taken["points"]) + 3 and rows[0]["batch"] == str(
        taken["points"][0]["batch"]
    )
    assert b"front, derived bound" in files["inferecon-explorer.svg"]
    assert (
        files["inferecon-explorer.png"].startswith(b"\x89PNG")
        and len(files["inferecon-explorer.png"]) > 9000
    )


def test_every_field_has_a_label_and_all_is_reached_by_keyboard(here):
    for field in here.locator(".explorer :is(select, input:not([type=checkbox]))").all():
        assert here.locator(f"label[for='{field.get_attribute('id') or 'none'}']").count() == 1
    seen = set()
    for _ in range(60):
        here.keyboard.press("Tab")
        seen.add(here.evaluate("document.activeElement.name || document.activeElement.className"))
    assert {"preset", "x", "y", "basis", "itl", "ttft", "front", "point"} <= seen
    here.locator(".rows .point").first.press("Enter")
    assert here.evaluate("document.activeElement.dataset.at") == "called"


def test_a_phone_scrolls_one_way_only(browser, address):
    tab = browser.new_page(viewport={"width": 390, "height": 800})
    for query in ("", f"?basis=predicted&at={POINT}", "?x=batch&y=energy_per_token", "?runs=no"):
        tab.goto(address + query)
        tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390, query
    tab.close()


def test_the_links_of_a_point_lead_to_what_was_built(tab, site, axe):
    here = tab()
    opened = here.open(f"{site}/explorer.html?at={POINT}")
    links = opened.locator("[data-at=point] a").evaluate_all(
        "all => all.map(a => a.getAttribute('href'))"
    )
    assert len(links) >= 10 and here.wrong == []
    for link in links:
        page, _, anchor = link.partition("#")
        text = (HTML / page.partition("?")[0]).read_text(encoding="utf-8")
        assert not anchor or f'id="{anchor}"' in text, link
    itl = opened.locator("[data-at=facts] tr:has(a:text-is('ITL')) td").first.text_content()
    axe_reports_nothing(opened, axe, "html", again=None)
    opened.locator("[data-at=links] a").first.click()
    opened.wait_for_selector(".calculator[data-ready]")
    found = opened.locator(".rows tr:has(a:text-is('ITL')) td").first.text_content()
    assert found == itl, "the calculator computes what the dataset has"
