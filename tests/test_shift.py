"""Work that can wait: the greedy is the optimum, and files that do not fit are refused."""

import json
import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferecon import cli
from inferecon.errors import BadInput
from inferecon.files import DATA
from inferecon.planner.shift import as_text, scheduled, shift

close = pytest.approx


def least(load, intensity, deadline, capacity):
    """Return the least emissions by trying everything; None where work is left over.

    Whole units in an hour are enough: the constraints are those of a flow.  The state is how
    much waits, by how long it may still wait.
    """
    count = len(load)

    @cache
    def best(hour, waiting):
        if hour == count:
            return None if sum(waiting) else 0.0
        work = (*waiting, load[hour])  # the first is due now
        costs = []
        for take in range(min(capacity, sum(work)) + 1):
            rest, left = [], take
            for amount in work:  # the oldest first: no other order can be better
                used = min(amount, left)
                rest.append(amount - used)
                left -= used
            if rest[0]:
                continue
            ahead = best(hour + 1, tuple(rest[1:]))
            if ahead is not None:
                costs.append(take * intensity[hour] + ahead)
        return min(costs, default=None)

    return best(0, (0,) * deadline)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=6),
    st.data(),
    st.integers(0, 4),
    st.integers(1, 4),
)
def test_the_greedy_emits_no_more_than_any_schedule(load, data, deadline, capacity):
    count = len(load)
    grams = data.draw(st.lists(st.integers(1, 9), min_size=count, max_size=count))
    optimum = least(tuple(load), tuple(grams), deadline, capacity)
    arrays = np.array(load, float), np.array(grams, float)
    if optimum is None:
        with pytest.raises(BadInput, match="cannot be done in time"):
            scheduled(*arrays, deadline, float(capacity))
        return
    done = scheduled(*arrays, deadline, float(capacity))
    assert done.sum() == close(sum(load))
    assert (done <= capacity + 1e-9).all() and (done >= 0).all()
    arrived, sums = np.cumsum(load), np.cumsum(done)
    assert (sums <= arrived + 1e-9).all()  # nothing before it came
    late = np.concatenate([np.zeros(deadline), arrived])[:count]
    assert (sums >= late - 1e-9).all()  # nothing after it was due
    assert done @ arrays[1] == close(optimum)


def test_by_hand_two_hours_move_to_the_cheapest_that_has_room():
    # hours 0 to 3 emit 400, 300, 100, 200 g/kWh; 2 kWh come in hour 0 and 2 in hour 1, due in
    # two hours, 3 kWh an hour.  Hour 2 takes 3; of the last kWh hour 1 (300) and hour 3 (200) may
    # be had, and hour 3 only for what came in hour 1: 3 x 100 + 1 x 200 = 500 g
    done = scheduled(np.array([2.0, 2.0, 0.0, 0.0]), np.array([400.0, 300.0, 100.0, 200.0]), 2, 3.0)
    assert done.tolist() == [0, 0, 3, 1]


def test_a_year_of_hours_is_scheduled():
    hours = np.arange(8760)
    grams = 300 + 100 * np.sin(hours * 2 * np.pi / 24)
    load = np.ones(8760)
    some, more = (scheduled(load, grams, wait, 2.0) @ grams for wait in (6, 12))
    assert more < some < load @ grams


@pytest.fixture
def files(tmp_path):
    def write(load="hour,kwh\n0,2\n1,2\n", curve=None):
        curve = curve or "hour,gco2e_per_kwh\n0,400\n1,300\n2,100\n3,200\n"
        paths = tmp_path / "load.csv", tmp_path / "curve.csv"
        for path, text in zip(paths, (load, curve), strict=True):
            path.write_text(text, encoding="utf-8")
        return paths

    return write


def test_kilograms_saved_are_those_of_the_two_schedules(files):
    found = shift(*files(), "2h", 3.0)
    # 2 x 400 + 2 x 300 = 1,400 g; 500 g
    assert found.kg == close((1.4, 0.5))
    # hour 2 takes two from hour 0 and one from hour 1, hour 3 one from hour 1: 4 + 1 + 2 over 4
    assert found.delay == close(7 / 4)
    flat = shift(*files(curve="hour,gco2e_per_kwh\n0,300\n1,300\n2,300\n"), "1h", 3.0)
    assert flat.kg[0] == close(flat.kg[1])
    assert shift(*files(), "0h").kg == close((1.4, 1.4))


def test_a_flat_load_is_told_that_its_hours_are_full(files):
    load, curve = "hour,kwh\n0,2\n1,2\n2,2\n", "hour,gco2e_per_kwh\n0,400\n1,100\n2,300\n"
    said = as_text(shift(*files(load, curve), "2h"))
    assert "give a larger --capacity" in said and "0 kWh run in another hour" in said
    assert "larger --capacity" not in as_text(shift(*files(load, curve), "2h", 3.0))


def test_tokens_and_dates_and_other_headings_are_read(files):
    curve = (
        "Datetime (UTC),Zone,Carbon intensity gCO₂eq/kWh (direct)\n"
        "2026-01-01 00:00:00,SE,40\n2026-01-01 01:00:00,SE,20\n"
    )
    load = "timestamp,tokens\n2026-01-01T00:00:00,3600000\n"
    found = shift(*files(load, curve), "1h", joules=1.0)
    assert found.before.tolist() == close([1.0, 0.0])  # 3.6 MJ are a kWh
    assert found.kg == close((0.04, 0.02))
    assert "direct" in found.column


@pytest.mark.parametrize(
    ("load", "curve", "more", "said"),
    [
        ("hour,kwh\n9,2\n", None, {}, "no intensity for hour 9"),
        ("hour,kwh\n0,-2\n", None, {}, "below zero"),
        ("hour,kwh\n0,x\n", None, {}, "line 2 is no hour and a number"),
        ("hour,work\n0,2\n", None, {}, "needs a column hour and a column kwh or tokens"),
        ("hour,tokens\n0,2\n", None, {}, "needs --joules-per-token"),
        ("hour,kwh\n0,0\n", None, {}, "has no work"),
        (None, "hour,gco2e_per_kwh\n0,4\n2,4\n", {}, "nothing is filled in"),
        ("hour,kwh,tokens\n0,2,9\n", None, {}, "has the columns kwh and tokens; leave one"),
        ("hour;kwh\n0;2\n", None, {}, "has semicolons between its cells; write commas"),
        ("hour,kwh\n0,1e308\n1,1e308\n", None, {}, "numbers too large to be added up"),
        ("hour,kwh\n0,1e307\n", None, {}, "numbers too large to be added up"),
        ("hour,tokens\n0,2\n", None, {"joules": np.inf}, "--joules-per-token must not be neg"),
        (None, None, {"deadline": "1e30h"}, "longer than a curve may be, 17,568 hours"),
        (None, None, {"deadline": "6"}, "write 6h"),
        (None, None, {"deadline": "90min"}, "whole hours"),
        (None, None, {"capacity": 1.0}, "fullest hour of the load has 2 kWh"),
    ],
)
def test_a_mistake_is_a_sentence(files, load, curve, more, said):
    paths = files(*([load] if load else []), **({"curve": curve} if curve else {}))
    with pytest.raises(BadInput, match=said):
        shift(*paths, **({"deadline": "2h"} | more))


def test_the_command_writes_a_load_that_is_one_again(files, tmp_path, monkeypatch, capsys):
    load, curve = files()
    out = tmp_path / "shifted.csv"

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["inferecon", "shift", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code, capsys.readouterr()

    options = ("--deadline", "2h", "--capacity", 3, "--out", out)
    code, shown = run(load, curve, *options)
    assert code == 0 and "saved" in shown.out and "0.900 kg CO2e, 64.3%" in shown.out
    code, shown = run(out, curve, "--deadline", "0h", "--json")
    told = json.loads(shown.out)
    assert told["kg_unshifted"] == close(0.5)
    code, shown = run(load, curve, "--deadline", "2h", "--out", tmp_path / "none" / "x.csv")
    assert code == 2 and shown.err == f"error: --out: no folder '{tmp_path / 'none'}'\n"
    binary = tmp_path / "load.csv.gz"
    binary.write_bytes(b"\x1f\x8b\xff\x00")
    for files_ in ((binary, curve), (load, binary)):
        code, shown = run(*files_, "--deadline", "2h")
        assert code == 2 and shown.err == "error: load.csv.gz is no text in UTF-8\n"
    code, shown = run(load, tmp_path / "none.csv", "--deadline", "2h")
    assert code == 2 and shown.err.startswith("error: no file")


def test_the_sample_is_what_its_description_says():
    """10 kWh at 400, 100, 300 and 50 g are 8.5 kg; all of it at 100 and 50 g is 3 kg."""
    samples = DATA / "samples"
    found = shift(samples / "load.csv", samples / "curve.csv", "2h", 20.0)
    assert found.kg == close((8.5, 3.0))
    assert "3 kg in place of 8.5 kg" in (samples / "README.md").read_text("utf-8")
