"""The claims of the source documents: every verdict computed, every text backed, nothing run."""

import ast
import inspect
import json
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest
import yaml

from inferecon import claims as package
from inferecon import cli
from inferecon.claims import (
    Check,
    Claim,
    differences,
    documents,
    exhibits,
    judge,
    judged,
    verdicts,
    working,
)
from inferecon.claims.expression import evaluate
from inferecon.claims.register import FOLDER, KINDS, TOPICS, Verdict
from inferecon.claims.simulations import SIMULATIONS
from inferecon.claims.verdicts import FUNCTIONS, VERDICTS, outcome
from inferecon.errors import BadInput
from inferecon.escape import plain
from inferecon.files import ROOT
from inferecon.laws.catalogue import BY_ID, DERIVATIONS
from inferecon.pages import claims as filter_part
from inferecon.report.claim_blocks import claim_block, link, parts_table, place, shown, times
from inferecon.report.claims import claims_pages, index_page

exhibits_module = sys.modules[exhibits.__module__]  # the package's name of it is the function

CLAIMS = [claim for document in documents() for claim in document.claims]
BY_NAME = {item.claim.id: item for item in judged()}
every_claim = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
every_document = pytest.mark.parametrize("document", documents(), ids=lambda d: f"d{d.document}")


def a_claim(*checks, **changed):
    """A claim with some checks, for the rules alone."""
    given = {
        "id": "x-1",
        "lines": [1],
        "section": "s",
        "kind": "formula",
        "topics": ["memory"],
        "claim": "c",
        "would_need": "n",
        "checks": list(checks),
        "consequence": "d",
        "expected": "reproduces",
    }
    return Claim.model_validate(given | changed)


def equal(claimed, ours, kind="arithmetic", **more):
    return {"kind": kind, "claimed": claimed, "ours": ours, **more}


def verdict_of(*checks, **changed):
    return judge(1, a_claim(*checks, **changed)).verdict


# The register ----------------------------------------------------------------------------------


def test_there_are_192_claims_in_three_documents():
    assert [len(document.claims) for document in documents()] == [42, 80, 70]


def test_ids_are_unique_and_those_on_file_so_that_a_link_to_a_claim_keeps_working():
    found = [claim.id for claim in CLAIMS]
    assert len(set(found)) == 192
    assert found == (FOLDER / "ids.txt").read_text(encoding="utf-8").split()
    assert all(claim.anchor == f"claim-{claim.id}" for claim in CLAIMS)


@every_document
def test_every_line_of_a_document_is_blank_or_in_a_claim(document):
    covered = {line for claim in document.claims for line in claim.lines}
    assert covered | set(document.blank) >= set(range(1, document.lines + 1))
    assert max(covered) <= document.lines and min(covered) >= 1


@every_document
def test_claims_stand_in_the_order_of_the_document(document):
    first = [min(c.lines) for c in document.claims if c.id != "s0-table-seq-lengths"]
    assert first == sorted(first)  # the one exception sums up the rows of a table


@every_claim
def test_a_claim_is_checked_or_says_how_it_was_read(claim):
    if claim.computed:
        assert any(check.decides for check in claim.checks)
    else:
        assert claim.checks[0].verdict and len(claim.checks[0].read) > 5


@every_claim
def test_a_claim_says_what_it_needs_and_what_follows(claim):
    texts = (claim.claim, claim.would_need, claim.consequence, claim.section)
    assert all(text == text.strip() and text for text in texts)
    assert claim.correction or claim.caveat or claim.remark
    if claim.expected == "unverifiable":
        assert claim.lacks and claim.measure


def test_only_an_advertisement_and_an_opinion_are_read_and_not_computed():
    read = {claim.id for claim in CLAIMS if not claim.computed}
    assert read == {"s3-mirror-link", "s3-context"}


@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.measure], ids=lambda claim: claim.id)
def test_a_measurement_says_what_would_decide(claim):
    quantity, *verdict = claim.measure.split(". ")
    assert len(quantity) > 60 and verdict, claim.measure


def test_the_words_of_the_schema_are_those_that_pages_show():
    assert set(get_args(Verdict)) == set(VERDICTS)
    assert {claim.kind for claim in CLAIMS} == set(KINDS)
    assert {topic for claim in CLAIMS for topic in claim.topics} == set(TOPICS)


@every_document
def test_the_data_is_in_our_own_words(document):
    text = (FOLDER / f"document-{document.document}.yaml").read_text(encoding="utf-8")
    text += (FOLDER / "exhibits.yaml").read_text(encoding="utf-8")
    assert not re.search(r"[\u3000-\u9fff\uff00-\uffef]", text)  # the documents are Chinese


# Verdicts --------------------------------------------------------------------------------------


def test_every_verdict_is_the_expected_one_and_every_text_is_backed():
    assert differences() == []


@pytest.mark.parametrize(
    "id, verdict",
    [
        ("s0-kv-cache", "contradicted"),
        ("s0-ttft-formula", "dimensional_error"),
        ("s1-cost-function", "dimensional_error"),
        ("s1-batcher-get-batch", "contradicted"),
        ("s3-energy-formula", "dimensional_error"),
        ("s3-40p2-kwh", "arithmetic_error"),
        ("s3-config-671b", "reproduces"),
        ("s1-sm-util-60", "unverifiable"),
        ("s0-weight-bytes", "correct_with_caveat"),
    ],
)
def test_the_verdicts_a_reader_will_look_for(id, verdict):
    assert BY_NAME[id].verdict == verdict


def test_a_verdict_that_changed_is_one_line_and_exit_code_1(monkeypatch, capsys):
    first, *others = judged()
    changed = first._replace(claim=first.claim.model_copy(update={"expected": "contradicted"}))
    monkeypatch.setattr(verdicts, "judged", lambda: (changed, *others))
    assert differences() == [f"{first.claim.id} contradicted -> {first.verdict}"]
    monkeypatch.setattr(sys, "argv", ["inferecon", "claims", "--check"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 1
    assert capsys.readouterr().out == f"{first.claim.id} contradicted -> {first.verdict}\n"


def test_a_text_that_is_no_longer_backed_is_told(monkeypatch):
    first, *others = judged()
    changed = first._replace(claim=first.claim.model_copy(update={"backed": ["1 == 2"]}))
    monkeypatch.setattr(verdicts, "judged", lambda: (changed, *others))
    assert differences() == [f"{first.claim.id} says what does not hold: 1 == 2"]


def test_a_changed_law_value_changes_the_verdict():
    stated = next(c for c in BY_NAME["s0-kv-cache"].claim.checks if c.kind == "law")
    assert not outcome(stated).passes
    assert outcome(stated.model_copy(update={"claimed": 70.272})).passes


def test_the_rule_of_verdicts():
    right, wrong = equal(2, "1 + 1"), equal(2, "1 + 2")
    assert verdict_of(right) == "reproduces"
    assert verdict_of(right, caveat="but") == "correct_with_caveat"
    assert verdict_of(right, lacks=["the batch"]) == "unverifiable"
    assert verdict_of(wrong) == "arithmetic_error"
    assert verdict_of(wrong, lacks=["the batch"]) == "arithmetic_error"
    assert verdict_of(right, {**wrong, "fails": "contradicted"}) == "contradicted"
    assert verdict_of(right, {**wrong, "decides": False}) == "reproduces"
    record = equal(60, 'fact("models", "deepseek-v3", "n_layers")', "record")
    assert verdict_of(record) == "contradicted"
    assert verdict_of(record, wrong) == "contradicted"  # the first that fails decides
    assert verdict_of(wrong, record) == "arithmetic_error"


@pytest.mark.parametrize(
    "ours, relation, passes",
    [
        (1.0, "equal", True),
        (1.009, "equal", True),
        (1.02, "equal", False),
        (0.5, "at_most", True),
        (1.02, "at_most", False),
        (2.0, "at_least", True),
        (0.98, "at_least", False),
    ],
)
def test_a_comparison_within_one_percent(ours, relation, passes):
    assert (
        outcome(Check(kind="arithmetic", claimed=1, ours=ours, relation=relation)).passes is passes
    )


@pytest.mark.parametrize(
    "equation, units, verdict",
    [
        ("t = b / r", {"t": "second", "b": "byte", "r": "byte/second"}, "reproduces"),
        ("t = b / r", {"t": "second", "b": "byte", "r": "FLOP/second"}, "dimensional_error"),
        ("e = p * t", {"e": "kWh", "p": "watt", "t": "hour"}, "reproduces"),
        ("e = p + t", {"e": "kWh", "p": "watt", "t": "hour"}, "dimensional_error"),
        ("x = a * b ** 2", {"x": "elem", "a": "elem", "b": ""}, "reproduces"),
    ],
)
def test_units_of_an_equation(equation, units, verdict):
    assert verdict_of({"kind": "dimension", "equation": equation, "units": units}) == verdict


@pytest.mark.parametrize(
    "check, said",
    [
        (equal(1, 'fact("models", "deepseek-v3", "n_layers")'), "arithmetic calls fact"),
        (equal(1, "1", "law"), "a law check calls none of value, count"),
        (equal(1, "1", "simulation"), "a simulation check calls none of"),
        (equal(1, 'fact("models", "deepseek-v9", "n_layers")', "record"), "deepseek-v3"),
        (equal(1, 'count("deepseek-v3", "n_layer")', "law"), "did you mean n_layers"),
        (equal(1, 'fact("hardware", "h20", "peak_flops@fp4")', "record"), "is missing"),
        (equal(1, "1 / 0"), "cannot be computed"),
        (equal(True, "1"), "cannot be compared"),
        ({"kind": "dimension", "equation": "a + b", "units": {}}, "is no equation"),
        ({"kind": "dimension", "equation": "a = 'b'", "units": {"a": "s"}}, "no side of"),
        ({"kind": "dimension", "equation": "a = b", "units": {"a": "lightyear"}}, "no unit"),
    ],
)
def test_a_check_that_cannot_run_names_the_claim_and_the_reason(check, said):
    with pytest.raises(BadInput, match=re.escape(said)) as error:
        verdict_of(check)
    assert str(error.value).startswith("x-1: ")


@pytest.mark.parametrize(
    "check",
    [
        equal(1, "1", verdict="reproduces"),
        {"kind": "reading"},
        {"kind": "law", "claimed": 1},
        {"kind": "dimension"},
        {"kind": "guess", "claimed": 1, "ours": 1},
    ],
)
def test_a_check_without_its_parts_or_with_a_typed_verdict_is_refused(check):
    with pytest.raises(ValueError):
        a_claim(check)


# What expressions may call ---------------------------------------------------------------------


def test_what_was_looked_up_is_used_by_a_claim_and_says_how_it_was_found():
    data = "".join((FOLDER / f"document-{n}.yaml").read_text(encoding="utf-8") for n in (1, 2, 3))
    text = re.sub(r"\s+", " ", data)
    for id, exhibit in exhibits().items():
        for name, finding in exhibit.facts.items():
            assert f'found("{id}", "{name}")' in text, f"{id}: {name} is used by no claim"
            assert len(finding.how) > 15


def test_a_measured_row_is_found_by_its_conditions():
    row = {"model": "Qwen2.5-7B", "fmt": "bf16", "batch": 1.0, "context": 1024.0}
    assert FUNCTIONS["measured"]("decode", "itl_ms", **row) == 4.7489


def test_claims_are_counted_by_line_and_kind():
    assert FUNCTIONS["claims_made"](2, 173, 176) == 4
    assert FUNCTIONS["claims_made"](1, 1, 83, "derived_number") == 0
    assert sum(FUNCTIONS["claims_made"](n, 1, 1000) for n in (1, 2, 3)) == 192


def test_a_law_beside_the_scenario_takes_what_it_needs_by_name():
    # M/D/1: 0.1 s at 8 a second is 0.8 busy; 0.1 * 0.8 / (2 * 0.2) = 0.2 s
    wait = FUNCTIONS["value"](
        "deepseek-v3", "h200-sxm", "fp8", "wait_fixed", service_time=0.1, arrival_rate=8.0
    )
    assert wait == pytest.approx(0.2)


def test_the_price_asked_for_is_that_of_its_kind():
    assert FUNCTIONS["price"]("h100-sxm", "Nebius") == pytest.approx(2.95)
    assert FUNCTIONS["price"]("h100-sxm", "Nebius", "spot") == pytest.approx(1.25)


@pytest.mark.parametrize(
    "text, said",
    [
        ('found("deepseek-v9", "x")', "no exhibit 'deepseek-v9'"),
        ('found("deepseek-v3-code", "lines_generat")', "did you mean lines_generate"),
        ('measured("../sources", "x")', "no measurements '../sources'"),
        ('measured("decode", "itl_ms", batch=1)', "rows of decode.csv"),
        (
            'measured("decode", "itl", model="Qwen2.5-7B", fmt="bf16", batch=1, context=1024)',
            "no column 'itl'",
        ),
        ('claims_made(1, 1, 83, "derived")', "no kind of claim 'derived'"),
        ('value("deepseek-v3", "h200-sxm", "fp8", "itl", batches=1)', "did you mean batch"),
        ('value("deepseek-v3", "h200-sxm", "fp8", "wait_fixed")', "wait_fixed of"),
        ('price("h100-sxm", "Nebius", "barter")', "no barter offer of Nebius"),
    ],
)
def test_a_call_for_what_is_not_there_is_refused_by_name(text, said):
    with pytest.raises(BadInput, match=re.escape(said)):
        evaluate(text, FUNCTIONS)


def test_exhibits_that_are_none_are_refused(tmp_path, monkeypatch):
    for text, said in (
        ("x: {name: n, source: nowhere, facts: {}}", "no source 'nowhere'"),
        ("x: {name: n, source: dsv3, facts: {a: {value: 1}}}", "how: Field required"),
        ("x: [", "cannot be read"),
    ):
        (tmp_path / "exhibits.yaml").write_text(text, encoding="utf-8")
        monkeypatch.setattr(exhibits_module, "FOLDER", tmp_path)
        exhibits.cache_clear()
        with pytest.raises(BadInput, match=said):
            exhibits()
    exhibits.cache_clear()


# The language of expressions --------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, value",
    [
        ("2 * 61 * 7168 * 2", 1748992),
        ("-3 ** 2 + 1 / 4", -8.75),
        ("round(log(8) / log(2)) == 3 and 1 < 2 <= 2", True),
        ("max(1, abs(-4), ceil(2.1)) - floor(2.9) - min(1, 2)", 1),
        ("not (1 == 2) or 1 > 2", True),
        ("1e3", 1000),
    ],
)
def test_what_the_language_knows(text, value):
    assert evaluate(text, {}) == value


@pytest.mark.parametrize(
    "hostile",
    [
        "__import__('os').system('true')",
        "().__class__.__bases__",
        "open('/etc/passwd')",
        "value.__globals__",
        "(lambda: 1)()",
        "[x for x in (1, 2)]",
        "{1: 2}",
        "f'{1}'",
        "'a' * 1000000000",
        "9 ** 9 ** 9",
        "2.0 ** 1e308",
        "1 if True else 2",
        "(x := 1)",
        "x",
        "1 << 999999",
        "max(*(1, 2))",
        "max(**{'a': 1})",
        "fact('models', '../../secrets', 'n_layers')",
        "1; 2",
        "import os",
        "",
        "(" * 5000,
        "1 + " * 600 + "1",
        "True + 1",
        "1 and 2",
        "1j",
        "None",
        "...",
    ],
)
def test_hostile_expressions_are_refused_in_one_sentence(hostile):
    with pytest.raises(BadInput) as error:
        evaluate(hostile, FUNCTIONS)
    assert "\n" not in str(error.value)


def test_no_code_of_the_package_runs_text():
    forbidden = {"eval", "exec", "compile", "__import__", "sympify"}
    for path in Path(inspect.getfile(package)).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                assert name not in forbidden, f"{path.name} calls {name}"


# Simulations ------------------------------------------------------------------------------------


@pytest.mark.parametrize("interval", [10, 25, 50, 60, 80, 100, 200, 400])
def test_the_batcher_serves_the_share_of_a_poll_that_is_young(interval):
    # arrivals are even, so of each interval only the last 50 ms are served: min(1, 50/interval)
    served = SIMULATIONS["batcher_served"](interval)
    assert served == pytest.approx(min(1, 50 / interval), abs=0.03)
    assert SIMULATIONS["oldest_first_served"](interval) == 1


def test_the_cache_is_written_once_for_the_prompt_and_once_for_each_token_fed_back():
    # 3 in, 4 out: prefill writes and yields token 1; tokens 1 to 3 are fed back; token 4 is not
    assert SIMULATIONS["cache_writes"](3, 4) == 4
    assert SIMULATIONS["cache_writes"](3, 1) == 1


def test_passes_with_and_without_a_cache():
    # 3 in, 2 out: without, 3 then 4 tokens; with, 3 then 1
    assert SIMULATIONS["passes_without_cache"](3, 2) == 7
    assert SIMULATIONS["passes_with_cache"](3, 2) == 4


def test_the_mean_gap_is_the_quotient_of_the_ends():
    # gaps 10 and 12 after a first token at 5: (27 - 5) / 2 = 11
    assert SIMULATIONS["gap_mean"](5, 3, 10, 2) == pytest.approx(11)
    assert SIMULATIONS["gap_from_ends"](5, 3, 10, 2) == pytest.approx(11)


def test_one_of_a_hundred_runs_lies_beyond_the_99th_percentile():
    assert SIMULATIONS["samples_beyond"](100, 0.99) == 1
    assert SIMULATIONS["samples_beyond"](1000, 0.99) == 10


def test_two_lanes_take_as_long_as_the_slower_one():
    # 1,000 steps: the device waits for the first 2 ms of host work only
    assert SIMULATIONS["step_of_lanes"](2, 5) == pytest.approx(5.002)
    assert SIMULATIONS["step_of_lanes"](5, 2) == pytest.approx(5.002)


def test_a_clock_that_does_not_wait_reads_the_host():
    # 10 runs of 1 ms of host and 20 ms of device work
    assert SIMULATIONS["clock_of_runs"](10, 1, 20, True) == pytest.approx(21)
    assert SIMULATIONS["clock_of_runs"](10, 1, 20, False) == pytest.approx(1)


def test_a_warm_up_hides_what_is_over_when_it_ends():
    # 10 runs untimed, 100 timed, the first 60 slower by half: 50 of 100 timed runs at 1.5
    assert SIMULATIONS["mean_after_warm_up"](10, 100, 10, 9) == 1
    assert SIMULATIONS["mean_after_warm_up"](10, 100, 60, 1.5) == pytest.approx(1.25)


def test_a_corrected_clock_makes_a_request_young():
    assert SIMULATIONS["age_by_wall_clock"](40, 0) == 40
    assert SIMULATIONS["age_by_wall_clock"](40, -1000) == -960
    assert SIMULATIONS["kept_in_order"](10)


def test_a_batch_that_leaves_as_a_whole_holds_its_slots_to_the_longest_answer():
    # two answers of at most 2 tokens: lengths 1 and 2, so 3 of 4 slot steps make a token
    assert SIMULATIONS["slots_used"](2, 2, 1) == pytest.approx(3 / 4)
    assert SIMULATIONS["slots_used"](1) == 1
    assert 0.5 < SIMULATIONS["slots_used"](64) < 0.52


# Pages ------------------------------------------------------------------------------------------


def shown_in(kind):
    pattern = re.compile(rf"^[`:]{{3,}}\{{{kind}\}}[ \t]*(\S+)", re.MULTILINE)
    pages = (ROOT / "book").glob("*.md")
    return {name for path in pages for name in pattern.findall(path.read_text(encoding="utf-8"))}


def test_every_link_leads_to_a_law_a_derivation_a_page_or_a_claim():
    toc = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text(encoding="utf-8"))
    pages = set(re.findall(r"'file': '([^']+)'", str(toc)))
    known = {
        "law": shown_in("law") & BY_ID.keys(),
        "derivation": shown_in("derivation") & DERIVATIONS.keys(),
        "doc": pages,
        "claim": BY_NAME.keys(),
    }
    targets = [(claim.id, target) for claim in CLAIMS for target in claim.links]
    targets += [(p.builds, target) for d in documents() for p in d.parts for target in p.links]
    for said_by, target in targets:
        kind, _, name = target.partition(":")
        assert name in known[kind], f"{said_by}: {target}"


@every_document
def test_what_a_document_builds_leads_to_commands_that_exist(document):
    commands = {c.name or c.callback.__name__.rstrip("_") for c in cli.app.registered_commands}
    table = "\n".join(parts_table(document.parts))
    for part in document.parts:
        assert set(part.lines) <= set(range(1, document.lines + 1))
        assert all(shlex.split(command)[0] == "inferecon" for command in part.commands)
        assert {shlex.split(command)[1] for command in part.commands} <= commands
        assert part.builds in table and (part.missing or "") in table
    assert table in claims_pages()[f"claims/document-{document.document}"]


def test_what_a_document_does_not_state_stands_beside_and_is_no_comparison():
    beside = {"kind": "arithmetic", "label": "ours", "ours": 7, "decides": False}
    item = judge(1, a_claim(beside, equal(2, 2)))
    assert item.verdict == "reproduces" and item.deciding.ours == 2
    assert "| ours (beside) | not stated | 7 |  | arithmetic |" in "\n".join(claim_block(item))
    with pytest.raises(ValueError):
        a_claim(beside | {"decides": True})


def test_every_claim_has_its_anchor_and_its_verdict_in_words():
    pages = claims_pages()
    for item in judged():
        page = pages[f"claims/document-{item.document}"]
        assert page.count(f"\n({item.claim.anchor})=\n") == 1
        block = "\n".join(claim_block(item))
        assert VERDICTS[item.verdict] in block and block in page
        assert ("Read, not computed" in block) is not item.claim.computed


def test_text_of_a_claim_stays_text():
    item = judge(1, a_claim(equal(1, 1), claim="<script>x</script> {cite}`y` $z$ | [a](b)"))
    block = "\n".join(claim_block(item))
    assert "<script" not in block
    fence = re.escape("`" * 6)
    # in the box to cite only the closing fence is markup, and its text cannot hold one
    box, *others = re.findall(rf"{fence}\{{raw\}} html\n(.*?)\n{fence}", block, re.DOTALL)
    assert not others and "`" not in box
    around = block.replace(box, "")
    assert "{cite}" not in around and "$z$" not in around


def test_the_index_counts_every_claim_and_leads_to_the_worst():
    page = index_page()
    cells = [int(n) for n in re.findall(r'html\?verdict=[\w-]+">(\d+)</a>', page)]
    assert sum(cells) == 192
    assert page.index("claim-s1-rope-12") < page.index("claim-s0-kv-cache")
    assert plain("git show 9b4e9788:inference/generate.py | wc -l") in page
    noted = [item.claim for item in judged() if item.claim.note]
    assert noted and all(plain(claim.note) in page for claim in noted)
    right = [item.claim.id for item in judged() if item.verdict == "reproduces"]
    assert all(f"<claim-{id}>" in page for id in right)


@pytest.mark.parametrize(
    "value, text",
    [
        (True, "yes"),
        ("gqa", "gqa"),
        (70.272, "70.272"),
        (40.2, "40.2"),
        (3.8e18, "3.8 × 10¹⁸"),
        (151936.0, "151,936"),
        (0, "0"),
        (-2.5, "−2.5"),
        (2.06e-5, "2.06 × 10⁻⁵"),
    ],
)
def test_how_a_value_is_written(value, text):
    assert shown(value) == text


def test_small_pieces_of_a_page():
    assert times(24.888) == "24.9 × too high" and times(0.5) == "2 × too low" and times(1) == ""
    assert place([5]) == "line 5" and place([3, 4, 5, 9]) == "lines 3 to 5, 9"
    assert link("law:ITL") == "law {ref}`ITL <law-itl>`"
    assert link("doc:data/models") == "{doc}`/data/models`"


def test_the_filter_is_loaded_only_where_claims_are():
    added = []
    app = SimpleNamespace(add_js_file=lambda name, **_: added.append(name))
    filter_part.add_script(app, "latency", "", {"body": "<p>no claims</p>"}, None)
    assert added == []
    body = '<div class="claim-filter docutils">'
    filter_part.add_script(app, "claims/document-1", "", {"body": body}, None)
    assert added == ["js/claims.js"] and (ROOT / "book" / "assets" / added[0]).exists()


# Command line -----------------------------------------------------------------------------------


@pytest.fixture
def run(monkeypatch, capsys):
    def go(*arguments):
        monkeypatch.setattr(sys, "argv", ["inferecon", "claims", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code, *capsys.readouterr()

    return go


def test_check_says_how_many_there_are_of_each(run):
    code, out, err = run("--check")
    assert code == 0 and err == ""
    assert out.startswith("192 claims: 19 reproduces, 87 correct_with_caveat, 59 contradicted")


def test_a_document_a_verdict_and_a_topic_can_be_chosen(run):
    code, out, _ = run("--document", "3", "--verdict", "arithmetic_error", "--topic", "energy")
    assert code == 0
    assert out.splitlines()[0].split()[:7] == (
        "s3-40p2-kwh arithmetic_error document 40.2, here 40,038 kWh/Mtok:".split()
    )
    assert out.splitlines()[1] == "1 claim: 1 arithmetic_error"


def test_json_holds_what_was_computed(run):
    code, out, _ = run("--verdict", "dimensional_error", "--json")
    rows = {row["id"]: row for row in json.loads(out)}
    assert code == 0 and set(rows) == {"s0-ttft-formula", "s1-cost-function", "s3-energy-formula"}
    energy = rows["s3-energy-formula"]
    assert energy["outcomes"][0]["here"] == "s·W²" and energy["document"] == 3


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("--document", "4"), "no document 4; known: 1, 2, 3"),
        (("--verdict", "contradictd"), "did you mean contradicted"),
        (("--topic", "energie"), "did you mean energy"),
    ],
)
def test_a_choice_that_does_not_exist_is_one_sentence(run, arguments, said):
    code, out, err = run(*arguments)
    assert code == 2 and out == "" and said in err and err.count("\n") == 1


# Workings --------------------------------------------------------------------------------------


def test_a_check_is_worked_out_with_what_was_put_in_and_its_sources(run):
    """1.555 TB/s of 8 bits at 3.92 pJ: 1.555e12 * 8 * 3.92e-12 = 48.76 W."""
    code, said, wrong = run("--claim", "s3-dram-row")
    assert (code, wrong) == (0, "")
    assert said.startswith("s3-dram-row: unverifiable\n")
    assert "    Put in: 1.555e+12 * 8 * 3.92e-12 = 48.7648\n" in said
    assert "hardware/a100-40gb-sxm.yaml, hbm_bandwidth, PyPI llm-analysis" in said
    assert "asked: ours at most the document's, within 1 %" in said


def test_a_check_names_its_law_and_the_records_of_its_values(run):
    code, said, wrong = run("--claim", "s0-scope-compute-demand")
    assert (code, wrong) == (0, "")
    assert "    Law: ITL\n" in said
    assert "models/deepseek-v3.yaml, hardware/h200-sxm.yaml, formats/fp8.yaml" in said


def test_every_check_is_worked_out_as_it_was_judged():
    for item in judged():
        for one in item.outcomes:
            agrees = dict(working(one).lines)["Verdict"].startswith("agrees")
            assert agrees == one.passes or one.claimed is None, item.claim.id


@pytest.mark.parametrize("more", [["--document", "1"], ["--check"], ["--topic", "moe"]])
def test_one_claim_is_not_chosen_twice(more, run):
    code, said, wrong = run("--claim", "s3-dram-row", *more)
    assert (code, said) == (2, "")
    assert "--claim names one claim" in wrong


def test_an_unknown_claim_is_named(run):
    code, said, wrong = run("--claim", "s3-dram-rov")
    assert (code, said) == (2, "")
    assert "no claim 's3-dram-rov'; did you mean s3-dram-row" in wrong
