"""Recorded values as numbers: each has an id, a place, a box, a citation and a command."""

import gzip
import json
import re
from html import unescape

import pytest

from inferecon import cite, citing, cli, facts, numberbox
from inferecon.edition import UNSTAMPED
from inferecon.errors import BadInput
from inferecon.pages.published import moved_facts
from inferecon.provenance import MARKS
from inferecon.records import ids, load
from inferecon.report import data
from inferecon.report.recorded import facts_section, offers_table

ALL = list(facts.all_ids())
SAMPLE = ALL[::61] + [id for id in ALL if facts.OFFER in id][::7]
BANDWIDTH = "data/hardware/h200-sxm:hbm_bandwidth"
HOSTILE = 'a "b" \\ </script><b>$&$1 `c` *d* _e_ [f] | 50 % # ~ ^ {g} é –'


def quoted_on_record_pages():
    """Page of each kind, and the ids that it quotes."""
    texts = {f"data/{name}": getattr(data, f"data_{name}")() for name in ("formats", "assumptions")}
    for kind in ("models", "hardware"):
        for id in ids(kind):
            page = facts.page(f"data/{kind}/{id}:")
            texts[page] = "\n".join(facts_section(load(kind, id)))
    return {page: re.findall(r'data-number="([^"]+)"', text) for page, text in texts.items()}


def test_every_value_on_record_has_one_place_where_it_is_shown():
    quoted = quoted_on_record_pages()
    there = [(page, id) for page, found in quoted.items() for id in found]
    assert len(there) == len(set(there))
    assert set(there) == {(facts.page(id), id) for id in ALL}


def test_every_value_has_an_anchor_of_its_own_that_css_can_select():
    anchors = {(facts.page(id), facts.anchor(id)) for id in ALL}
    assert len(anchors) == len(ALL)
    assert all(re.fullmatch(r"fact-[A-Za-z0-9_-]+", anchor) for _, anchor in anchors)
    assert facts.anchor(BANDWIDTH) == "fact-hardware-h200-sxm-hbm_bandwidth"


def test_no_id_of_a_value_is_that_of_a_number():
    assert not set(ALL) & set(cite.ledger())


def test_the_second_offer_of_a_provider_has_an_id_of_its_own():
    found = facts.offers(load("prices", "b200-sxm"))
    assert found["data/prices/b200-sxm:offer@lambda"].price == "6.99 USD/h"
    assert found["data/prices/b200-sxm:offer@lambda__2"].price == "6.89 USD/h"


def test_the_box_of_a_value_says_who_states_it_and_where():
    found = numberbox.data([BANDWIDTH], {})
    place, shown, exact = found["numbers"]["data/hardware/h200-sxm"]["hbm_bandwidth"]
    kind, case = found["kinds"][place], found["cases"]["data/hardware/h200-sxm"]
    assert (shown, exact) == ("4800 GB/s", None)
    assert kind["says"] == "peak memory bandwidth of one device"
    assert (kind["mark"], kind["how"]) == MARKS["vendor"]
    assert case["of"] == "H200 SXM 141 GB" and case["page"] == "hardware/h200-sxm"
    sources, details = found["details"]["data/hardware/h200-sxm"]["hbm_bandwidth"]
    assert [found["read"][n][0].split()[1] for n in sources] == [
        "aiconfigurator-core",
        "stas00/ml-engineering",
        "skypilot-org/skypilot-catalog",
    ]
    assert all(found["read"][n][1].endswith("read 2026-11") for n in sources)
    assert details["Place"].startswith("aicsys: systems file")
    assert details["Others say"] == "4,890 GB/s, says TechPowerUp"


def test_an_assumption_has_its_range_and_its_reason():
    found = facts.recorded("data/assumptions/pue:pue")
    assert found.value == "1.15" and found.details["Range"] == "1.04 to 1.63"
    assert found.details["Why"].startswith("median of the 15 published figures")
    assert found.known == "assumed"


def test_a_page_has_each_value_once_as_a_place_and_else_as_a_link():
    cell = f"{numberbox.link(BANDWIDTH)}4800 GB/s</a>"
    own = numberbox.explained(f"<p>{cell} {cell}</p>", "hardware/h200-sxm", {})
    assert own.count('id="fact-hardware-h200-sxm-hbm_bandwidth"') == 1
    assert own.count('href="#fact-hardware-h200-sxm-hbm_bandwidth"') == 1
    other = numberbox.explained(f"<p>{cell}</p>", "data/hardware", {})
    assert 'href="../hardware/h200-sxm.html#fact-hardware-h200-sxm-hbm_bandwidth"' in other


@pytest.mark.parametrize("name", ["models", "hardware", "formats", "assumptions"])
def test_no_page_of_records_becomes_too_heavy(name):
    body = numberbox.explained(getattr(data, f"data_{name}")(), f"data/{name}", {})
    assert len(gzip.compress(body.encode())) < 130_000


def test_a_page_is_written_again_when_the_source_of_a_value_says_something_else(
    tmp_path, monkeypatch
):
    assert moved_facts(tmp_path) == set(ALL)
    assert moved_facts(tmp_path) == set()
    later = facts.sources()["serial"].model_copy(update={"read": "2027-01"})
    changed = facts.sources() | {"serial": later}
    monkeypatch.setattr(facts, "sources", lambda: changed)
    assert moved_facts(tmp_path) == {"data/hardware/h200-sxm:idle_power"}


# Citations and the command ---------------------------------------------------------------------


def test_the_page_cites_a_value_as_the_command_does(filled):
    found = numberbox.data(SAMPLE, {})
    assert len(SAMPLE) > 100
    for id, forms in zip(SAMPLE, filled(found, SAMPLE), strict=True):
        entry = cite.entry(id).model_copy(update={"commit": UNSTAMPED})
        assert forms == [citing.written(entry, form) for form in citing.FORMS]


def test_the_address_in_a_citation_is_the_place_of_the_value():
    entry = cite.entry(BANDWIDTH)
    assert entry.url == "hardware/h200-sxm.html#fact-hardware-h200-sxm-hbm_bandwidth"
    assert entry.value == "4800 GB/s, vendor's figure" and entry.kind == "fact"
    assert "skypilot-catalog" in entry.source


@pytest.mark.parametrize("id", SAMPLE[::9])
def test_the_command_in_the_box_prints_the_value(id, monkeypatch, capsys):
    owner, _, key = id.partition(":")
    case = numberbox.data([id], {})["cases"][owner]
    words = case["command"].replace("SYMBOL", key).split()
    assert words[0] == "inferecon"
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"{id} = {facts.recorded(id).value}\n") and "source: " in printed


def test_a_whole_record_is_printed_as_data(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["inferecon", "show", "prices/h200-sxm", "--json"])
    with pytest.raises(SystemExit):
        cli.main()
    rows = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in rows][:2] == [
        "data/prices/h200-sxm:all_in_power",
        "data/prices/h200-sxm:offer@nebius",
    ]
    assert rows[1]["value"] == "3.5 USD/h" and rows[1]["kind"] == "on-demand"


@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("data/hardware/h200-sxm:hbm_bandwith", "did you mean hbm_bandwidth"),
        ("data/hardware/../x:y", "is not a record id"),
        ("data/hardwear/h200-sxm:y", "did you mean hardware"),
        ("data/prices/h200-sxm:offer@nobody", "has no 'offer@nobody'"),
    ],
)
def test_an_unknown_id_is_named(id, said):
    with pytest.raises(BadInput, match=re.escape(said)):
        cite.entry(id)


# Hostile text ----------------------------------------------------------------------------------


def test_hostile_text_of_a_record_stays_text(filled, monkeypatch):
    record = load("hardware", "h200-sxm")
    fact = record.facts["hbm_bandwidth"].model_copy(update={"where": HOSTILE, "why": HOSTILE})
    offer = load("prices", "h200-sxm").offers[0].model_copy(update={"provider": HOSTILE})
    update = {"name": HOSTILE, "facts": {"hbm_bandwidth": fact}, "offers": [offer]}
    hostile = record.model_copy(update=update)
    monkeypatch.setattr(facts, "load", lambda kind, id: hostile)
    page = "\n".join([*facts_section(hostile), *offers_table([hostile], named=True)])
    assert "</script>" not in page and "<b>" not in page and "`c`" not in page
    asked = [BANDWIDTH, *facts.offers(hostile)]
    assert re.fullmatch(r"[a-z0-9/.:@_-]+", asked[1])
    found = numberbox.data(asked, {})
    shown = numberbox.script(found)
    assert shown.count("</") == 1 and HOSTILE in json.dumps(found, ensure_ascii=False).replace(
        "\\\\", "\\"
    ).replace('\\"', '"')
    for id, forms in zip(asked, filled(found, asked), strict=True):
        entry = cite.of_fact(facts.recorded(id)).model_copy(update={"commit": UNSTAMPED})
        assert forms == [citing.written(entry, form) for form in citing.FORMS]
    assert unescape(numberbox.link('x"><i>')) == '<a class="num" data-number="x"><i>">'
    assert "<i>" not in numberbox.link('x"><i>')
