"""Citations: ids stay, every form is well formed, and what a program reads is what computes."""

import json
import re
import sys
from html import unescape
from pathlib import Path

import pytest
import sympy as sp

from inferecon import anchors, cite, citing, cli, export
from inferecon.citebox import box
from inferecon.edition import UNSTAMPED, commit, edition, pages
from inferecon.errors import BadInput
from inferecon.files import BOOK
from inferecon.laws import SERVICE
from inferecon.laws.catalogue import BY_ID, DERIVATIONS, LAWS
from inferecon.numbers import SHOWN
from inferecon.symbols import SYMBOLS

IDS = anchors.published()
NUMBERS = [
    "deepseek-v3/h200-sxm/fp8:itl",
    "counts/deepseek-v3:params_total",
    "formats/nvfp4:format_width",
]
every_form = pytest.mark.parametrize("form", citing.FORMS)


# Ids -------------------------------------------------------------------------------------------


def test_every_id_that_was_published_has_its_place_and_every_new_one_is_on_file():
    listed, moved = anchors.read()
    assert anchors.complaints(listed, moved, IDS) == []
    assert set(IDS) - set(listed) == set(), "run make accept"
    assert anchors.ANCHORS.read_text(encoding="utf-8") == anchors.text(listed, moved)


def test_ids_and_anchors_are_unique():
    assert not BY_ID.keys() & DERIVATIONS.keys()
    assert len({anchors.label(id) for id in IDS}) == len(IDS)
    assert all(re.fullmatch(r"[a-z0-9-]+", anchors.label(id)) for id in IDS)


def test_a_lost_id_is_named_until_a_redirect_says_where_it_went():
    (said,) = anchors.complaints(["OLD", "ITL"], {}, ["ITL"])
    assert said.startswith("OLD was published and is gone")
    assert anchors.complaints(["OLD", "ITL"], {"OLD": "ITL"}, ["ITL"]) == []
    (said,) = anchors.complaints(["OLD"], {"OLD": "ELSEWHERE"}, ["ITL"])
    assert said == "redirect OLD -> ELSEWHERE: there is no ELSEWHERE"
    (said,) = anchors.complaints(["ITL"], {"ITL": "TTFT"}, ["ITL", "TTFT"])
    assert said == "redirect ITL -> TTFT: ITL still exists"


def test_a_redirect_is_followed(monkeypatch):
    monkeypatch.setattr(anchors, "redirects", lambda: {"LATENCY": "ITL"})
    assert cite.entry("LATENCY").id == "ITL"


def test_the_file_of_ids_is_read_as_it_is_written(tmp_path):
    path = tmp_path / "anchors.yaml"
    assert anchors.read(path) == ([], {})
    path.write_text(anchors.text(["B", "A/step 2"], {"C": "B"}), encoding="utf-8")
    assert anchors.read(path) == (["A/step 2", "B"], {"C": "B"})


# Every law is shown (test_book), cited and used ----------------------------------------------

USED_ELSEWHERE = {
    "PARAM-COPIES": "counting.py compares with checkpoints that store a table twice",
    "FLOP-PREFILL-DEVICE": "book.py places prefill on the roofline",
    "MATRICES-PER-TOKEN": "a count of chapter 3 on its own",
    "THROUGHPUT-DECODE": "the limit of large batches, analysis.py",
}


def test_every_law_is_used_by_a_law_a_derivation_or_published():
    used = set(SHOWN)
    for law in LAWS:
        used |= law.needs
    for proof in DERIVATIONS.values():
        used |= {symbol for eq, _ in proof.steps for symbol in eq.free_symbols}
    idle = {law.id for law in LAWS if law.symbol not in used and law.symbol in SERVICE.laws}
    assert idle <= USED_ELSEWHERE.keys()


def test_a_law_outside_the_scenarios_is_shown_or_used():
    # it has no number in a scenario: it must stand on a page by itself, or be used
    used = {symbol for law in LAWS for symbol in law.needs}
    used |= {x for proof in DERIVATIONS.values() for eq, _ in proof.steps for x in eq.free_symbols}
    where = pages()
    outside = [law for law in LAWS if law.symbol not in SERVICE.laws]
    assert [law.id for law in outside if law.id not in where and law.symbol not in used] == []


# Forms -----------------------------------------------------------------------------------------


def test_every_id_can_be_cited_in_every_form():
    for id in [*IDS, *NUMBERS]:
        check_forms(id)


def check_forms(id):
    found = cite.entry(id)
    assert found.id == id and found.says and found.source and found.edition == edition()
    texts = {form: citing.written(found, form) for form in citing.FORMS}
    assert all(edition() in text for text in texts.values())
    assert texts["markdown"].startswith(f"**{id}** ({found.kind})")
    assert texts["markdown"].count("$$") == (2 if found.equation else 0)
    for form in ("latex", "bibtex"):
        text = texts[form].replace(r"\{", "").replace(r"\}", "")
        assert text.count("{") == text.count("}"), form
    key = re.match(r"@misc\{([a-z0-9-]+),\n", texts["bibtex"])
    assert key and texts["bibtex"].endswith("\n}")
    data = json.loads(texts["json"])
    assert data["id"] == id and data["url"] == found.url and "commit" not in data


def test_an_address_names_a_page_of_the_book():
    for id in IDS:
        page, _, anchor = cite.url(id).partition("#")
        assert (BOOK / page).with_suffix(".md").exists()
        listed = f"row-{anchors.slug(id)}" if id in BY_ID else None
        assert anchor in (anchors.label(id), listed), f"{id} is on no page"


def test_a_number_is_cited_with_its_value_law_and_page():
    found = cite.entry(NUMBERS[0])
    value, unit, *_ = cite.ledger()[NUMBERS[0]]
    assert found.value.endswith(" ms") and unit == "ms"
    assert float(found.value.split()[0]) == pytest.approx(value, rel=5e-3)
    assert found.source == "law ITL"
    assert found.url == "models/deepseek-v3.html#num-deepseek-v3-h200-sxm-fp8-itl"
    assert cite.entry(NUMBERS[1]).url == "chapters/counts.html#num-counts-deepseek-v3-params_total"


def test_a_step_may_be_written_with_a_hyphen():
    assert cite.entry("BATCH-FIT/step-2").id == "BATCH-FIT/step 2"


@pytest.mark.parametrize(
    ("id", "sentence"),
    [
        ("ITLL", "nothing has the id 'ITLL'; did you mean ITL"),
        ("BATCH-FIT/step 9", "BATCH-FIT has steps 1 to 4, no step 9"),
        ("BATCH-FIT/step 0", "no step 0"),
        ("ITL/step 1", "nothing has the id"),
        ("deepseek-v3/h200-sxm/fp8:itll", "did you mean deepseek-v3/h200-sxm/fp8:itl"),
        ("", "nothing has the id ''"),
    ],
)
def test_what_does_not_exist_is_refused_with_the_nearest(id, sentence):
    with pytest.raises(BadInput, match=re.escape(sentence)):
        cite.entry(id)


def test_no_text_of_an_entry_gets_into_the_page_as_markup():
    hostile = cite.entry("ITL").model_copy(
        update={
            "id": '"><script>',
            "says": "</div><script>alert(1)</script> & `x` $y$ 50 %_#{}~^\\",
        }
    )
    shown = "\n".join(box(hostile))
    assert "<script" not in shown and shown.count("</div>") == len(citing.FORMS)
    assert r"50 \%\_\#\{\}\textasciitilde{}" in unescape(shown)
    assert r"\`x\` \$y\$" in citing.written(hostile, "markdown")
    assert json.loads(citing.written(hostile, "json"))["says"] == hostile.says


def test_a_box_holds_all_forms_and_nothing_that_changes_from_build_to_build():
    shown = "\n".join(box(cite.of_law(BY_ID["ITL"])))
    assert shown.count('class="form"') == len(citing.FORMS) and edition() in shown
    assert shown.count(UNSTAMPED) == len(citing.FORMS) and commit()[:12] not in shown
    assert len(shown) < 4000


# Scenario --------------------------------------------------------------------------------------

SCENARIO = "deepseek-r1-distill-llama-8b/h200-sxm/bf16"


@every_form
def test_numbers_of_a_scenario_are_put_in(form):
    found = cite.in_scenario(cite.entry("ITL"), SCENARIO)
    value = cite.ledger()[f"{SCENARIO}:itl"][0]
    shown = float(re.search(r"([\d.]+)\\ \\text\{ms\}", found.worked)[1])
    assert shown == pytest.approx(value, rel=5e-3) and found.remark == ""
    assert f"{SCENARIO}, batch 32, 1,024 tokens in" in citing.written(found, form)


def test_a_special_case_says_where_it_is_not_the_case():
    # one device, memory-bound at batch 32: the floor is the latency itself
    assert cite.in_scenario(cite.entry("ITL-MEMORY-BOUND"), SCENARIO).remark == ""
    # eight devices exchange; the special case leaves that out
    several = cite.in_scenario(cite.entry("ITL-MEMORY-BOUND"), "deepseek-v3/h200-sxm/fp8")
    assert several.remark.startswith("a special case: here the law of itl gives another value")
    # four-bit weights on the H20 are compute-bound
    bound = cite.in_scenario(
        cite.entry("ITL-MEMORY-BOUND"), "deepseek-r1-distill-llama-8b/h20/int4-awq"
    )
    assert bound.remark.startswith("does not hold here: it needs t_memory_decode >= t_math_decode")


@pytest.mark.parametrize(
    ("id", "scenario", "sentence"),
    [
        ("ITL", "llama-3.1-8b/h200-sxm", "write MODEL/HARDWARE/FORMAT"),
        ("ITL", "llama-3.1-8b/h200/bf16", "did you mean"),
        ("COST-TOKEN", "llama-3.1-8b/h20/bf16", "no record states price"),
        ("WIDTH", SCENARIO, "no record states block_overhead"),
    ],
)
def test_a_scenario_without_the_numbers_is_refused(id, scenario, sentence):
    with pytest.raises(BadInput, match=sentence):
        cite.in_scenario(cite.entry(id), scenario)


# Command line ----------------------------------------------------------------------------------


@pytest.fixture
def inferecon(monkeypatch, capsys, tmp_path):
    """Return a function that runs the command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["inferecon", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code, *capsys.readouterr()

    return run


def test_the_command_cites_with_edition_and_commit(inferecon):
    code, out, err = inferecon("cite", "ITL", "--as", "json", "--scenario", SCENARIO)
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert data["edition"] == edition() and data["scenario"].startswith(f"{SCENARIO}, batch")
    assert re.fullmatch(r"[0-9a-f]{40}(\+changed)?|unknown", data["commit"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ITTL"], "did you mean ITL"),
        (["ITL", "--as", "word"], "no form 'word'; known: bibtex, json, latex, markdown"),
        (["ITL", "--scenario", "x"], "write MODEL/HARDWARE/FORMAT"),
    ],
)
def test_a_mistake_is_one_sentence_with_exit_code_two(inferecon, arguments, sentence):
    code, out, err = inferecon("cite", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and err.count("\n") == 1 and sentence in err


def test_outside_a_checkout_the_commit_is_unknown(monkeypatch, tmp_path):
    monkeypatch.setattr("inferecon.edition.ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert commit() == "unknown"


# derivations.json ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    export.write(folder)
    return folder


def test_the_file_is_read_back_by_its_schema(written):
    text = (written / export.NAME).read_text(encoding="utf-8")
    found = export.Mathematics.model_validate_json(text)
    assert found == export.mathematics() and found.edition == edition()
    assert [law.id for law in found.laws] == list(BY_ID)
    assert [proof.id for proof in found.derivations] == list(DERIVATIONS)
    assert found.ids == IDS and {x.name for x in found.symbols} == set(SYMBOLS)
    schema = json.loads((written / export.SCHEMA).read_text(encoding="utf-8"))
    assert set(schema["required"]) == set(json.loads(text))


def test_the_file_rebuilds_every_equation():
    data = export.mathematics()
    for law in data.laws:
        assert sp.sympify(law.equation.right) == BY_ID[law.id].eq.rhs, law.id
        assert law.needs == sorted(x.name for x in BY_ID[law.id].needs)
    for proof in data.derivations:
        for step, (eq, why) in zip(proof.steps, DERIVATIONS[proof.id].steps, strict=True):
            assert sp.sympify(step.equation.right) == eq.rhs and step.why == why
    defined = {x.name: x.law for x in data.symbols if x.law}
    assert defined == {law.symbol.name: law.id for law in LAWS}


def test_two_exports_are_the_same_bytes(written, tmp_path):
    export.write(tmp_path)
    for name in (export.NAME, export.SCHEMA):
        assert (tmp_path / name).read_bytes() == (Path(written) / name).read_bytes()


def test_a_claim_is_cited_with_its_verdict_and_place():
    found = cite.entry("s3-40p2-kwh")
    assert (found.kind, found.value) == ("claim", "arithmetic error")
    assert found.url == "claims/document-3.html#claim-s3-40p2-kwh"
    assert "arithmetic error" in citing.written(found)
