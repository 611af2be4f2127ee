"""The page of the speed says what is on file, and nothing else."""

import re

from inferecon.report.speed import editions, page

FOUND = {
    "date": "2026-01-02",
    "commit": "abc",
    "command": "make bench",
    "machine": {
        "system": "Linux",
        "python": "3.12.1",
        "cores": 2,
        "processor": "A <b>processor</b>",
        "memory_gib": 16,
    },
    "versions": {"papermill": "2.7.0"},
    "results": {
        "engine.ratio": {"says": "as fast", "value": 23.4, "unit": "x", "low": 21.0, "high": 25.5},
        "new.thing": {"says": "a thing", "value": 0.5, "unit": "s", "low": None, "high": None},
    },
}


def test_every_figure_on_file_is_on_the_page():
    text = page([FOUND])
    assert re.search(r"\| as fast \| 23\.4 \| 21 \| 25\.5 \| × \| – \|", text)
    assert re.search(r"\| a thing \| 0\.500 \| – \| – \| s \| – \|", text)
    assert "2 cores of" in text and "<b>" not in text and "`make bench`" in text


def test_the_edition_before_stands_beside():
    results = {"engine.ratio": {**FOUND["results"]["engine.ratio"], "value": 19.0}}
    text = page([{**FOUND, "date": "2025-12-01", "results": results}, FOUND])
    assert "| × | 19 |" in text and "edition before was measured on 2025-12-01" in text


def test_without_a_file_the_page_says_what_to_do():
    assert "run `make bench`" in page([])


def test_the_file_names_no_machine():
    for found in editions():
        assert set(found["machine"]) == {"system", "python", "cores", "processor", "memory_gib"}
        assert set(found["results"]["engine.ratio"]) == {"says", "value", "unit", "low", "high"}
