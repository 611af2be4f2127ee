"""How a recorded value is known is what its source says of itself, and no more."""

import pytest

from inferecon import provenance
from inferecon.provenance import MARKS, MEASURED, VENDOR, known, known_offer, marked
from inferecon.records import KINDS, ids, load, sources

RECORDS = [load(kind, id) for kind in KINDS for id in ids(kind)]


@pytest.mark.parametrize("declared", [VENDOR, MEASURED])
def test_what_is_declared_of_a_source_stands_in_its_own_words(declared):
    for source, said in declared.items():
        assert said.words in sources()[source].what, source


def test_whose_devices_a_source_is_of_is_a_vendor_on_record():
    vendors = {record.about.get("vendor") for record in RECORDS} | {""}
    assert {said.of for said in VENDOR.values()} <= vendors


def test_no_source_is_both():
    assert not VENDOR.keys() & MEASURED.keys()


def test_every_declaration_marks_something():
    """One that no record cites would be dead."""
    cited = {key for record in RECORDS for fact in record.facts.values() for key in fact.source}
    cited |= {offer.source for record in RECORDS for offer in record.offers}
    assert (VENDOR.keys() | MEASURED.keys()) <= cited


@pytest.mark.parametrize(
    ("kind", "id", "fact", "word"),
    [
        ("hardware", "h200-sxm", "hbm_bandwidth", "vendor"),  # NVIDIA's package, of NVIDIA's card
        ("hardware", "arc-pro-b60", "memory_capacity", "published"),  # the same, of Intel's
        ("hardware", "h200-sxm", "idle_power", "measured"),
        ("hardware", "h200-sxm", "measured_matmul_flops@fp8", "measured"),  # so says the symbol
        ("hardware", "a40", "link_bandwidth", "unsourced"),
        ("hardware", "h100-nvl", "peak_flops@fp8", "derived"),
        ("models", "deepseek-v3", "hidden_size", "vendor"),
        ("formats", "gguf-file-q4-k-m", "element_width", "measured"),
        ("formats", "gguf-file-q4-k-m", "super_size", "published"),  # of its definition
        ("assumptions", "energy-h200-sxm", "energy_per_byte", "measured"),
        ("assumptions", "wue", "wue", "vendor"),  # both of its sources are operators
        ("assumptions", "pue", "pue", "assumed"),  # a median over operators and a survey
        ("grids", "usa", "grid_intensity", "published"),
    ],
)
def test_how_a_fact_is_known(kind, id, fact, word):
    assert known(load(kind, id), fact) == word


def test_a_price_on_a_list_is_the_vendors_and_a_model_of_costs_is_not():
    found = {o.provider: o for o in load("prices", "a100-80gb-sxm").offers}
    words = {name: known_offer(load("prices", "a100-80gb-sxm"), o) for name, o in found.items()}
    assert words["Modal"] == "vendor" and words["market range on-demand"] == "published"
    costs = [(r, o) for r in RECORDS for o in r.offers if o.kind == "tco-model"]
    assert costs and {known_offer(*one) for one in costs} == {"published"}


def test_every_value_has_a_word_and_what_no_source_says_has_no_mark():
    words = {known(record, fact) for record in RECORDS for fact in record.facts}
    assert words == set(MARKS)
    assert marked("published") == marked("assumed") == ""
    assert [marked(word)[0] for word in ("derived", "measured", "vendor", "unsourced")] == [*"≈✓†?"]


def test_values_are_counted_by_their_marks():
    words = ["vendor", "published", "unsourced", "vendor"]
    assert provenance.counted(words) == ["2 † vendor's figure", "1 ? nobody verified it"]
