"""Rows of tables whose figures have no ids: their box is said once, and its commands work."""

import json
import shlex

import pytest

from inferecon import cli, numberbox, rowbox, truth
from inferecon.cli import app
from inferecon.errors import BadInput
from inferecon.files import BOOK, ROOT
from inferecon.rowbox import ONE_ROW, PAGES, ROW, VALIDATION

TOLD = [kind for tables in PAGES.values() for kind in tables.values()] + [rowbox.DRAWN]
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
    assert all((ROOT / kind.at).exists() for kind in TOLD)


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
        **ONE_ROW._asdict(),
        "commands": [*ONE_ROW.commands],
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
