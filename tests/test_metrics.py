"""The metrics of a log: one run in the layouts of four tools, by hand; what cannot be, by line.

The run has six requests.  Arrival s, TTFT ms, gaps ms:
0.0 200 40 40 40 40 | 0.5 300 40 60 40 | 1.0 600 30 30 | 2.0 250 | 2.5 150 eight of 40, one of 440
and one at 3.0 that failed.  Tokens out: 5 + 4 + 3 + 1 + 10 = 23.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inferecon import cli
from inferecon.service.log import Log, joined, violations
from inferecon.service.metrics import latencies, measured
from inferecon.service.promise import promise
from inferecon.service.read import read_log

LOGS = Path(__file__).parent / "logs"
FILES = ("requests.csv", "vllm.json", "sglang.jsonl", "aiperf.jsonl")
# the benchmarks state a run of 4 s; the others begin at 0 and end at 2.5 + 0.15 + 0.76 = 3.41 s
WINDOW = {"requests.csv": 3.41, "aiperf.jsonl": 3.41, "vllm.json": 4.0, "sglang.jsonl": 4.0}


@pytest.fixture
def told(monkeypatch, capsys):
    """Return a function that runs the command: exit code, output, complaints."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["inferecon", "metrics", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        shown = capsys.readouterr()
        return end.value.code, shown.out, shown.err

    return run


@pytest.mark.parametrize("name", FILES)
def test_one_run_says_the_same_in_every_layout(name):
    found = measured(read_log(LOGS / name), promise("ttft=500ms,itl=50ms"))
    window = WINDOW[name]
    assert (found["requests"], found["failed"]) == (5, 1)
    assert (found["input_tokens"], found["output_tokens"]) == (870, 23)
    assert found["window_s"] == pytest.approx(window)
    assert found["tps"] == pytest.approx(23 / window)
    assert found["rps"] == pytest.approx(5 / window)
    # TTFT fails the third; ITL of the last is (8 * 40 + 440) / 9 = 84.4 ms; the others keep both
    assert found["met"] == {"ttft=500ms": 4, "itl=50ms": 4}
    assert found["goodput_rps"] == pytest.approx(3 / window)
    latency = found["latency_s"]
    assert latency["ttft"]["mean"] == pytest.approx(1.5 / 5)  # 200 + 300 + 600 + 250 + 150
    assert latency["ttft"]["p50"] == pytest.approx(0.25)
    # 200 + 160, 300 + 140, 600 + 60, 250, 150 + 760
    assert latency["e2e"]["mean"] == pytest.approx((0.36 + 0.44 + 0.66 + 0.25 + 0.91) / 5)
    # 40, 140 / 3, 30 and 760 / 9; a single token has none
    assert latency["itl"]["mean"] == pytest.approx((40 + 140 / 3 + 30 + 760 / 9) / 4 / 1e3)
    # 18 gaps: 160 + 140 + 60 + 760 = 1120
    assert latency["gap"]["mean"] == pytest.approx(1.12 / 18)
    assert latency["gap"]["p50"] == pytest.approx(0.04)
    assert latency["gap"]["max"] == pytest.approx(0.44)
    assert found["violations"] == []


@pytest.mark.parametrize("name", FILES)
def test_a_longest_gap_may_be_promised_too(name):
    found = measured(read_log(LOGS / name), promise("gap=50ms"))
    assert found["good_requests"] == 3  # not 60 ms, not 440 ms


def test_percentiles_lie_between_two_values():
    # TTFT in order 150 200 250 300 600: the 95th is 0.8 of the way from the 4th to the 5th
    found = measured(read_log(LOGS / "requests.csv"), [])
    assert found["latency_s"]["ttft"]["p95"] == pytest.approx(0.300 + 0.8 * 0.300)
    assert found["goodput_rps"] is None  # nothing was promised


def changed(tmp_path, name, old, new):
    path = tmp_path / name
    text = (LOGS / name).read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path


def test_a_violation_names_its_line(told, tmp_path):
    path = changed(tmp_path, "requests.csv", "40 60 40", "40 90 40")
    code, out, err = told(path)
    assert code == 1 and "TTFT" in out
    assert err.startswith("1 of the log's statements cannot be: line 3: TTFT 0.3 s + gaps 0.17 s")
    path = changed(tmp_path, "requests.csv", "0.5,0.8,", "0.5,0.4,")
    assert "line 3: its first token comes 0.1 s before its arrival" in told(path)[2]


def test_a_chat_has_as_many_gaps_as_tokens(told, tmp_path):
    # its first chunk has a role and no token, so there is a gap before the first token too
    path, run = tmp_path / "chat.json", json.loads((LOGS / "vllm.json").read_text())
    done = [i for i, many in enumerate(run["output_lens"]) if many]
    chat = run | {
        "itls": [[0.001, *x] if i in done else x for i, x in enumerate(run["itls"])],
        "ttfts": [x - 0.001 for x in run["ttfts"]],
        "mean_ttft_ms": run["mean_ttft_ms"] - 1,
    }
    path.write_text(json.dumps(chat))
    code, out, err = told(path)
    assert (code, err) == (0, "") and "TTFT is too short by the first gap" in out
    # of another service one request with a gap too many is named
    run["itls"][done[0]] = [0.0, *run["itls"][done[0]]]
    path.write_text(json.dumps(run | {"backend": "vllm"}))
    code, out, err = told(path)
    assert code == 1 and "request 1: 5 gaps between 5 tokens" in err
    run["itls"][3] = [0.0]  # the one of a single token
    path.write_text(json.dumps(run | {"backend": "openai-chat"}))
    assert told(path)[0] == 0
    run["itls"][3] = [0.0, 0.0]
    path.write_text(json.dumps(run | {"backend": "openai-chat"}))
    assert "request 4: 2 gaps between 1 token" in told(path)[2]


HEAD = "arrival,first_token,last_token,input_tokens,output_tokens"


def test_a_request_that_failed_is_in_the_window(told, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(f"{HEAD}\n0,,,10,\n50,,,10,\n98,98.5,99,10,10\n,,,10,\n99.5,,,10,\n")
    found = measured(read_log(path), [])
    assert (found["window_s"], found["failed"]) == (99.5, 4)  # 0 to 99.5, not 98 to 99
    assert found["tps"] == pytest.approx(10 / 99.5)


def test_no_time_has_no_rates(told, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(f"{HEAD}\n5,5,5,1,1\n5,5,5,1,1\n")
    code, out, _ = told(path, "--slo", "ttft=1s")
    assert code == 0 and "∞" not in out and "no rates: all that the log has happens at" in out
    found = json.loads(told(path, "--json")[1])
    assert (found["window_s"], found["tps"], found["rps"]) == (0, None, None)


@pytest.mark.parametrize("said", ["0.0", "-7.0", "NaN", "Infinity", '"7"', "true"])
def test_a_duration_that_is_none_is_refused(told, tmp_path, said):
    path = changed(tmp_path, "vllm.json", '"duration": 4.0', f'"duration": {said}')
    code, out, err = told(path)
    assert code == 2 and f"duration is {said}, no time above zero" in err


def test_a_duration_that_is_not_stated_is_said_to_be_inferred(told, tmp_path):
    path = changed(tmp_path, "vllm.json", '"duration": 4.0', '"duration": null')
    code, out, _ = told(path)
    assert code == 0 and "no duration is stated: it is taken from the first arrival" in out
    text = path.read_text()
    path.write_text(text.replace('"start_times"', '"starts"'))
    code, out, _ = told(path)
    assert code == 0 and "no rates: the log has neither a duration nor arrivals" in out
    assert json.loads(told(path, "--json")[1])["rps"] is None


@pytest.mark.parametrize(
    ("gap", "code", "says"),
    [
        (-5, 2, "longest_gap is below zero"),
        (0.1, 1, "9 s after the first of 10 tokens, and no gap above 0.1 s"),
        (1.0, 0, ""),
    ],
)
def test_the_longest_gap_is_no_shorter_than_the_mean(told, tmp_path, gap, code, says):
    path = tmp_path / "log.csv"
    path.write_text(f"{HEAD},longest_gap\n0,1,10,3,10,{gap}\n")
    ended, _, err = told(path)
    assert ended == code and says in err


def test_what_is_no_log_is_one_sentence(told, tmp_path):
    path = tmp_path / "log"
    run = json.loads((LOGS / "vllm.json").read_text())
    for text, says in (
        ("[" * 100_000, "log is nested too deeply for a log"),
        (" \n \n", "log is empty"),
        (HEAD.replace(",", ";") + "\n0;1;2;3;4\n", "log has semicolons between its cells"),
        (HEAD.replace(",", "\t") + "\n", "log has tabs between its cells"),
        ("\x1b[31mfirst_token,b\n1,2\n", "log has no column 'arrival'"),
        (json.dumps(run | {"input_lens": [True] * 6}), "input_lens holds something that is no"),
        (json.dumps(run | {"input_lens": ["7"] * 6}), "input_lens holds something that is no"),
        (json.dumps(run).replace("[100, 200", f"[{'9' * 400}, 200"), "input_lens holds something"),
        (json.dumps(run).replace("4.0", "9" * 5000), "duration is NaN, no time above zero"),
    ):
        path.write_text(text)
        code, out, err = told(path)
        assert (code, out, err.count("\n")) == (2, "", 1) and says in err and "\x1b" not in err


def test_totals_are_held_against_the_requests(tmp_path):
    path = changed(tmp_path, "vllm.json", '"output_throughput": 5.75', '"output_throughput": 6.75')
    (said,) = violations(read_log(path))
    assert said == "TPS · window: 27 stated, 23 by its requests"
    path = changed(
        tmp_path, "sglang.jsonl", '"mean_e2e_latency_ms": 524.0', '"mean_e2e_latency_ms": 624.0'
    )
    (said,) = violations(read_log(path))
    assert said == "mean E2EL, s: 0.624 stated, 0.524 by its requests"


def test_json_holds_what_the_text_does(told):
    code, out, err = told(LOGS / "aiperf.jsonl", "--slo", "ttft=500ms,itl=50ms", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["log"] == "AIPerf" and found["good_requests"] == 3
    code, out, _ = told(LOGS / "aiperf.jsonl", "--slo", "ttft=500ms,itl=50ms")
    assert "requests/s that kept ttft=500ms, itl=50ms: 3 of 6" in out


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        ("requests.csv", "first_token", "first", "no column 'first_token'; did you mean"),
        ("requests.csv", "0.5,0.8", "0.5,soon", "line 3: first_token is 'soon', no number"),
        ("requests.csv", "200,4,", "200,0,", "line 3: a request that ended has at least one"),
        ("requests.csv", "200,4,", "200,4.5,", "line 3: output_tokens is '4.5', no count"),
        ("requests.csv", "40 60 40", "40 -6 40", "line 3: gaps must be times"),
        ("requests.csv", "200,4,", "200,4,4,", "line 3, has 7 cells, its head has 6"),
        ("vllm.json", '"ttfts"', '"firsts"', "holds totals only; run the benchmark with --save-d"),
        ("sglang.jsonl", '"itls"', '"gaps"', "run the benchmark with --output-details"),
        ("vllm.json", '"ttfts": [0.2,', '"ttfts": [0.2, 1,', "6 input_lens for 7 ttfts"),
        ("vllm.json", '"ttfts": [0.2', '"ttfts": ["x"', "ttfts holds something that is no number"),
        ("vllm.json", '"date"', "date", "vllm.json, line 1, is no JSON"),
        (
            "aiperf.jsonl",
            '"time_to_first_token"',
            '"ttft"',
            "no time_to_first_token; AIPerf writes",
        ),
        ("aiperf.jsonl", '"metadata"', '"about"', "has no list 'input_lens'; known are a CSV"),
        ("aiperf.jsonl", '"unit": "ms"', '"unit": "days"', "is in 'days'; known: ns"),
    ],
)
def test_bad_input_is_one_sentence(told, tmp_path, name, old, new, says):
    path = tmp_path / name
    text = (LOGS / name).read_text()
    if name == "aiperf.jsonl":
        text = text.splitlines()[1]  # one request, no warm-up
    assert old in text
    path.write_text(text.replace(old, new, 1))
    code, out, err = told(path)
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and says in err and err.count("\n") == 1


def test_a_promise_that_cannot_be_read_is_one_sentence(told):
    for slo, says in (
        ("ttf=1s", "no latency 'ttf'; did you mean ttft"),
        ("ttft=5", "ttft=5 is no time above zero; write ttft=500ms"),
        ("ttft=-5ms", "no time above zero"),
        ("itl=1s,tpot=2s", "itl is promised twice"),
        ("fast", "'fast' is no limit"),
    ):
        code, out, err = told(LOGS / "requests.csv", "--slo", slo)
        assert (code, out) == (2, "") and says in err


def test_several_runs_in_one_file_are_told_apart(told, tmp_path):
    path = tmp_path / "runs.jsonl"
    one = json.loads((LOGS / "sglang.jsonl").read_text())
    other = one | {"duration": 8.0, "output_throughput": 23 / 8, "request_throughput": 5 / 8}
    path.write_text(json.dumps(one) + "\n" + json.dumps(other) + "\n")
    assert "has 2 runs: name one, --run 1 to 2" in told(path)[2]
    assert measured(read_log(path, 2), [])["tps"] == pytest.approx(23 / 8)
    assert "--run 3" in told(path, "--run", 3)[2]


def test_a_log_without_gaps_leaves_them_missing(told, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "arrival_ms,first_token_ms,last_token_ms,input_tokens,output_tokens\n1000,1200,1500,9,4\n"
    )
    found = measured(read_log(path), promise("itl=100ms"))
    assert found["latency_s"]["gap"] is None and found["good_requests"] == 1
    assert found["latency_s"]["itl"]["mean"] == pytest.approx(0.1)
    code, out, _ = told(path, "--slo", "gap=1s")
    assert code == 0 and "missing: this log has no gaps" in out
    # its longest gap alone is enough for a promise, and can be wrong
    text = path.read_text().replace("output_tokens\n", "output_tokens,longest_gap_ms\n")
    path.write_text(text.replace("9,4\n", "9,4,180\n"))
    assert measured(read_log(path), promise("gap=200ms"))["good_requests"] == 1
    assert measured(read_log(path), promise("gap=150ms"))["good_requests"] == 0
    path.write_text(path.read_text().replace(",180", ",380"))
    assert "line 2: a gap of 0.38 s in the 0.3 s after the first" in told(path)[2]


REQUESTS = st.lists(
    st.tuples(st.floats(0, 1e4), st.floats(0, 100), st.lists(st.floats(0, 10), max_size=20)),
    min_size=1,
    max_size=30,
)


@given(REQUESTS)
def test_identities_hold_for_every_run_that_keeps_them(requests):
    gaps, bounds = joined([one[2] for one in requests])
    arrival, ttft = (np.array([one[i] for one in requests]) for i in (0, 1))
    osl = np.diff(bounds) + 1.0
    e2e = ttft + np.array([sum(one[2]) for one in requests])
    places = [f"line {i + 2}" for i in range(len(requests))]
    log = Log("CSV", places, arrival, ttft, e2e, osl, osl, gaps, bounds)
    assert violations(log) == []
    found, each = measured(log, promise("ttft=50s,itl=5s")), latencies(log)
    if found["window_s"] > 0:
        assert found["tps"] * found["window_s"] == pytest.approx(found["output_tokens"])
        assert found["goodput_rps"] <= found["rps"] * (1 + 1e-12)
    whole = each["ttft"] + np.nan_to_num(each["itl"]) * (osl - 1)
    assert whole == pytest.approx(each["e2e"])  # law E2E, with the mean gap
