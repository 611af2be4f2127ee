"""Published numbers: each has one place, a box that says what it is, and its citation."""

import gzip
import json
import re
from collections import defaultdict
from html import unescape

import pytest

from inferecon import cite, citing, naming, numberbox
from inferecon.edition import UNSTAMPED
from inferecon.errors import BuildFailed
from inferecon.files import BOOK, ROOT
from inferecon.matrix import WORKLOAD
from inferecon.numbers import SHOWN, Number, number
from inferecon.press import check_places
from inferecon.response import solution
from inferecon.scenario import choose_devices
from inferecon.symbols import SYMBOLS
from inferecon.trace import traced

NUMBERS = cite.ledger()
IDS = sorted(NUMBERS)
MISSING = [id for id in IDS if NUMBERS[id][0] is None]
FAMILIES = ("counts/", "formats/", "scenario:", "scenario@full:", "sensitivity/")
SAMPLE = [*IDS[::45], *MISSING[:5]]
SAMPLE += [id for id in IDS if "@vllm:" in id][::60]
SAMPLE += [id for start in FAMILIES for id in [i for i in IDS if i.startswith(start)][::12]]
SCRIPT = BOOK / "assets" / "js" / "numbers.js"
ITL = "deepseek-v3/h200-sxm/fp8:itl"
PREDICTED = "deepseek-v3/h200-sxm/fp8@vllm:itl"


@pytest.fixture(scope="module")
def pages():
    """HTML of every page on which numbers have their place, without its prose."""
    return {
        page: numberbox.explained("", page, NUMBERS) for page in sorted(set(map(naming.page, IDS)))
    }


def embedded(body):
    """Data that a page carries."""
    start = f'<script type="application/json" id="{numberbox.DATA}">'
    return json.loads(body.partition(start)[2].partition("</script>")[0])


# Places ----------------------------------------------------------------------------------------


def test_every_number_has_an_anchor_of_its_own_that_css_can_select():
    anchors = {naming.anchor(id) for id in IDS}
    assert len(anchors) == len(IDS)
    assert all(re.fullmatch(r"num-[A-Za-z0-9_-]+", anchor) for anchor in anchors)
    assert naming.anchor(ITL) == "num-deepseek-v3-h200-sxm-fp8-itl"


def test_the_address_of_every_number_is_there_exactly_once(pages):
    anchors = {page: re.findall(r' id="([^"]+)"', body) for page, body in pages.items()}
    there = {(page, name) for page, names in anchors.items() for name in names}
    assert all(len(names) == len(set(names)) for names in anchors.values())
    for id in IDS:
        assert (naming.page(id), naming.anchor(id)) in there, id
    for id in SAMPLE:
        assert cite.entry(id).url == f"{naming.page(id)}.html#{naming.anchor(id)}"


def test_no_page_becomes_too_heavy(pages):
    assert max(len(gzip.compress(body.encode())) for body in pages.values()) < 150_000


def test_no_two_numbers_share_a_cell():
    cells = defaultdict(list)
    for id in IDS:
        cells[naming.page(id), *naming.place(id)].append(id)
    assert [ids for ids in cells.values() if len(ids) > 1] == []


def test_the_first_mention_is_the_anchor_and_every_mention_leads_to_the_place():
    number = Number(14.3, "ms")
    prose = f"<p>{numberbox.quoted(ITL, number)} and {numberbox.quoted(ITL, number, False)}</p>"
    name = naming.anchor(ITL)
    index = numberbox.explained(prose, "index", NUMBERS)
    assert index.count(f'id="{name}"') == 1 and index.index(name) < index.index("14.3 ms")
    assert index.count(f'href="models/deepseek-v3.html#{name}"') == 2
    device = numberbox.explained(prose, "hardware/h200-sxm", NUMBERS)
    assert device.count(f'href="../models/deepseek-v3.html#{name}"') == 2
    own = numberbox.explained(prose, "models/deepseek-v3", NUMBERS)
    assert own.count(f'href="#{name}"') == 2 and own.count(f'id="{name}"') == 1
    assert numberbox.explained("<p>None.</p>", "index", NUMBERS) == "<p>None.</p>"


def test_a_missing_number_has_a_place_too(pages):
    id = MISSING[0]
    name, body = naming.anchor(id), pages[naming.page(id)]
    assert f'id="{name}">–</a>' in body
    assert embedded(body)["numbers"][naming.split(id)[0]][naming.split(id)[1]][1:] == [
        "missing",
        None,
    ]


def test_the_build_refuses_a_number_without_a_place(pages, tmp_path):
    for page, body in pages.items():
        path = tmp_path / f"{page}.html"
        path.parent.mkdir(exist_ok=True)
        path.write_text(body, encoding="utf-8")
    check_places(NUMBERS, tmp_path)
    with pytest.raises(BuildFailed, match="1 numbers have no place"):
        check_places({**NUMBERS, "deepseek-v3/h200-sxm/fp8:other": (1.0, "")}, tmp_path)
    with pytest.raises(BuildFailed, match="have no place of their own"):  # one mark apart
        check_places({**NUMBERS, "deepseek-v3/h200-sxm:fp8:itl": (1.0, "")}, tmp_path)


# What the box says -----------------------------------------------------------------------------


def test_a_number_says_what_it_is_whose_and_which_law_gives_it():
    found = numberbox.data([ITL], NUMBERS)
    (kind,), case = found["kinds"], found["cases"]["deepseek-v3/h200-sxm/fp8"]
    assert kind["says"].startswith("inter-token latency") and kind["unit"] == "ms"
    assert kind["mark"] == "≈" and kind["how"].startswith("derived")
    assert (kind["law"], kind["place"]) == ("ITL", cite.url("ITL"))
    assert case["of"].startswith("DeepSeek-V3 on 8 × H200") and "batch 32" in case["of"]
    assert [url for _, url in case["pages"]] == [
        "models/deepseek-v3.html",
        "hardware/h200-sxm.html",
    ]
    place, digits, value = found["numbers"]["deepseek-v3/h200-sxm/fp8"]["itl"]
    assert (place, value) == (0, NUMBERS[ITL][0]) and f"{digits} ms" == cite.entry(ITL).value


def test_a_prediction_says_its_interval_its_engine_and_how_it_is_known():
    number = Number(30.0, "ms", 20.0, 45.0, "extrapolated")
    found = numberbox.data([PREDICTED], NUMBERS | {PREDICTED: number})
    (kind,), case = found["kinds"], found["cases"]["deepseek-v3/h200-sxm/fp8@vllm"]
    assert kind["known"] == "extrapolated" and "not measured together" in kind["how"]
    assert kind["mark"] == "~"
    assert kind["law"] == "SERVED-STEP" and "predicted for vLLM" in kind["says"]
    assert "DeepSeek-V3 on 8 × H200" in case["of"] and "vLLM" in case["of"]
    assert case["command"] == "inferecon trace deepseek-v3 h200-sxm fp8 SYMBOL --engine vllm"
    assert found["numbers"]["deepseek-v3/h200-sxm/fp8@vllm"]["itl"] == [0, "30", 30.0, "20", "45"]
    said = "30 ms, 90 % interval 20 to 45 ms, extrapolated"
    assert cite.of_value(PREDICTED, number).value == said
    assert naming.place(PREDICTED) != naming.place(ITL)
    assert naming.page(PREDICTED) == naming.page(ITL)


@pytest.mark.parametrize("with_unit", [True, False])
def test_a_prediction_is_never_quoted_without_its_interval_and_mark(with_unit):
    number = Number(30.0, "ms", 20.0, 45.0, "calibrated")
    shown = numberbox.quoted(PREDICTED, number, with_unit)
    assert "(20–45)" in shown and '<abbr title="calibrated">≈</abbr>' in shown
    assert numberbox.QUOTED.search(shown)[1] == PREDICTED
    assert number.text == "30 ms ≈ (20–45)"
    placed = numberbox.explained(shown, "index", {PREDICTED: number})
    assert f'id="{naming.anchor(PREDICTED)}"' in placed and "(20–45)" in placed


def test_a_number_has_its_values_its_bound_and_the_records_behind_it():
    """3.39 USD/h x 3,682 s are 3.467 USD, prefill included; 12.2 ms hide 0.283 ms."""
    price = "deepseek-v3/h200-sxm/fp8:cost_per_token"
    found, case = numberbox.data([ITL, price], NUMBERS)["behind"], "deepseek-v3/h200-sxm/fp8"
    values = found["values"][case]
    assert (values["price"], values["device_time"]) == ("3.39 USD/h", "3,682.2 s/Mtok")
    assert values["t_memory_decode"] == "12.246 ms"
    assert values["t_math_decode"] == "0.28348 ms"
    assert found["won"][case]["itl"].startswith("traffic of a decode step at peak 12.2 ms, above")
    place, *times = found["of"][case]["cost_per_token"]
    records = {found["inputs"][n]["name"]: found["inputs"][n] for n in found["sets"][place]}
    offer = records["H200 SXM 141 GB, rental prices"]
    assert times == ["itl", "ttft"] and offer["says"][0].startswith(
        "3.39 USD/h, Verda, on-demand, date"
    )
    assert "skypilot-catalog" in found["sources"][offer["sources"][0]]
    device = records["H200 SXM 141 GB"]
    assert "hbm_bandwidth = 4800 GB/s † vendor's figure" in device["says"] and device["sources"]
    assert records["DeepSeek-V3"]["says"] == ["33 facts, 33 † vendor's figure"]
    assert records["DeepSeek-V3"]["at"] == "models/deepseek-v3.html"
    of_itl = found["sets"][found["of"][case]["itl"][0]]
    assert offer not in [found["inputs"][n] for n in of_itl], "a time rests on no price"


def test_a_prediction_has_its_bound_beside_it():
    number = Number(30.0, "ms", 20.0, 45.0, "extrapolated")
    found = numberbox.data([PREDICTED], NUMBERS | {PREDICTED: number})["behind"]
    case = "deepseek-v3/h200-sxm/fp8@vllm"
    said = found["beside"][case]["itl"]
    assert said[0] == f"derived bound: {NUMBERS[ITL].shown}"
    assert len(found["of"][case]["itl"]) == 1, "constants set it, not the greater of two bounds"


def test_a_sensitivity_says_what_was_changed():
    start = "sensitivity/deepseek-v3/h200-sxm/fp8/itl"
    itl, batch = naming.says(ITL), naming.says("x:batch")
    assert naming.says(f"{start}:batch") == f"percent of {itl} for one percent more of {batch}"
    assert naming.says(f"{start}/halved:batch").endswith(f", with halved {batch}")
    assert naming.says(f"{start}=10ms:batch") == f"{batch}, for a {itl} of 10ms"
    assert naming.law_of(f"{start}:itl") is None


def test_every_page_and_law_that_a_box_links_to_exists(pages):
    toc = (BOOK / "_toc.yml").read_text(encoding="utf-8")
    for body in pages.values():
        data = embedded(body)
        for case in data["cases"].values():
            for _, url in case["pages"]:
                assert f"file: {url.removesuffix('.html')}\n" in toc, url
        for kind in data["kinds"]:
            assert ("law" in kind) == ("place" in kind)


def stamped(found):
    """An entry as a page has it, before the build puts its commit in."""
    return found.model_copy(update={"commit": UNSTAMPED})


def command(id):
    case, symbol = naming.split(id)
    words = naming.case_of(case, NUMBERS).command.replace("SYMBOL", symbol).split()
    first = next((i for i, word in enumerate(words) if word.startswith("--")), len(words))
    options = dict(zip(words[first::2], words[first + 1 :: 2], strict=True))
    return words, {k.removeprefix("--"): int(v) if v.isdigit() else v for k, v in options.items()}


def test_the_command_gives_the_number_again():
    checked = 0
    for id in SAMPLE[::6]:
        words, options = command(id)
        if words[:2] != ["inferecon", "trace"]:
            continue
        value, checked = NUMBERS[id][0], checked + 1
        tree = traced(*words[2:6], **{**WORKLOAD, **options})
        got = tree["value"]
        if value is None:
            assert got is None, id
        else:
            assert number(SYMBOLS[tree["symbol"]], got).value == pytest.approx(value, rel=1e-9), id
    assert checked > 30


def test_the_inverse_is_found_again():
    (id, *_) = (id for id in IDS if id.startswith("sensitivity/") and "=10ms:hbm" in id)
    words = naming.case_of(naming.split(id)[0], NUMBERS).command.split()
    assert words[:2] == ["inferecon", "solve"] and words[6:] == ["--by", "SYMBOL"]
    model, hardware, format, goal = words[2:6]
    case = choose_devices(model, hardware, weights=format, activations=format, **WORKLOAD)
    found, said = solution(case, goal, naming.split(id)[1])
    assert cite.entry(id).value in said


def test_other_numbers_name_the_notebook_that_gives_them():
    for start in ("formats/", "sensitivity/deepseek-v3/h200-sxm/fp8/itl/halved"):
        id = next(id for id in IDS if id.startswith(start))
        words = naming.case_of(naming.split(id)[0], NUMBERS).command.split()
        assert words[:2] == ["inferecon", "run"] and (ROOT / words[-1]).exists()


# Citations -------------------------------------------------------------------------------------


def test_the_page_cites_a_number_as_the_command_does(filled):
    assert len(SAMPLE) > 350
    texts = filled(numberbox.data(SAMPLE, NUMBERS), SAMPLE)
    for id, forms in zip(SAMPLE, texts, strict=True):
        assert forms == [citing.written(stamped(cite.entry(id)), form) for form in citing.FORMS]


@pytest.mark.parametrize("symbol", ["itl", "throughput", "cost_per_token"])
def test_the_page_cites_a_prediction_as_the_command_does(symbol, filled):
    id = f"deepseek-v3/h200-sxm/fp8@vllm:{symbol}"
    number = Number(0.0312345, SHOWN[SYMBOLS[symbol]], 0.02, 1.0 / 3, "calibrated")
    written = cite.of_value(id, number)
    (forms,) = filled(numberbox.data([id], NUMBERS | {id: number}), [id])
    assert forms == [citing.written(stamped(written), form) for form in citing.FORMS]


def test_hostile_text_is_escaped_in_each_form_as_the_command_does(filled):
    text = 'a "b" \\ </script><b>$&$1 `c` *d* _e_ [f] | 50 % # ~ ^ {g} é –'
    data = numberbox.data([ITL], NUMBERS)
    data["kinds"][0] |= {"says": text, "source": text}
    hostile = stamped(cite.entry(ITL)).model_copy(update={"says": text, "source": text})
    assert filled(data, [ITL]) == [[citing.written(hostile, form) for form in citing.FORMS]]
    shown = numberbox.script(data)
    assert shown.count("</") == 1 and embedded(shown) == data


def test_no_text_of_a_number_gets_into_the_page_as_markup():
    id = 'x"><script>:<b>'
    shown = numberbox.quoted(id, Number(1.0, "<i>", 0.5, 2.0, "calibrated"))
    assert "<script" not in shown and "<b>" not in shown and "<i>" not in shown
    assert unescape(numberbox.QUOTED.search(shown)[1]) == id
    assert "innerHTML" not in SCRIPT.read_text(encoding="utf-8")


def test_two_pages_of_the_same_numbers_are_the_same_bytes(pages):
    page = "models/deepseek-v3"
    backwards = dict(reversed(NUMBERS.items()))
    assert numberbox.explained("", page, backwards) == pages[page]
