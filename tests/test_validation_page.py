"""The page of the validation: misses first, marks told honestly, and text that is only text."""

import re

import numpy as np
import pandas as pd
import pytest
import sympy as sp

from inferecon import symbols as s
from inferecon.calibration import constants as c
from inferecon.calibration import held as h
from inferecon.report import constants, marks, validation

HOSTILE = "<script>alert(1)</script> | `x` [a](b) {ref}`y` $z$"


@pytest.fixture
def held():
    """Sixty rows: an engine at 10 % and one at 50 %, one row a factor of eight off, one unknown."""
    count = 60
    far = np.arange(count) % 2 == 1
    value = np.geomspace(1, 100, count)
    rows = pd.DataFrame(
        {
            "id": [f"row-{i:02d}" for i in range(count)],
            "metric": "tpot_ms",
            "value": value,
            "unit": "ms",
            "model_id": "llama-3.1-8b",
            "hardware_id": np.where(far, "h100-sxm", "h200-sxm"),
            "generation": np.where(far, "engine-b", "engine-a"),
            "precision": "16",
            "source": np.where(far, "source b", "source a"),
            "tier": "A",
            "total": 1.0,
            "static": True,
            "batch_or_concurrency": 1.0,
        }
    )
    for how in h.WAYS:
        rows[how] = value * np.where(far, 1.5, 1.1)
    rows.loc[4, "row"] = 8 * value[4]
    rows.loc[6, list(h.WAYS)] = np.nan
    return h.described(rows)


MARK = {
    "what": "all of it",
    "rows": {"source": "source a", "metric": ["tpot_ms"]},
    "limits": {"cell": {"median": 0.2}, "row": {"median": 0.2, "max": 0.5}},
}


def test_a_score_is_of_the_rows_with_a_prediction(held):
    # 30 rows of source b, each predicted at 1.5 of its value
    found = h.score(held[held.source == "source b"], "row")
    assert found["n"] == 30 and found["coverage"] == 1
    assert found["median"] == pytest.approx(0.5) and found["mape"] == pytest.approx(0.5)
    # 29 of 30 rows of source a have one; the worst is 8 - 1 = 7 off
    found = h.score(held[held.source == "source a"], "row")
    assert (found["n"], found["coverage"]) == (29, pytest.approx(29 / 30))
    assert found["max"] == pytest.approx(7)


def test_an_interval_is_that_of_the_engine_or_else_of_the_kind(held):
    spreads = {
        "decode": {"row": 0.2, "cell": 0.2},
        "decode|engine-b": {"row": 0.5, "cell": 0.3},
    }
    assert h.inside(held[held.generation == "engine-b"], "row", spreads) == 1  # ln 1.5 = 0.405
    assert h.inside(held[held.generation == "engine-b"], "cell", spreads) == 0
    # ln 1.1 = 0.095 is inside 0.2, and one of the 29 is ln 8 = 2.08 off
    assert h.inside(held[held.generation == "engine-a"], "row", spreads) == pytest.approx(28 / 29)
    assert np.isnan(h.inside(held, "row", {}))


def test_a_crossed_share_judges_rows_by_the_spread_of_others(held):
    judged = []

    def narrow(rows):
        judged.append(set(rows.id))
        return [{"class": "decode", "rows": len(rows), "row": "0.2", "cell": "0.2"}]

    # ln 1.1 is inside, ln 1.5 and ln 8 are not: 28 of 59
    assert h.crossed(held, "row", narrow) == pytest.approx(28 / 59)
    assert all(len(ids) < 59 for ids in judged)


def test_misses_are_sorted_and_the_farthest_row_is_first(held):
    text = "\n".join(validation.worst_groups(held))
    assert text.index("source b") < text.index("source a")
    rows = [line for line in validation.worst_rows(held) if line.startswith("| row")]
    assert "8 ×" in rows[1]
    ratios = [float(line.split("|")[5].strip(" ×")) for line in rows[1:]]
    gaps = [abs(np.log(ratio)) for ratio in ratios]
    assert len(rows) == 1 + validation.WORST and gaps == sorted(gaps, reverse=True)
    for line in rows[1:]:  # each prediction inside its own interval
        low, middle, high = map(
            float,
            re.fullmatch(r"([\d.]+) \(([\d.]+)–([\d.]+)\)", line.split("|")[4].strip()).group(
                2, 1, 3
            ),
        )
        assert low < middle < high


def test_a_mark_that_is_missed_says_so_in_words(held):
    text = "\n".join(marks.section(held, [MARK]))
    assert "**1 of 2 are reached, 1 are not.**" in text
    assert "**not reached**: maximum 700.0 %" in text
    none = MARK | {"rows": {"source": "nobody"}}
    assert "not reached" in marks.verdict(marks.judged(held, none, "row"))


def test_a_mark_with_an_unknown_condition_stops_the_build(held):
    with pytest.raises(KeyError, match="weather"):
        marks.chosen(held, {"weather": "fine"})


def test_every_mark_has_rows_and_known_limits():
    held = h.read()
    for mark in marks.marks():
        assert len(marks.chosen(held, mark["rows"])), mark["what"]
        for how, limits in mark["limits"].items():
            assert how in h.WAYS and set(limits) <= set(marks.WORDS)


def test_a_hostile_name_is_only_text(held):
    hostile = held.assign(**{name: HOSTILE for name in ("source", "generation", "unit", "id")})
    bad = MARK | {"what": HOSTILE, "note": HOSTILE, "peer": dict.fromkeys(PEER, HOSTILE)}
    text = [*validation.misses(hostile), *marks.section(hostile, [bad])]
    text += validation.errors(hostile) + validation.charts(hostile)
    page = "\n".join(text)
    drawn = r"```\{raw\} html\n(.*?)\n```\n"
    for figure in re.findall(drawn, page, re.DOTALL):
        assert "<script>alert" not in figure and "\n```" not in figure
    prose = re.sub(drawn, "", page, flags=re.DOTALL)
    assert "<script" not in prose and "[a](b)" not in prose and "{ref}" not in prose
    assert "alert(1)" in prose


PEER = ("who", "figure", "source")


def test_a_chart_draws_the_worst_and_an_even_choice_of_the_rest(held):
    many = pd.concat([held.assign(id=held.id + f"-{i}") for i in range(10)], ignore_index=True)
    rows, step = validation.drawn_rows(many)
    assert len({(row["id"]) for row in rows}) == len(rows) <= validation.DRAWN
    assert all(row["predicted"] == 8 * row["measured"] for row in rows[:10])
    assert step == 5  # 590 rows, 60 drawn: 530 in 120 places
    assert validation.drawn_rows(many.sample(frac=1, random_state=1)) == (rows, step)


def test_each_constant_has_a_unit_a_value_and_an_interval():
    index = {(s.layer_gap, "all", ""): 0, (s.layer_gap, "card", HOSTILE): 1}
    index |= {(s.eff_cache, "all", ""): 2}
    beta, deviation = np.array([np.log(9e-6), np.log(2), 0.0]), np.array([0.1, 0.1, 0.2])
    text = "\n".join(constants.section({"time": c.Fitted(c.TIME, index, beta, deviation)}))
    # 9 µs, times and over e^(1.645 x 0.1) = 1.179
    assert "| 9.00 µs | 7.63 to 10.6 | 1 |" in text
    # a logit of nothing is a half; 1.645 x 0.2 = 0.329 of it is 0.4185 and 0.5815
    assert "| 0.500 | 0.418 to 0.582 | 0 |" in text
    assert "18.0 (15.3 to 21.2)" in text and "<script>" not in text
    assert "(constants)=" in text


@pytest.mark.parametrize(
    "symbol, value, unit, factor",
    [(s.step_gap, 2e-3, "ms", 1e3), (s.layer_gap, 6e-6, "µs", 1e6), (s.eff_link, 0.5, "", 1)],
)
def test_a_constant_is_shown_in_a_unit_a_reader_knows(symbol: sp.Symbol, value, unit, factor):
    assert constants.shown(symbol, value) == (unit, pytest.approx(factor))


@pytest.mark.parametrize("case", constants.EXAMPLES, ids=lambda case: case["model"])
def test_the_parts_of_a_step_are_the_step(case):
    found = constants.example(case)
    whole = found["time"].pop("step")
    assert sum(found["time"].values()) == pytest.approx(whole) and whole > 0
    assert all(wide >= 0 for wide in found["open"].values())
