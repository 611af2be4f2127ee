"""The calculator as a reader uses it, in a real Chromium, from a file and without a network."""

import json
import shlex
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import yaml

from inferecon import records as records_module
from inferecon import symbols as s
from inferecon.calculator import records
from inferecon.files import LEDGER
from inferecon.matrix import CHOICES, SCENARIO, activations_for
from inferecon.numbers import KNOWN, SHOWN, UNIT_NAMES, digits, number
from inferecon.pace import by_operator
from inferecon.pages import calculator
from inferecon.parameters import parse, validated
from inferecon.records import ids, load
from inferecon.results import read_numbers
from inferecon.scenario import choose_devices, opened

HERE = Path(__file__).parents[1] / "calculator"


@pytest.fixture(scope="module")
def address(alone):
    """The calculator, without the book around it."""
    return alone(
        "calculator", ("book", "calculator"), calculator.html(), calculator.scripts().values()
    )


@pytest.fixture
def here(offline, address):
    offline.goto(address)
    return offline


def shown(here) -> dict[str, str]:
    """Return value and unit of each row of the first column, by the law behind it."""
    rows = here.evaluate(
        """() => [...document.querySelectorAll('.rows tbody tr:has(.law-of)')].map(row => {
            const cell = row.querySelector('td'), unit = cell.querySelector('.unit');
            const value = cell.firstChild.textContent + (unit ? unit.textContent : '');
            return [row.querySelector('.law-of').textContent, value];
        })"""
    )
    return dict(reversed(rows))  # of two rows of one law the first


def said(here, where):
    """Return what stands in a place, its pieces apart."""
    pieces = """place => {
        const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT), found = [];
        while (texts.nextNode()) found.push(texts.currentNode.data);
        return found.join(' ');
    }"""
    return " ".join(here.locator(where).evaluate(pieces).split())


def settle(here):
    """Wait for the frame in which the answer is written."""
    here.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")


def test_the_first_view_is_the_published_case(here):
    numbers, found = read_numbers(LEDGER), shown(here)
    for symbol in (s.ttft, s.itl, s.device_time, s.energy_per_token, s.cost_per_token):
        law = records.data()["shown"][symbol.name]["law"]
        assert found[law] == numbers[f"deepseek-v3/h200-sxm/fp8:{symbol.name}"].text
    assert here.url.endswith("calculator.html"), "no default stands in the address"


def test_what_is_chosen_is_what_python_computes(here):
    """A sample through the form itself: each field set as a reader would."""
    draw = np.random.default_rng(11)
    models, hardware = [[*ids(kind)] for kind in ("models", "hardware")]
    models = [id for id in models if not load("models", id).lacks]
    compared = 0
    while compared < 12:
        model, device = draw.choice(models), draw.choice(hardware)
        weights = draw.choice(["bf16", "fp8", "int4-awq"])
        workload = {"batch": int(draw.integers(1, 64)), "isl": int(draw.integers(1, 900))}
        case = choose_devices(
            model,
            device,
            weights=weights,
            activations=activations_for(weights),
            osl=100,
            **workload,
        )
        if case.obstacles:
            continue
        for name, value in (("model", model), ("hardware", device), ("weights", weights)):
            here.select_option(f"[name={name}]", value)
        for name, value in {**workload, "osl": 100}.items():
            here.fill(f"[name={name}]", str(value))
        settle(here)
        found, compared = shown(here), compared + 1
        for symbol in [x for x in records.RESULTS if x in SHOWN]:
            law = records.data()["shown"][symbol.name]["law"]
            assert found[law] == number(symbol, case.values[symbol]).text, (case, law)


def test_the_first_view_has_bound_and_prediction_side_by_side(here):
    numbers = read_numbers(LEDGER)
    for symbol in (s.ttft, s.itl, s.throughput, s.energy_per_token, s.cost_per_token):
        one = numbers[f"deepseek-v3/h200-sxm/fp8@vllm:{symbol.name}"]
        interval = f"{KNOWN[one.known].mark} ({digits(one.low)}–{digits(one.high)})"
        unit = UNIT_NAMES.get(one.unit, one.unit)
        assert f"predicted {digits(one.value)} {unit} {interval}" in said(here, ".headline")
        if (bound := numbers.get(f"deepseek-v3/h200-sxm/fp8:{symbol.name}")) is None:
            continue  # no page publishes it
        kind = "derived" if symbol == s.energy_per_token else "bound"
        assert f"{kind} {bound.text}" in said(here, ".headline")
    assert "Predicted for vLLM 0.12" in said(here, "[data-at=known]")
    here.select_option("[name=weights]", "nf4")
    settle(here)
    assert "no row with weights in nf4 was measured" in said(here, "[data-at=known]")
    assert "predicted" not in said(here, ".headline")


def test_bounds_alone_can_be_asked_for(here, address):
    here.goto(f"{address}?engine=")
    assert "predicted" not in said(here, ".answer") + said(here, ".rows")
    assert here.url.endswith("?engine=")


def test_the_bound_that_wins_is_said_of_each_operator(here, address):
    case = choose_devices("deepseek-v3", "h200-sxm", weights="fp8", activations="fp8", batch=32)
    expected, found = by_operator(case.values), said(here, ".operators")
    read = expected["routed experts"][s.t_memory_decode]
    assert f"routed experts {digits(1e3 * expected['routed experts'][s.t_math_decode])}" in found
    winning = here.locator(".operators tr:has(th:text-is('routed experts')) [data-wins=true]")
    assert winning.all_text_contents()[1] == digits(1e3 * read)
    here.goto(f"{address}?model=llama-3.1-8b&weights=bf16")
    assert "routed experts" not in said(here, ".operators")


def test_offers_are_apart_from_modelled_prices(here):
    here.locator("[data-at=more] summary").click()
    first = here.locator("[name=provider] option").first.text_content()
    assert first == "lowest on-demand offer: 3.39 USD/h, Verda"
    groups = here.locator("[name=provider] optgroup")
    names = [group.get_attribute("label") for group in groups.all()]
    assert names == ["On-demand offers", "Modelled cost of ownership, no offer"]
    assert "1.41 USD/h" in groups.last.text_content()


def test_an_answer_comes_in_the_next_frame(here):
    here.fill("[name=batch]", "64")
    settle(here)
    expected = choose_devices("deepseek-v3", "h200-sxm", weights="fp8", activations="fp8", batch=64)
    assert shown(here)["ITL"] == number(s.itl, expected.values[s.itl]).text
    assert parse_qs(urlsplit(here.url).query) == {"batch": ["64"]}


def test_an_address_opens_what_it_was_sent_for(here, address):
    here.goto(f"{address}?model=llama-3.1-8b&hardware=l40s&weights=bf16&batch=4&pue=1.5&vs=batch-8")
    assert here.input_value("[name=model]") == "llama-3.1-8b"
    assert here.input_value("[name=pue]") == "1.5"
    assert here.locator("[data-at=more]").get_attribute("open") is not None
    assert here.locator(".rows thead th").count() == 2
    assert here.locator(".rows .apart").count() > 5
    before = here.url
    here.reload()
    assert here.url == before


def test_a_hostile_address_is_text(here, address):
    here.goto(f"{address}?model=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&batch=1e99&grid=%00")
    said = here.text_content(".notice")
    assert said.startswith("Ignored in the address of this page: ") and "<img src=x" in said
    assert here.locator(".notice *").count() == 0
    assert here.input_value("[name=model]") == "deepseek-v3"


def test_a_mistake_in_a_field_is_said_and_not_taken(here):
    here.fill("[name=isl]", "many")
    settle(here)
    assert here.text_content(".notice") == (
        "Not taken: isl must be a whole number of at least 1, not many."
    )
    assert here.get_attribute("[name=isl]", "aria-invalid") == "true"
    here.fill("[name=isl]", "1024")
    settle(here)
    assert here.text_content(".notice") == ""


def test_what_does_not_fit_says_by_how_much_and_what_would(here, address):
    here.goto(f"{address}?model=llama-3.1-8b&hardware=l40s&weights=bf16&batch=600&tp=1")
    case = opened(model="llama-3.1-8b", hardware="l40s", weights="bf16", tp=1, ep=1, batch=600)
    over = case.values[s.memory_needed] - case.values[s.memory_available]
    assert f"{digits(over / 1e9)} GB too much on each device" in here.text_content(".why")
    most = f"batch {case.values[s.largest_batch]:,.0f}, the largest that fits"
    here.get_by_role("button", name=most).click()
    settle(here)
    assert here.text_content(".says").startswith("It fits")
    assert here.input_value("[name=batch]") == f"{case.values[s.largest_batch]:.0f}"


def test_gib_is_a_unit_of_its_own(here):
    here.locator("[data-at=more] summary").click()
    here.select_option("[name=unit]", "GiB")
    settle(here)
    assert "GiB" in here.text_content(".memory") and "GB" not in here.text_content(".memory")


def test_columns_are_compared(here):
    here.get_by_role("button", name="Keep beside another").click()
    here.select_option("[name=hardware]", "b200-sxm")
    settle(here)
    assert here.locator(".rows thead th").count() == 2
    assert "vs=hardware-h200-sxm" in here.url
    now, kept = here.locator(".rows tr:has(a:text-is('ITL')) td").all()
    assert "%" in kept.text_content() and "%" not in now.text_content()
    assert said(here, ".rows thead th:nth-of-type(1)").startswith("B200 SXM")
    assert said(here, ".rows thead th:nth-of-type(2)").startswith("H200 SXM 141 GB")
    here.wait_for_selector(".rows .reason")
    assert "bound: " in kept.text_content(), "the reason comes after the number"
    assert "2 columns" in here.text_content("[data-at=wide]")
    here.get_by_role("button", name="Drop H200 SXM 141 GB").click()
    settle(here)
    assert here.locator(".rows thead th").count() == 1


def test_columns_that_find_no_place_are_said(here, address):
    here.goto(f"{address}?" + "&".join(f"vs=batch-{n}" for n in range(1, 8)))
    assert here.locator(".rows thead th").count() == 6
    assert here.text_content("[data-at=notice]").endswith("so the last 2 are left out.")


def test_what_is_taken_away_says_the_same(here):
    found = shown(here)
    here.get_by_role("button", name="JSON", exact=True).click()
    taken = json.loads(here.evaluate("navigator.clipboard.readText()"))
    (only,) = taken["configurations"]
    assert found["ITL"] == f"{digits(only['results']['itl']['value'])} ms"
    here.get_by_role("button", name="Markdown").click()
    assert found["ITL"].split()[0] in here.evaluate("navigator.clipboard.readText()")
    with here.expect_download() as download:
        here.get_by_role("button", name="Download CSV").click()
    assert download.value.suggested_filename == "inferecon.csv"
    assert "ITL" in download.value.path().read_text(encoding="utf-8")


def test_the_commands_ask_for_the_same_case(here, address):
    here.goto(f"{address}?model=qwen3-30b-a3b&weights=fp8&kv=kv-fp8&provider=Nebius&grid=fra&tp=2")
    shown(here)
    _, line = here.text_content(".commands").splitlines()
    first, second, out, *words = shlex.split(line)
    assert (first, second, out) == ("inferecon", "run", "out.ipynb")
    given = validated(SCENARIO, parse(words[1::2]))
    keep = {name: value for name, value in given.items() if name in CHOICES}
    case = opened(**keep)
    assert shown(here)["COST-TOKEN"] == number(s.cost_per_token, case.values[s.cost_per_token]).text


def test_a_model_of_ones_own_is_taken_from_its_config(here, tmp_path):
    config = yaml.safe_load((HERE / "configs.yaml").read_text(encoding="utf-8"))["llama-3.1-8b"]
    assert here.input_value("[name=weights]") == "fp8"
    here.get_by_text("Your own model").click()
    here.fill("[data-at=text]", json.dumps({**config, "architectures": ["<i>Mine</i>"]}))
    here.get_by_role("button", name="Use this model").click()
    assert "no rule for the architecture <i>Mine</i>" in here.text_content("[data-at=config]")
    settle(here)
    assert here.text_content("[data-at=stale]").endswith("so all below is still of DeepSeek-V3.")
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    here.set_input_files("[data-at=file]", tmp_path / "config.json")
    here.wait_for_function("document.querySelector('[name=model]').value === 'own'")
    settle(here)
    assert "weights in bf16, as its config.json has them" in here.text_content("[data-at=config]")
    assert (
        here.input_value("[name=weights]") == "bf16" and here.text_content("[data-at=stale]") == ""
    )
    case = choose_devices("llama-3.1-8b", "h200-sxm", weights="bf16", batch=32)
    assert shown(here)["ITL"] == number(s.itl, case.values[s.itl]).text
    before = shown(here)
    here.reload()
    assert here.input_value("[name=model]") == "own" and shown(here) == before
    assert "inferecon model config.json own" in here.text_content(".commands")


def test_a_card_of_ones_own_is_said_to_have_no_source(here, tmp_path, monkeypatch):
    here.get_by_text("Your own card").click()
    here.fill("[name=card-memory]", "80")
    here.get_by_role("button", name="Use this card").click()
    assert here.text_content("[data-at=card]") == "Not taken: a card needs its memory bandwidth."
    for name, value in (("bandwidth", 2000), ("bf16", 400), ("power", 500), ("price", 2)):
        here.fill(f"[name=card-{name}]", str(value))
    here.select_option("[name=card-unit]", "GiB")
    here.get_by_role("button", name="Use this card").click()
    here.select_option("[name=model]", "llama-3.1-8b")
    here.select_option("[name=weights]", "bf16")
    settle(here)
    assert here.input_value("[name=hardware]") == "own"
    assert "without a source: memory 80 GiB" in here.text_content("[data-at=own-card]")
    before = shown(here)
    here.reload()
    assert shown(here) == before and here.input_value("[name=card-memory]") == "80"
    *records_of_it, _, run = here.text_content(".commands").split("\n")
    subprocess.run(
        ["sh", "-e"], input="\n".join(records_of_it), cwd=tmp_path, text=True, check=True
    )
    monkeypatch.setenv("INFERECON_DATA", str(tmp_path / "my-data"))
    records_module.ids.cache_clear()
    try:
        case = choose_devices("llama-3.1-8b", "own", weights="bf16", batch=32)
        assert shown(here)["ITL"] == number(s.itl, case.values[s.itl]).text
        cost = number(s.cost_per_token, case.values[s.cost_per_token])
        assert shown(here)["COST-TOKEN"] == cost.text
    finally:
        records_module.ids.cache_clear()
    assert "-p hardware=own" in run and run.startswith("INFERECON_DATA=my-data ")


def test_the_memory_and_a_citation_are_taken_away(here):
    files = {}
    for name in ("Memory as SVG", "Memory as PNG"):
        with here.expect_download() as download:
            here.get_by_role("button", name=name).click()
        files[download.value.suggested_filename] = download.value.path().read_bytes()
    assert b"weights: " in files["inferecon-memory.svg"]
    assert files["inferecon-memory.png"].startswith(b"\x89PNG")
    here.fill("[name=batch]", "64")
    here.get_by_role("button", name="BibTeX").click()
    cited = here.evaluate("navigator.clipboard.readText()")
    assert cited.startswith("@misc{inferecon-page-calculator,") and "batch=64" in cited


def test_every_field_has_a_label_and_all_is_reached_by_keyboard(here):
    for field in here.locator(".calculator :is(select, input, textarea)").all():
        assert here.locator(f"label[for='{field.get_attribute('id')}']").count() == 1
    seen = set()
    for _ in range(60):
        here.keyboard.press("Tab")
        seen.add(here.evaluate("document.activeElement.name || document.activeElement.textContent"))
    assert {"preset", "model", "hardware", "weights", "batch", "isl", "osl"} <= seen
    assert {"Link", "Markdown", "CSV", "JSON", "Commands", "Keep beside another"} <= seen


def test_data_in_the_page_ends_no_script():
    text = calculator.html()
    assert text.count("</script>") == 1
    assert "</" not in records.written({"name": "</script><script>alert(1)</script>"})


def test_a_phone_scrolls_one_way_only(browser, address):
    tab = browser.new_page(viewport={"width": 390, "height": 800})
    for query in ("", "?hardware=a100-80gb-sxm&weights=bf16", "?vs=batch-1&vs=batch-2"):
        tab.goto(address + query)
        tab.locator("[data-at=more] summary").click()
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.close()
