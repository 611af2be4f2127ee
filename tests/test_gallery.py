"""Figures of laws: their points are laws' values, and their parts add up to the whole."""

import base64
import csv
import json
import re

import altair as alt
import jsonschema
import pytest

from inferecon import figures, gallery, sensitivity
from inferecon import symbols as s
from inferecon.book import Case
from inferecon.figures import layout, meaning
from inferecon.files import ROOT
from inferecon.numbers import number
from inferecon.pictures import PICTURES

close = pytest.approx
CASE = dict(model="deepseek-v3", hardware="h200-sxm", weights="fp8", activations="fp8", tp=8, ep=8)


def data(chart):
    """Return the chart's specification, and every row that it draws."""
    spec = chart.to_dict()
    return spec, list(rows_of(spec))


def rows_of(spec):
    yield from spec.get("data", {}).get("values", [])
    for layer in spec.get("layer", []):
        yield from rows_of(layer)


def titled(spec):
    return spec["description"] and spec["title"]["text"] and spec["width"] == "container"


def test_the_timeline_is_ttft_and_then_itl():
    case = Case(**CASE, batch=32)
    spec, rows = data(gallery.timeline(case, 3))
    values = case.scenario.values
    begin, end = values[s.ttft] * 1e3, (values[s.ttft] + values[s.itl]) * 1e3
    spans = [(row["begin"], row["end"]) for row in rows if row.get("what") == "prefill"]
    assert spans == [(0, close(begin))]
    steps = [(row["begin"], row["end"]) for row in rows if row.get("what") == "decode step"]
    assert len(steps) == 2 and steps[0] == (close(begin), close(end))
    assert titled(spec)


def test_each_kind_of_attention_grows_as_counted_by_hand():
    models = ["phi-3.5-mini", "llama-3.1-8b", "mistral-7b-v0.1", "deepseek-v2-lite"]
    spec, rows = data(gallery.cache_growth("h200-sxm", models, [2048, 16384], 2048))
    at = {row["group"]: row["y"] for row in rows if row.get("x") == 16384 and "y" in row}
    assert at == {
        # 32 layers x 2 x 32 heads x 96 x 2 B = 393,216 B a token
        "MHA: phi-3.5-mini": close(393_216 * 16384 / 1e6),
        # 32 layers x 2 x 8 heads x 128 x 2 B = 131,072 B a token
        "GQA: llama-3.1-8b": close(131_072 * 16384 / 1e6),
        # the same, for the last 4,096 tokens only
        "sliding window: mistral-7b-v0.1": close(131_072 * 4096 / 1e6),
        # 27 layers x (512 + 64) x 2 B = 31,104 B a token
        "MLA: deepseek-v2-lite": close(31_104 * 16384 / 1e6),
    }
    assert titled(spec)


def test_experts_awake_as_counted_by_hand():
    spec, rows = data(gallery.experts(["mixtral-8x7b"], [1, 2, 64]))
    # 2; 8 (1 - 0.75^2) = 3.5; all eight but for 8 x 0.75^64
    assert [row["y"] for row in rows] == [2, 3.5, close(8, rel=1e-7)]
    assert titled(spec)


@pytest.mark.parametrize(
    "draw, symbol, count",
    [(gallery.energy, s.energy_per_token, 3), (gallery.cost, s.cost_per_token, 2)],
)
def test_the_parts_of_a_stack_add_up(draw, symbol, count):
    spec, rows = data(draw(Case(**CASE), [8, 32, 100_000]))  # the last does not fit
    assert {row["batch"] for row in rows} == {8, 32} and len(rows) == 2 * count
    for batch in (8, 32):
        whole = number(symbol, Case(**CASE, batch=batch).scenario.values[symbol]).value
        assert sum(row["value"] for row in rows if row["batch"] == batch) == close(whole)
    assert titled(spec)


def test_the_map_names_the_longest_part():
    small = Case(model="deepseek-r1-distill-llama-8b", hardware="h200-sxm", osl=128)
    spec, rows = data(gallery.regimes(small, [1, 512, 4096], [128, 32768]))
    bound = {(row["context"], row["batch"]): row["bound"] for row in rows}
    assert bound[128, 1] == "weights" and bound[128, 512] == "arithmetic"
    assert bound[32768, 512] == bound[128, 4096] == "full"
    wide = Case(model="deepseek-r1-distill-llama-8b", hardware="h200-sxm", tp=8)
    assert data(gallery.regimes(wide, [1], [128]))[1][0]["bound"] == "links"
    assert titled(spec)


def test_the_roofline_stands_on_the_intensity_of_each_batch():
    spec, rows = data(gallery.roofline(Case(**CASE), [1, 32]))
    points = {row["label"]: row["intensity"] for row in rows if "label" in row}
    assert points["decode, batch 32"] == close(Case(**CASE, batch=32).scenario.values[s.intensity])
    assert titled(spec)


def test_a_case_that_cannot_run_says_so():
    idle = Case(model="deepseek-v3", hardware="h200-sxm", tp=1, ep=1)
    for answer in (
        gallery.timeline(idle, 3),
        gallery.roofline(idle, [1]),
        gallery.regimes(idle, [1], [128]),
        gallery.energy(idle, [1]),
        gallery.cost(idle, [1]),
    ):
        assert "Does not run" in answer.data
    unmeasured = Case(model="deepseek-v2-lite", hardware="mi300x")
    assert "No record states" in gallery.energy(unmeasured, [1]).data


def test_a_figure_without_any_point_says_so():
    case = Case(**CASE)
    for answer in (
        gallery.roofline(case, [100_000]),
        gallery.regimes(case, [1], [10**7]),
        gallery.energy(case, [100_000]),
        gallery.cost(case, [100_000]),
    ):
        assert "No point" in answer.data


def tornado(case, target):
    """Return the chart that the notebook of sensitivities would show."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sensitivity, "display", lambda chart, metadata: found.append(chart))
        sensitivity.tornado(case, target)
    return found[0]


def saved(spec):
    """Return the files that the links beside a chart hold, by ending, and their common name."""
    page = figures.figure(spec)
    found = re.findall(r'<a download="([a-z0-9.-]+)\.(csv|json)"[^>]*;base64,([\w+/=]+)">', page)
    assert page.count("<a ") == len(found) == 2 and found[0][0] == found[1][0]
    files = {end: base64.b64decode(text).decode() for _, end, text in found}
    return found[0][0], list(csv.reader(files["csv"].splitlines())), json.loads(files["json"])


@pytest.mark.parametrize(
    "draw, name, head",
    [
        (
            lambda case: gallery.timeline(case, 3),
            "timeline-deepseek-v3-h200-sxm-fp8-batch-8",
            ["lane", "what", "begin (ms)", "end (ms)"],
        ),
        (
            lambda case: gallery.cache_growth("h200-sxm", ["llama-3.1-8b"], [1, 2048], 1024),
            "kv-cache-growth",
            ["model", "context (token)", "kv_bytes (MB)"],
        ),
        (
            lambda case: gallery.roofline(case, [1, 8]),
            "roofline-deepseek-v3-h200-sxm-fp8",
            ["step", "intensity (FLOP/B)", "rate (TFLOP/s)"],
        ),
        (
            lambda case: gallery.experts(["mixtral-8x7b"], [1, 8]),
            "experts-over-batch",
            ["model", "batch", "experts_decode"],
        ),
        (
            lambda case: gallery.regimes(case, [1, 100_000], [128]),
            "regimes-deepseek-v3-h200-sxm-fp8-on-8",
            ["isl (token)", "batch", "longest part", "itl (ms)"],
        ),
        (
            lambda case: gallery.energy(case, [8]),
            "energy-per-token-deepseek-v3-h200-sxm-fp8",
            ["batch", "part", "energy_per_token (kWh/Mtoken)"],
        ),
        (
            lambda case: gallery.cost(case, [8]),
            "cost-per-token-deepseek-v3-h200-sxm-fp8",
            ["batch", "part", "cost_per_token (USD/Mtoken)"],
        ),
        (
            lambda case: case.roofline(),
            "roofline-deepseek-v3-h200-sxm-fp8-batch-8",
            ["step", "intensity (FLOP/B)", "rate (TFLOP/s)"],
        ),
        (
            lambda case: case.curve([1, 8], [1024]),
            "throughput-deepseek-v3-h200-sxm-fp8",
            ["isl (token)", "batch", "interactivity (token/s)", "throughput_device (token/s)"],
        ),
        (
            lambda case: tornado(case, "itl"),
            "tornado-itl-deepseek-v3-h200-sxm-fp8",
            ["input", "change", "itl over what it is now"],
        ),
    ],
)
def test_the_numbers_of_a_chart_can_be_saved_and_are_those_drawn(draw, name, head):
    spec, drawn = data(draw(Case(**CASE, batch=8)))
    file, (titles, *rows), content = saved(spec)
    assert file == name and titles == head
    assert [f"{c['name']} ({c['unit']})".removesuffix(" ()") for c in content["columns"]] == head
    assert content["description"] == spec["description"]
    assert content["title"] == " ".join(spec["title"]["text"])
    assert content["licence"] == "CC BY 4.0" and content["source"].endswith("edition 2026.12")
    numbers = {value for row in drawn for value in row.values() if isinstance(value, int | float)}
    for row, same in zip(rows, content["rows"], strict=True):
        for cell, value in zip(row, same.values(), strict=True):
            assert cell == ("" if value is None else str(value))
            if isinstance(value, int | float):
                assert any(value == close(number) for number in numbers)


ROW = {"name": "a", "group": "b", "value": 2.0, "x": 1, "y": 2.0, "batch": 1, "part": "c"}
BOUND = {"name": "a", "family": "Qwen", "class": "NVIDIA, HBM", "derived": 1.0}
UNSURE = {"predicted": 2.0, "low": 1.5, "high": 3.0}


def drawings():
    """Draw every kind of chart once, and with its options."""
    for draw in (figures.bars, figures.tornado):
        yield draw([ROW], "s", "A finding", ["of 1,024"])
    yield figures.stack([ROW], "s", "A finding", ["of 1,024"], {"c": "#123456"})
    for more in ({}, UNSURE, UNSURE | {"full": 0.5}):
        yield figures.bounds([BOUND, BOUND | more | {"family": "Llama"}], "s", "A finding", [])
    for of, diagonal in (({"family": "Qwen"}, True), ({"class": "AMD Instinct"}, False)):
        rows = [ROW | of, ROW | of | {"x": 3, "side": "left"}]
        yield figures.cloud(rows, "bytes", "tokens", "A finding", [], diagonal=diagonal)
    rule = {"x": 1, "before": "here", "after": "there"}
    for options in ({}, {"log": True}, {"rule": rule}, {"floor": True, "colours": {"b": "red"}}):
        yield figures.lines([ROW], "tokens", "cache", "A finding", [], **options)
    yield figures.lines([ROW | {"low": 1.0, "high": 3.0}], "tokens", "cache", "A finding", [])
    names = ("id", "metric", "group", "source", "model", "card", "engine", "family")
    ends = {"measured": 2.0, "predicted": 3.0, "low": 1.0, "high": float("nan")}
    yield figures.scatter(
        [dict.fromkeys(names, "a") | ends], "ms", "A finding", [], "So.", {"a": "cross"}
    )
    case = Case(**CASE, batch=8)
    yield case.roofline()
    yield case.curve([1, 8], [1024])
    yield gallery.timeline(case, 3)
    yield gallery.roofline(case, [1, 8])
    yield gallery.regimes(case, [1, 100_000], [128])


def test_every_chart_is_valid_vega_lite():
    """Nothing checks a chart while it is drawn: it would take longer than the drawing."""
    kinds = {name for name in figures.__all__ if hasattr(getattr(figures, name), "__wrapped__")}
    schema = jsonschema.Draft7Validator(alt.Chart._rootschema)
    seen = 0
    for drawing in drawings():
        assert not list(schema.iter_errors(drawing.to_dict()))
        seen += 1
    assert len(kinds) == 11 and seen > len(kinds)
    broken = {**drawing.to_dict(), "title": {"text": "a", "anchor": "nowhere"}}
    assert not schema.is_valid(broken)


def test_every_way_to_draw_carries_a_table():
    """Whoever draws a chart and names nothing still gives its numbers."""
    for draw in (figures.bars, figures.tornado):
        file, (head, *rows), _ = saved(draw([ROW], "s", "A finding", ["of 1,024"]).to_dict())
        assert file == "a-finding-of-1024" and "value (s)" in head and len(rows) == 1
    unsure = figures.bounds([BOUND | UNSURE], "s", "A finding", []).to_dict()
    assert saved(unsure)[1] == [
        ["name", "derived (s)", "predicted (s)", "low (s)", "high (s)"],
        ["a", "1.0", "2.0", "1.5", "3.0"],
    ]
    assert "a: derived bound 1, predicted 2, from 1.50, to 3" in unsure["description"]
    chart = figures.lines([ROW], "tokens", "cache", "A finding", [])
    assert saved(chart.to_dict())[1] == [["group", "x", "y"], ["b", "1", "2.0"]]


def test_a_saved_text_is_neither_a_formula_nor_markup():
    rows = [{"name": '=1+1,"<b>', "group": "-2", "value": -0.5}]
    spec = figures.bars(rows, "s", '</script><b> & "title"', ["@x"]).to_dict()
    file, (_, cells), content = saved(spec)
    assert cells == ["'=1+1,\"<b>", "'-2", "-0.5"]
    assert content["rows"] == [{"name": '=1+1,"<b>', "group": "-2", "value": -0.5}]
    assert file == "script-b-title-x"
    page = figures.figure(spec)
    assert "<b>" not in page and page.count("</script>") == 1


def test_jupyterlab_can_draw_what_a_notebook_keeps():
    drawing = gallery.experts(["mixtral-8x7b"], [1, 2])
    bundle = drawing._repr_mimebundle_(None, None)
    # what @jupyterlab/vega5-extension draws, up to JupyterLab 4.6
    drawn = {f"application/vnd.vegalite.v{n}+json" for n in (3, 4, 5)}
    assert len(drawn & set(bundle)) == 1
    assert bundle["text/plain"] == drawing.to_dict()["description"]
    spec = bundle[figures.MIME]
    assert spec["width"] == 640  # JupyterLab hangs while it measures a "container"
    assert '"width":"container"' in figures.figure(spec)  # a page is filled all the same
    assert figures.figure(spec) == figures.figure(drawing.to_dict())


def test_a_chart_says_its_finding_in_words():
    spec, _ = data(gallery.timeline(Case(**CASE, batch=32), 3))
    assert re.search(r"prefill from 0 to [\d.]+ ms; decode step 2 times", spec["description"])
    assert re.search(r"TTFT [\d.]+ ms: 0 to [\d.]+ ms; ITL [\d.]+ ms: ", spec["description"])
    small = Case(model="deepseek-r1-distill-llama-8b", hardware="h200-sxm", osl=128)
    spec, _ = data(gallery.regimes(small, [1, 64, 4096], [128]))
    assert "prompt 128: weights at batch 1 to 64, full at batch 4,096" in spec["description"]


def test_the_numbers_stand_beside_every_chart_and_a_long_table_is_cut():
    page = figures.figure(figures.bars([ROW], "s", "A finding", []).to_dict())
    assert "<summary>The numbers of this figure</summary>" in page
    assert "<tr><td>a</td><td>b</td><td>2</td></tr>" in page and "further rows" not in page
    rows = [ROW | {"x": x} for x in range(100)]
    page = figures.figure(figures.lines(rows, "tokens", "cache", "A finding", []).to_dict())
    assert page.count("<tr>") == 61 and "40 further rows are in the CSV" in page


def test_words_break_where_a_narrow_page_ends():
    long = "A finding that needs two lines of a telephone, and one of a page"
    rows = [ROW | {"group": f"a name of forty letters, to be told apart {n}"} for n in range(3)]
    spec = figures.lines(rows, "tokens", "cache", long, ["and of what"]).to_dict()
    assert spec["title"]["text"] == [long]
    narrow = layout.changed(spec, layout.fits(spec)[280])
    assert len(narrow["title"]["text"]) > 1 and " ".join(narrow["title"]["text"]) == long
    legend = narrow["encoding"]["color"]["legend"]
    assert (
        legend["columns"] == 1
        and '"a name of forty letters, to be told apart 2": [' in (legend["labelExpr"])
    )
    high = layout.heights(spec, 300)
    assert high[640] == 300 < high[280] and spec["title"]["text"] == [long]


def test_a_colour_means_one_thing():
    """Families, phases and parts of a step share no colour, and devices no shape with others."""
    hues = [*meaning.FAMILIES.values(), *meaning.PHASES.values(), *meaning.PARTS.values()]
    assert len(hues) == len(set(hues))
    assert not set(meaning.CLASSES.values()) & set(meaning.MARKS)
    assert meaning.family("deepseek-v3") == "DeepSeek" and meaning.family("phi-4") == "others"
    assert meaning.device_class("mi300x") == "AMD Instinct"
    assert meaning.device_class("l40s") == "NVIDIA, GDDR"


@pytest.mark.parametrize("name", PICTURES)
def test_a_chapter_has_a_picture_with_units_and_a_finding(name):
    spec = PICTURES[name]().to_dict()
    assert titled(spec) and re.search(r"\d|mostly", " ".join(spec["title"]["text"]))
    assert f"```{{picture}} {name}\n```" in (ROOT / "book" / f"{name}.md").read_text()
    assert saved(spec)[1][1:]


def test_pictures_say_what_their_laws_say():
    spec, rows = data(PICTURES["load"]())
    at = {(row["group"], row["x"]): row["y"] for row in rows if "group" in row}
    # 0.9 / (1 - 0.9) = 9 services, and half of it
    assert sorted(y for (_, x), y in at.items() if x == 0.9) == [close(4.5), close(9)]
    spec, rows = data(PICTURES["speculation"]())
    # (1 - 0.6^2) / (1 - 0.6) / (1 + 0.1) = 1.6 / 1.1
    one = [row["y"] for row in rows if (row["group"], row["x"]) == ("1 draft", 0.6)]
    assert one == [close(1.6 / 1.1)]
    spec, rows = data(PICTURES["traffic"]())
    both = [row["value"] for row in rows if row["batch"] == 1]
    # 15.01 GB of weights, and 4,608 tokens of 131,072 B
    assert sum(both) == close(15.01 + 4608 * 131072 / 1e9, rel=1e-3)


def test_the_price_is_left_out_of_what_moves_the_price():
    case = Case(**CASE, batch=32)
    for target, factor in (("cost_per_token", "price"), ("carbon_per_token", "PUE")):
        spec, rows = data(tornado(case, target))
        assert factor not in {row["name"] for row in rows}
        assert factor in " ".join(spec["title"]["subtitle"])
