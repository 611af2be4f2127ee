"""Rows of tables whose figures have no ids: their box is said once, and its commands work."""

import json
import re
import shlex

import pytest

from inferecon import cli, numberbox, rowbox, truth
from inferecon.cli import app
from inferecon.errors import BadInput
from inferecon.files import BOOK, ROOT
from inferecon.report.printed import printed
from inferecon.rowbox import ONE_ROW, PAGES, ROW, VALIDATION

TOLD = [kind for tables in PAGES.values() for kind in tables.values()]
TOLD += [rowbox.DRAWN, *(kind for word, kind in rowbox.KINDS.items() if word != "note")]
COMMANDS = {command for kind in TOLD for command in kind.commands}


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_are_in_the_book_and_those_of_notebooks_name_theirs(page):
    assert f"file: {page}\n" in (BOOK / "_toc.yml").read_text(encoding="utf-8")
    if page.startswith("chapters/"):
        name = page.removeprefix("chapters/")
        used = {command for kind in PAGES[page].values() for command in kind.commands}
        assert used == {f"inferecon run out.ipynb --notebook notebooks/{name}.ipynb"}
        assert (ROOT / "notebooks" / f"{name}.ipynb").exists()


def test_the_commands_and_the_files_are_there():
    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    for command in COMMANDS:
        program, name, *rest = shlex.split(command)
        if program == "make":
            assert f"\n{name}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
            continue
        assert program == "inferecon" and name.rstrip("_") in known, command
        assert all((ROOT / word).exists() for word in rest if "/" in word), command
    assert all((ROOT / kind.at.replace(ROW, "1")).exists() for kind in TOLD)
    assert not any("inferecon build" in command for command in COMMANDS)


def test_every_way_to_know_has_a_mark_and_no_other():
    for kind in TOLD:
        assert any(mark in kind.how for mark in "≈✓"), kind


def test_the_texts_of_a_page_stand_in_it_once():
    body = numberbox.explained("", "reference/validation", {})
    data = json.loads(body.partition('id="numbers-data">')[2].partition("</script>")[0])
    rows = data["rows"]
    assert data["page"] == "reference/validation" and len(rows["tables"]) == len(VALIDATION)
    assert rows["tables"]["head row"] == rows["tables"]["head id"]
    assert rows["kinds"][rows["tables"]["head id"]] == {
        "says": ONE_ROW.says,
        "how": ONE_ROW.how,
        "commands": [*ONE_ROW.commands],
        "at": ONE_ROW.at,
    }
    assert rows["sources"]["argonne-lcf/LLM-Inference-Bench"] == (
        "licence: BSD-3-Clause; dated 2024-10"
    )
    assert len(body.encode()) < 8000


def test_a_page_with_a_chart_tells_its_points_and_another_page_nothing():
    chart = f"<details {rowbox.MARK}>"
    assert rowbox.told("latency", chart)["tables"] == {"chart": 0}
    assert rowbox.told("latency") == {}
    assert numberbox.explained("<p>None.</p>", "latency", {}) == "<p>None.</p>"
    assert "chart" not in rowbox.told("chapters/figures", chart)["tables"]


def test_the_points_of_a_page_of_results_are_swept_again():
    chart = f"<details {rowbox.MARK}>"
    (kind,) = rowbox.told("models/phi-4", chart)["kinds"]
    assert kind["commands"] == ("inferecon sweep --models phi-4 --out my-sweep",)


# Sentences -------------------------------------------------------------------------------------


def test_a_sentence_without_a_figure_has_no_box_and_what_it_says_is_no_markup():
    assert rowbox.figures("None fits.", "refused") == "None fits."
    said = rowbox.figures("<b>24.7</b> GB", "refused", "phi-4 l4 bf16")
    assert said.startswith('<span class="figures" data-kind="refused" data-name="phi-4 l4 bf16">')
    assert "<b>" not in said and "24.7" in said


def test_what_stands_on_a_page_is_told_with_the_equation_of_its_law():
    body = numberbox.explained(rowbox.figures("24.7 GB", "refused"), "hardware/l4", {}, str.lower)
    data = json.loads(body.partition('id="numbers-data">')[2].partition("</script>")[0])
    (kind,) = data["rows"]["kinds"]
    assert data["rows"]["tables"] == {"refused": 0} and kind["place"].endswith("#law-memory-needed")
    assert '<template data-law="MEMORY-NEEDED">memory-needed</template>' in body
    assert "(row)" in data["forms"]["row"]["markdown"]


def test_the_checks_of_a_claim_stand_on_the_page_of_its_document_alone():
    assert rowbox.told("claims/index")["more"] == {}
    more = rowbox.told("claims/document-3")["more"]
    assert "claim-s0-itl-kv-read" not in more
    first, beside, sentences = more["claim-s3-dram-row"]
    assert ["Put in", "1.555e+12 * 8 * 3.92e-12 = 48.7648"] in first["lines"]
    assert ["Holds", "abs(1555000000000.0 * 8 * 3.92e-12 - 48.76) < 0.01"] in sentences["lines"]
    assert any(text.startswith("the document states no value") for _, text in beside["lines"])


# Tables of one page ----------------------------------------------------------------------------


def test_a_section_s_table_is_printed_and_no_other():
    marks, all_ = printed("reference/speed", "the-notebooks"), printed("reference/speed")
    assert marks in all_ and len(marks) < len(all_)
    assert marks.startswith("| what | median or best |") and "&#" not in all_
    assert "document 1 document 2" in printed("claims/index", "by-topic")


def test_the_numbers_of_a_chapter_s_chart_are_printed():
    """Half of the time busy, exponential times: one service of waiting, 0.5 / (1 - 0.5)."""
    said = printed("load", "")
    assert '"service times that vary, exponential",0.5,1.0' in said.splitlines()


@pytest.mark.parametrize(
    ("page", "section", "says"),
    [
        ("reference/sped", "", "no page 'reference/sped' to print; did you mean reference/speed"),
        ("reference/speed", "the-notebook", "no section 'the-notebook'; did you mean the-noteb"),
        ("references", "", "no page 'references' to print"),
    ],
)
def test_a_page_or_section_that_is_not_there_is_named(page, section, says):
    with pytest.raises(BadInput, match=re.escape(says)):
        printed(page, section)


# Measured rows ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("id", "figures"), [("lt-aic-00767", 1), ("lab-h200-pre-0164", 1)])
def test_the_command_prints_a_measured_row_with_its_source(id, figures, monkeypatch, capsys):
    command = ONE_ROW.commands[0].replace(ROW, id)
    monkeypatch.setattr("sys.argv", command.split())
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert said.count(f"{id}: ") == figures
    for word in (
        "source: ",
        "source_locator: ",
        "date: ",
        "license: ",
        "predicted without its row",
    ):
        assert word in said


def test_a_row_is_printed_as_it_was_measured_and_held_out():
    """85.2 ms measured, 14.2 predicted: the two that the page of the validation shows."""
    (row,) = truth.shown("lt-aic-00767")
    assert float(row["value"]) == pytest.approx(85.2, rel=1e-3)
    assert float(row["predicted without its row"]) == pytest.approx(14.2, rel=5e-3)
    assert row["license"] == "Apache-2.0" and "predicted without its row: 14.1" in truth.as_text(
        [row]
    )


def test_an_unknown_row_is_named():
    with pytest.raises(BadInput, match="no measured row 'lt-aic-0076x'; did you mean"):
        truth.shown("lt-aic-0076x")


def test_every_source_of_a_measured_row_has_its_licence():
    found = truth.licences()
    assert set(found) == {row["source"] for row in truth.rows()}
    assert all(text.startswith("licence: ") and "; dated 20" in text for text in found.values())
