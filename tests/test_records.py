"""Every record loads, its facts agree with each other, and a broken file is refused in one line."""

import math
import re

import pytest
import yaml

from inferecon import records
from inferecon.errors import BadInput
from inferecon.files import DATA
from inferecon.records import KINDS, ids, load, matching, sources
from inferecon.report.recorded import facts_section
from inferecon.report.text import plain
from inferecon.symbols import GLOSSARY, SYMBOLS

FILES = [(kind, id) for kind in KINDS for id in ids(kind)]
every_record = pytest.mark.parametrize(("kind", "id"), FILES, ids=lambda part: part)


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Return a function that writes a record into the reader's own folder and returns its id."""

    def clear():
        for function in (records.load, records.ids):
            function.cache_clear()

    def write(text, kind="hardware", id="mine"):
        (tmp_path / kind).mkdir(exist_ok=True)
        (tmp_path / kind / f"{id}.yaml").write_text(text, encoding="utf-8")
        clear()
        return id

    monkeypatch.setenv("INFERECON_DATA", str(tmp_path))
    clear()
    yield write
    monkeypatch.undo()
    clear()


def device(**changes):
    """Text of a small valid hardware record with some keys changed; None removes one."""
    fact = {"value": "2 TB/s", "source": ["unsourced"], "where": "nowhere"}
    record = {
        "id": "mine",
        "name": "Mine",
        "about": {"vendor": "nvidia", "kind": "gpu"},
        "facts": {"hbm_bandwidth": fact},
    } | changes
    return yaml.safe_dump({k: v for k, v in record.items() if v is not None})


def fact(value, key="hbm_bandwidth", **changes):
    return {key: {"value": value, "source": ["unsourced"], "where": "nowhere"} | changes}


# All files -------------------------------------------------------------------------------------


@every_record
def test_a_record_loads(kind, id):
    record = load(kind, id)
    assert (record.kind, record.id) == (kind, id) and record.name
    assert record.facts or record.offers


def test_all_records_are_there():
    found = {kind: len(ids(kind)) for kind in KINDS}
    assert (found["models"], found["hardware"], found["formats"]) == (154, 70, 47)


def test_every_file_of_a_kind_is_a_record():
    for kind in KINDS:
        assert {path.stem for path in (DATA / kind).iterdir()} == set(ids(kind))


@every_record
def test_every_fact_names_a_source_and_a_place(kind, id):
    for key, stated in load(kind, id).facts.items():
        assert stated.source and set(stated.source) <= set(sources()), key
        assert stated.where.strip(), key


@pytest.mark.parametrize("id", ids("assumptions"))
def test_an_assumption_has_a_range_and_a_reason(id):
    for key, stated in load("assumptions", id).facts.items():
        symbol = SYMBOLS[key.partition("@")[0]]
        low, value, high = (
            records.convert(x, symbol) for x in (stated.low, stated.value, stated.high)
        )
        assert low <= value <= high and stated.why, key


def test_efficiencies_are_assumptions_and_nothing_else():
    assumed = {symbol.name for symbol in GLOSSARY if GLOSSARY[symbol].topic == "Assumptions"}
    for kind in ("models", "hardware", "formats"):
        for id in ids(kind):
            assert not assumed & load(kind, id).facts.keys(), id


@pytest.mark.parametrize("id", ids("models"))
def test_a_model_names_what_its_page_shows(id):
    assert {"licence", "release", "attention_kind"} <= load("models", id).about.keys()


SECRET = ["deepseek-v4.1-flash", "mistral-large-3-675b"]  # stated in part only


def test_shapes_that_are_not_public_are_named():
    assert [id for id in ids("models") if load("models", id).lacks] == SECRET


@pytest.mark.parametrize("id", sorted(set(ids("models")) - set(SECRET)))
def test_the_layers_of_a_model_add_up(id):
    given = {symbol.name: value for symbol, value in load("models", id).given.items()}
    mixing = "full local mla csa0 csa4 csa128 gdn kda lightning mamba".split()
    mixers = sum(given[f"n_{kind}_layers"] for kind in mixing)
    mlps = given["n_dense_layers"] + given["n_moe_layers"]
    # a hybrid may count a mixer and an MLP as a layer each
    assert given["n_layers"] in (mixers, mixers + mlps) and mlps <= given["n_layers"]
    assert given["top_k"] <= given["n_experts"]


# Peak rates ------------------------------------------------------------------------------------

# fp8 over bf16 where it is not 2: the vendor states no faster 8-bit rate, or another one.
NOT_TWICE = {
    "gaudi3": 1,
    "inferentia2": 1,
    "trainium1": 1,
    "tpu-v5p": 1,
    "tpu-v6e": 1,
    "trainium2": 1.95,
    "trainium3": 3.75,
    "ascend-950dt": 1.89,
    "rubin": 4.375,
}
BOTH = [
    id
    for id in ids("hardware")
    if {"peak_flops@fp8", "peak_flops@bf16"} <= load("hardware", id).facts.keys()
]


@pytest.mark.parametrize("id", BOTH)
def test_fp8_is_twice_bf16_but_for_the_named_exceptions(id):
    # printed values are rounded: to 1.3 %
    ratio = load("hardware", id)["peak_flops@fp8"] / load("hardware", id)["peak_flops@bf16"]
    assert ratio == pytest.approx(NOT_TWICE.get(id, 2), rel=0.013)


@pytest.mark.parametrize("id", ids("hardware"))
def test_fp16_and_bf16_are_equal_where_both_are_stated(id):
    d = load("hardware", id)
    pair = [d.get(f"peak_flops@{case}") for case in ("bf16", "fp16")]
    share = {"gaudi3": 4}.get(id, 1)  # its fp16 and tf32 run at a quarter of bf16
    if not any(math.isnan(rate) for rate in pair):
        assert pair[0] == pytest.approx(share * pair[1], rel=0.01)


def test_the_rates_of_gaudi_3_are_of_one_clock():
    # 256 x 256 x 8 multiply-adds a cycle at 1.6 GHz: 1,677.7 TFLOP/s, a quarter, an eighth
    bf16 = 256 * 256 * 8 * 2 * 1.6e9
    rates = {"bf16": bf16, "fp8": bf16, "fp16": bf16 / 4, "tf32": bf16 / 4, "fp32": bf16 / 8}
    for case, rate in rates.items():
        assert load("hardware", "gaudi3")[f"peak_flops@{case}"] == pytest.approx(rate, rel=5e-4)


@pytest.mark.parametrize(
    ("id", "case", "dense"),
    [
        ("h100-sxm", "bf16", 989.4),  # the datasheet prints 1,979 with 2:4 sparsity
        ("h100-sxm", "fp8", 1978.9),  # 3,958
        ("h200-sxm", "fp8", 1979),  # 3,958
        ("a100-80gb-sxm", "bf16", 312),  # 624
        ("l40s", "fp8", 733),  # 1,466
        ("b200-sxm", "bf16", 2250),  # 4,500
        ("mi300x", "bf16", 1307.4),  # 2,614.9
    ],
)
def test_a_peak_is_dense_where_the_datasheet_prints_the_sparse_one(id, case, dense):
    assert load("hardware", id)[f"peak_flops@{case}"] / 1e12 == pytest.approx(dense, rel=0.02)


def test_a_link_is_one_direction():
    # NVLink 4 is printed as 900 GB/s in both directions
    assert load("hardware", "h200-sxm")["link_bandwidth"] == 450e9
    assert "900 GB/s" in load("hardware", "h200-sxm").facts["link_bandwidth"].printed


@pytest.mark.parametrize(
    ("id", "case"),
    [
        ("a100-80gb-sxm", "fp8"),
        ("h200-sxm", "fp4"),
        ("h200-sxm", "int4"),
        ("mi300x", "fp4"),
        ("t4", "bf16"),
        ("v100-sxm2-32gb", "bf16"),
    ],
)
def test_a_rate_the_device_lacks_stays_missing(id, case):
    record = load("hardware", id)
    assert f"peak_flops@{case}" not in record.facts
    assert math.isnan(record.get(f"peak_flops@{case}"))
    with pytest.raises(KeyError):
        record[f"peak_flops@{case}"]


# Doubt -----------------------------------------------------------------------------------------


def test_a_value_nobody_verified_is_marked():
    page = "\n".join(facts_section(load("hardware", "a40")))
    assert re.search(r"`link_bandwidth` .*\| [^|]+ \? \|", page)
    assert not load("hardware", "a40").facts["link_bandwidth"].verified
    assert load("hardware", "h200-sxm").facts["hbm_bandwidth"].verified


def test_disagreements_stay_visible():
    said = {d.says for d in load("hardware", "h200-sxm").disputes}
    assert "TechPowerUp" in said
    assert "4,890 GB/s" in "\n".join(facts_section(load("hardware", "h200-sxm")))


def test_a_dispute_is_about_a_symbol():
    for kind, id in FILES:
        for dispute in load(kind, id).disputes:
            assert dispute.fact.partition("@")[0] in SYMBOLS, f"{kind}/{id}: {dispute.fact}"


# A reader's own files --------------------------------------------------------------------------


def test_a_reader_adds_a_record(own):
    assert load("hardware", own(device()))["hbm_bandwidth"] == 2e12
    assert "mine" in ids("hardware") and len(ids("hardware")) == 71


def test_a_readers_record_replaces_the_one_of_the_report(own):
    own(device(id="h200-sxm"), id="h200-sxm")
    assert load("hardware", "h200-sxm").name == "Mine"


BROKEN = {
    "unknown key": (device(fcats={}), "hardware/mine.yaml: fcats: Extra inputs are not permitted"),
    "unknown symbol": (
        device(facts=fact("2 TB/s", "hbm_bandwith")),
        "facts.hbm_bandwith is no symbol; did you mean hbm_bandwidth",
    ),
    "unknown about": (
        device(about={"vendro": "x"}),
        "about.vendro is unknown; did you mean vendor",
    ),
    "unknown source": (
        device(facts=fact("2 TB/s", source=["stsa"])),
        "facts.hbm_bandwidth: no source 'stsa' in sources.yaml; did you mean stas",
    ),
    "wrong unit": (
        device(facts=fact("2 TB")),
        "'2 TB' does not convert to B / s, the unit of hbm_bandwidth",
    ),
    "no unit": (
        device(facts=fact(2e12)),
        "hbm_bandwidth needs a unit such as B / s, 2000000000000.0 has none",
    ),
    "unit of another report": (device(facts=fact("2 furlong")), "'2 furlong' does not convert"),
    "sparse words for a number": (device(facts=fact("fast")), "'fast' does not convert"),
    "negative": (device(facts=fact("-2 TB/s")), "must be a number of at least 0, not -2 TB/s"),
    "not a number": (device(facts=fact(math.nan, "scale_up_size")), "must be a number of at least"),
    "infinite": (device(facts=fact(math.inf, "scale_up_size")), "must be a number of at least 0"),
    "no place": (
        device(facts={"hbm_bandwidth": {"value": "2 TB/s", "source": ["stas"]}}),
        "facts.hbm_bandwidth.where: Field required",
    ),
    "wrong id": (device(id="yours"), "says its id is 'yours'; file name and id must agree"),
    "no name": (device(name=None), "name: Field required"),
    "truncated": (device()[:-9] + "\n  - [", "mine.yaml is not YAML at line"),
    "a list": ("- 1\n- 2\n", "holds no record: expected keys such as id, name, facts"),
    "empty": ("", "holds no record"),
    "a command": ("!!python/object/apply:os.getcwd []\n", "mine.yaml is not YAML at line 1"),
}


@pytest.mark.parametrize(("text", "sentence"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused_in_one_sentence(own, text, sentence):
    own(text)
    with pytest.raises(BadInput) as caught:
        load("hardware", "mine")
    assert sentence in str(caught.value) and "mine.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_refused(own, tmp_path):
    own("")
    (tmp_path / "hardware" / "mine.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match=r"hardware/mine.yaml cannot be read"):
        load("hardware", "mine")


@pytest.mark.parametrize(
    "id",
    ["../hardware/h200-sxm", "/etc/passwd", "..", "", "H200-SXM", "h200 sxm", "a\x00b", 7, None],
)
def test_an_id_is_never_a_path(id):
    with pytest.raises(BadInput, match="is not a record id"):
        load("models", id)


def test_html_in_a_record_stays_data(own):
    name = "<script>alert(1)</script> | `x` [y](z) $a$"
    record = load("hardware", own(device(name=name, notes=[name])))
    assert record.name == name
    page = "\n".join([plain(record.name), *facts_section(record)])
    assert "alert" in page
    for ours in ("</a>", "</span>"):  # of a value or a sentence, which open boxes
        page = page.replace(ours, "")
    assert not [mark for mark in ("<script", "</", "| `x`", "](z)", "$a$") if mark in page]


def test_a_part_of_a_model_is_absent_or_stated_in_full(own):
    text = yaml.safe_load((DATA / "models" / "llama-3.1-8b.yaml").read_text())
    text["id"] = "mine"
    assert load("models", own(yaml.safe_dump(text), "models")).lacks == []
    assert load("models", "mine").given[SYMBOLS["n_experts"]] == 0
    text["facts"] |= fact(8, "n_experts")
    own(yaml.safe_dump(text), "models")
    assert {"n_moe_layers", "top_k", "expert_width"} <= set(load("models", "mine").lacks)


def test_a_hash_depends_on_content_and_not_on_layout(own):
    text = device()
    first = load("hardware", own(text)).hash
    again = yaml.safe_dump(yaml.safe_load(text), default_flow_style=True, sort_keys=False)
    assert load("hardware", own(again)).hash == first
    assert load("hardware", own(text.replace("2 TB/s", "3 TB/s"))).hash != first


def test_names_are_matched_with_stars_and_commas():
    assert matching("hardware", "h100*") == ["h100-nvl", "h100-pcie", "h100-sxm"]
    assert matching("hardware", "t4, h20") == ["t4", "h20"]
    assert matching("formats", "all") == list(ids("formats"))
    with pytest.raises(BadInput, match="no record 'h1000' in hardware; did you mean h100"):
        matching("hardware", "h1000")
