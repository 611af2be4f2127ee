"""Predictions: rows are read as data, fits find what is there, and nothing beats a roofline."""

import io
import json
import math
import os

import numpy as np
import pandas as pd
import pytest

from inferecon import cli
from inferecon import symbols as s
from inferecon.calibration import arrivals, calibrate, constants, fit, predict, validate
from inferecon.calibration.inputs import inputs
from inferecon.calibration.names import record_of
from inferecon.calibration.rows import generation, prepared, read, version
from inferecon.calibration.words import write_rows
from inferecon.errors import BadInput
from inferecon.files import DATA

ROW = dict(
    id="one",
    metric="tpot_ms",
    value="10",
    model="Llama-3.1-8B",
    weight_dtype="bf16",
    hardware="H100-SXM-80GB",
    n_gpus="1",
    batch_or_concurrency="16",
    isl="1024",
    osl="1024",
    engine="vllm 0.12.0",
    source="somewhere",
    notes="closed-loop concurrency",
)
PHASES = ("prefill", "decode")


def table(*changes, **more):
    return prepared(pd.DataFrame([ROW | more | change for change in changes or [{}]]))


def one(**changes):
    return validate.predict(table(**changes)).iloc[0]


@pytest.fixture(scope="module")
def everything():
    rows = calibrate.training()
    return rows, inputs(rows)


# Reading ---------------------------------------------------------------------------------------


def saved(tmp_path, text, name="rows.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_may_come_in_any_order_and_most_may_lack(tmp_path):
    path = saved(tmp_path, "value, Model,metric\n5,llama-3.1-8b,params_total\n,llama-3.1-8b,x\n")
    rows = read(path)
    assert list(rows.model_id) == ["llama-3.1-8b"] * 2
    assert rows.value[0] == 5 and math.isnan(rows.value[1])
    assert (rows.hardware == "").all() and rows.osl.isna().all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no CSV table"),
        ("modle,metric\na,b\n", "has no column 'model'"),
        ("model,model,metric\na,a,b\n", "twice"),
        ('model,metric\n"a,b\n', "no CSV table"),
    ],
)
def test_what_is_no_table_is_said_in_one_sentence(tmp_path, text, said):
    with pytest.raises(BadInput, match=said):
        rows = read(saved(tmp_path, text))
        assert list(rows.columns) == []


def test_a_missing_file_is_named():
    with pytest.raises(BadInput, match="nowhere.csv"):
        read("nowhere.csv")


def test_cells_are_data():
    rows = table(model="{__import__('os')}", hardware="../../etc/passwd", engine="=cmd()")
    said = validate.predict(rows).iloc[0]
    assert not said.covered and "no record of the model" in said.reason


def test_names_lead_to_records():
    assert record_of("models", "meta-llama/Llama-3.1-8B-Instruct") == "llama-3.1-8b"
    assert record_of("hardware", "H200-SXM-141GB") == "h200-sxm"
    assert record_of("models", "nothing of the kind") is None


def test_an_engine_has_generation_and_version():
    assert generation("TensorRT-LLM 0.14.0") == "trtllm-0"
    assert generation("trtllm 1.2.0rc2") == "trtllm-1"
    assert version("vllm 0.12.0") == "vllm-2025 0.12"
    assert generation("something new") == "other"


# Predicting ------------------------------------------------------------------------------------


def test_each_row_has_one_answer_in_its_place(tmp_path):
    lines = ["id,metric,model,hardware,batch_or_concurrency,value"]
    lines += ["a,tpot_ms,Llama-3.1-8B,H100-SXM-80GB,4,7", "b,price,,,,3"]
    lines += ["c,tpot_ms,Unknown-9B,H100-SXM-80GB,4,7", "d,tpot_ms,Llama-3.1-8B,H100-SXM-80GB,,7"]
    said = validate.validated(saved(tmp_path, "\n".join(lines) + "\n"))
    assert list(said.id) == list("abcd")
    assert list(said.covered) == [True, False, False, False]
    assert list(said.reason) == [
        "",
        "no law predicts price",
        "no record of the model 'Unknown-9B'",
        "no batch or concurrency stated",
    ]
    assert said.ape[0] == pytest.approx(abs(said.predicted[0] / 7 - 1))
    write_rows(said, tmp_path / "out.csv")
    out = pd.read_csv(tmp_path / "out.csv")
    assert list(out.columns) == validate.COLUMNS and len(out) == 4
    assert not (tmp_path / "out.csv.part").exists()


@pytest.mark.parametrize(
    ("metric", "value"), [("params_total", 8030261248), ("kv_bytes_per_token", 131072)]
)
def test_structure_is_exact(metric, value):
    said = one(metric=metric, kv_dtype="16-bit")
    assert said.predicted == said.low == said.high == value and said.label == "derived"


def test_no_prediction_of_a_step_beats_the_roofline(everything):
    rows, found = everything
    steps = np.isin(rows.metric, ("decode_step_ms", "tpot_ms")).nonzero()[0]
    some, its = rows.iloc[steps].reset_index(drop=True), found.take(steps)
    figure = predict.times(some, its, constants.load()["time"].constants(some)[0]) / 1e3
    for bound in (s.t_memory_decode, s.t_math_decode):
        assert (figure > its.values[bound]).all()


def test_every_share_is_below_one_and_every_gap_above_zero(everything):
    rows, _ = everything
    for group in constants.load().values():
        for symbol, inner in group.constants(rows)[0].items():
            value = constants.outer(symbol, inner)
            assert (value > 0).all()
            assert symbol not in constants.SHARES or (value < 1).all()


def test_more_sequences_make_a_step_longer_and_more_tokens_a_second():
    steps = [one(batch_or_concurrency=str(b)).predicted for b in (1, 8, 64)]
    assert steps == sorted(steps)
    rates = [b / step for b, step in zip((1, 8, 64), steps, strict=True)]
    assert rates == sorted(rates)


def test_an_interval_holds_its_prediction_and_widens_for_the_unseen():
    seen, unseen = one(), one(hardware="RTX-5090", engine="another engine")
    assert seen.low < seen.predicted < seen.high
    assert seen.label == "calibrated" and unseen.label == "extrapolated"
    assert unseen.high / unseen.low > seen.high / seen.low


@pytest.mark.parametrize("metric", ["tpot_ms", "ttft_ms", "output_throughput_tok_s"])
def test_an_engine_that_nobody_measured_is_known_worse_than_a_model(metric):
    wide = [
        math.log(row.high / row.predicted)
        for row in (
            one(metric=metric),
            one(metric=metric, model="falcon-7b"),
            one(metric=metric, engine="brand new"),
            one(metric=metric, engine=""),
        )
    ]
    assert wide[0] < wide[1] < wide[2] == wide[3]
    assert wide[2] >= validate.scatter()[validate.kind(metric)]["engine"]


def test_a_format_that_nobody_measured_is_no_guess():
    said = one(weight_dtype="fp6")
    assert not said.covered and said.reason == "no rate is known for weights in 'fp6'"


@pytest.mark.parametrize(
    "odd",
    [
        {"isl": "1e12"},
        {"osl": "0.5"},
        {"batch_or_concurrency": "0"},
        {"tp": "8", "n_gpus": "2"},
        {"pp": "0"},
        {"part": "9999 layers"},
    ],
)
def test_what_no_run_can_have_is_refused(odd):
    assert one(**odd).reason == "batch, lengths or devices are impossible"


def test_a_number_that_cannot_be_read_is_not_taken_for_a_blank():
    assert one(isl="1,000").reason == "isl is '1,000', no number"
    assert one(isl="n/a").covered


def test_weights_far_beyond_a_card_are_refused():
    assert (
        one(model="DeepSeek-V3", weight_dtype="fp8").reason == "its weights do not fit into memory"
    )


def test_rows_longer_than_their_head_are_no_table(tmp_path):
    with pytest.raises(BadInput, match="more cells"):
        read(saved(tmp_path, "metric,model\na,b,c\n"))


@pytest.mark.parametrize("place", [".", "rows.csv", "none/out.csv"])
def test_rows_are_not_written_over_what_was_read_nor_nowhere(tmp_path, place):
    path = saved(tmp_path, "metric,model\nx,y\n")
    with pytest.raises(BadInput):
        write_rows(validate.validated(path), tmp_path / place, path)
    assert path.read_text() == "metric,model\nx,y\n"


def test_constants_that_are_none_are_refused(tmp_path):
    path = saved(tmp_path, "%%%garbage\n1\n")
    with pytest.raises(BadInput, match="no table of constants"):
        constants.load(path)


def test_requests_that_do_not_fit_wait():
    short = one(metric="ttft_ms", batch_or_concurrency="16", isl="8192")
    long = one(metric="ttft_ms", batch_or_concurrency="512", isl="8192")
    assert long.predicted > 20 * short.predicted


def test_some_layers_take_their_share_of_a_step():
    lab = dict(
        metric="decode_step_ms",
        hardware="H200-SXM-141GB",
        engine="PyTorch 2.11 CUDA graphs",
        context="1024",
        isl="",
        osl="",
        notes="",
    )
    whole, half = one(**lab).predicted, one(**lab, part="16 of 32 layers").predicted
    headless = one(**lab, part="16 of 32 layers, no head").predicted
    assert headless < half < whole < 2 * half
    assert one(**lab, part="attention").reason == "a part of a model was timed"


def test_our_own_rows_are_met(everything):
    rows, found = everything
    lab = (rows.source == "measured for this project").to_numpy()
    figure = calibrate.predicted(constants.load(), rows, found)
    gap = np.abs(figure[lab] / rows.value[lab] - 1)
    for metric, most in (("decode_step_ms", 0.03), ("ttft_ms", 0.05), ("energy_per_step_J", 0.06)):
        assert gap[(rows.metric[lab] == metric).to_numpy()].median() < most


def test_services_over_many_nodes_are_met_though_none_was_fitted():
    rows = read(DATA / "truth" / "services.csv")
    ratio = validate.predict(rows).predicted / rows.value
    capacity = ~rows.notes.str.contains("hit")  # that mean is over days that were not full
    assert capacity.sum() == 4 and ratio[capacity].between(0.75, 1.25).all()
    assert (ratio > 0.75).all()


def test_notes_say_experts_and_sequences_of_a_phase():
    notes = "prefill EP32, 16K tokens/GPU; decode EP128, 128 req/GPU, 56.3% hit"
    blank = dict(notes=notes, n_gpus="", batch_or_concurrency="")
    rows = table(*({"metric": f"{phase}_throughput_tok_s_per_gpu"} for phase in PHASES), **blank)
    assert list(rows.ep) == [32, 128] and list(rows.total) == [32, 128]
    assert math.isnan(rows.batch_or_concurrency[0]) and rows.batch_or_concurrency[1] == 128 * 128
    assert rows.hits[0] == pytest.approx(0.563)
    stated = table(**blank | {"metric": "decode_throughput_tok_s_per_gpu", "ep": "72"})
    assert stated.ep[0] == 72


def test_prompts_found_in_a_cache_cost_no_prefill():
    rate = dict(metric="prefill_throughput_tok_s_per_gpu", batch_or_concurrency="")
    plain, reused = one(**rate, notes=""), one(**rate, notes="50% hit")
    assert reused.predicted == pytest.approx(2 * plain.predicted)


def test_no_more_tokens_come_out_than_steps_make(everything):
    rows, found = everything
    served = np.flatnonzero(~rows.static & (rows.metric == "output_throughput_tok_s"))
    some, its = rows.iloc[served].reset_index(drop=True), found.take(served)
    known = constants.load()["time"].constants(some)[0]
    got = predict.solve(its, known, prefilled=its.values[s.prefilled])
    assert (got[s.served_throughput] <= its.values[s.batch] / got[s.served_step]).all()
    assert (got[s.served_step] >= got[s.decode_time]).all()


# Fitting ---------------------------------------------------------------------------------------


def test_a_fit_finds_the_constants_that_made_the_rows():
    shapes = [("Llama-3.1-8B", b, c) for b in (1, 8, 32, 128) for c in (1024, 8192)]
    shapes += [("Qwen2.5-1.5B", b, c) for b in (1, 8, 64, 256) for c in (1024, 16384)]
    rows = table(
        *({"model": m, "batch_or_concurrency": str(b), "context": str(c)} for m, b, c in shapes),
        metric="decode_step_ms",
        hardware="H200-SXM-141GB",
        notes="",
        source="measured for this project",
    )
    found = inputs(rows)
    truth = {x: constants.inner(x, p.value) for x, p in constants.TIME.items()}
    truth[s.eff_weights] = constants.logit(0.9)
    truth[s.layer_gap] = math.log(12e-6)
    made = predict.times(rows, found, {x: np.full(len(rows), v) for x, v in truth.items()})
    rows = rows.assign(value=made)
    again = fit.fit(constants.TIME, rows, found, predict.times)
    said = predict.times(rows, found, again.constants(rows)[0])
    assert np.abs(said / made - 1).max() < 0.01
    share = constants.outer(s.eff_weights, again.constants(rows)[0][s.eff_weights][0])
    assert share == pytest.approx(0.9, abs=0.03)


def test_a_fit_is_the_same_twice(everything):
    rows, found = everything
    lab = np.flatnonzero(rows.source == "measured for this project")
    lab = lab[np.isin(rows.metric.iloc[lab], predict.TIME_METRICS)]
    some, its = rows.iloc[lab].reset_index(drop=True), found.take(lab)
    first, second = (fit.fit(constants.TIME, some, its, predict.times) for _ in range(2))
    assert (first.beta == second.beta).all()


def test_constants_are_those_of_the_rows_and_laws_on_file():
    assert not calibrate.stale("fitted"), "run inferecon calibrate"
    assert not calibrate.stale("judged"), "run inferecon calibrate"


def test_constants_are_read_as_they_are_written(tmp_path):
    groups = constants.load()
    constants.save(groups, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == constants.FITTED.read_text()


# Command line ----------------------------------------------------------------------------------


@pytest.fixture
def inferecon(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["inferecon", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        return stopped.value.code, capsys.readouterr()

    return run


def test_validate_prints_errors_and_writes_rows(tmp_path, inferecon):
    text = io.StringIO()
    pd.DataFrame([ROW, ROW | {"id": "two", "hardware": "abacus"}]).to_csv(text, index=False)
    path = saved(tmp_path, text.getvalue())
    code, said = inferecon("validate", path, "--out", tmp_path / "out.csv")
    assert code == 0 and "1 of 2 rows predicted" in said.out
    assert "no record of the hardware 'abacus'" in said.out
    code, said = inferecon("validate", path, "--json")
    assert json.loads(said.out)["all"]["n"] == 1


def test_validate_says_what_is_wrong_with_a_file(tmp_path, inferecon):
    code, said = inferecon("validate", tmp_path / "none.csv")
    assert code == 2 and said.err.count("\n") == 1
    code, said = inferecon("validate", saved(tmp_path, "metric,model\n"))
    assert code == 2 and "no rows" in said.err


def test_own_rows_need_a_card(tmp_path, inferecon):
    path = saved(tmp_path, "metric,model,value\ntpot_ms,Llama-3.1-8B,3\n")
    code, said = inferecon("calibrate", path)
    assert code == 2 and "--hardware" in said.err
    code, said = inferecon("calibrate", path, "--hardware", "h100-sxm")
    assert code == 2 and "no row of h100-sxm" in said.err


def test_written_rows_hold_every_digit(tmp_path, inferecon):
    # 671,026,419,200 parameters: twelve digits, exact
    path = saved(tmp_path, "metric,model,value\nparams_total,deepseek-v3,671026419200\n")
    inferecon("validate", path, "--out", tmp_path / "out.csv")
    line = pd.read_csv(tmp_path / "out.csv", dtype=str).iloc[0]
    assert line.value == line.predicted == line.low == line.high == "671026419200"


def test_a_place_that_cannot_be_written_is_refused_before_rows_are_read(tmp_path, inferecon):
    path = saved(tmp_path, "no table\n")
    hard = tmp_path / "hard.csv"
    hard.hardlink_to(path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for out, told in [
        (tmp_path / "none" / "out.csv", "no folder"),
        (tmp_path, "is a folder"),
        (pipe, "no plain file"),
        (hard, "the file that was read"),
    ]:
        code, said = inferecon("validate", path, "--out", out)
        assert code == 2 and told in said.err
    path = saved(tmp_path, "metric,model,value\ntpot_ms,Llama-3.1-8B,3\n")
    for out, told in [(path, "no folder"), (DATA / "calibration", "the report's own")]:
        code, said = inferecon("calibrate", path, "--hardware", "h100-sxm", "--out", out)
        assert code == 2 and told in said.err


def test_a_row_without_a_metric_says_so():
    assert one(metric="").reason == "no metric stated"


# Requests at a rate ------------------------------------------------------------------------------

OPEN = dict(
    batch_or_concurrency="",
    notes="open-loop request rate 2 req/s, 500 requests",
    engine="TensorRT-LLM 1.0",
    isl="400",
    osl="200",
)


def rated(rate, **changes):
    return OPEN | {"notes": f"open-loop request rate {rate} req/s, 500 requests"} | changes


def test_sequences_in_flight_are_what_littles_law_says():
    itl = one(**rated(4), metric="itl_mean_ms").predicted
    joined = arrivals.joined(table(**rated(4)), constants.load()["time"]).iloc[0]
    # 4 requests/s x 200 tokens stay one ITL each; the sequence that meets them is one more
    assert joined.batch_or_concurrency == pytest.approx(4 * 200 * itl / 1e3 + 1, rel=1e-4)
    met = one(batch_or_concurrency=str(joined.batch_or_concurrency), metric="itl_mean_ms",
              isl="400", osl="200", engine=OPEN["engine"])  # fmt: skip
    assert met.predicted == pytest.approx(itl, rel=1e-9)


def test_a_service_that_keeps_up_yields_what_is_asked_for():
    assert one(**rated(4), metric="output_throughput_tok_s").predicted == 4 * 200
    first = [one(**rated(rate), metric="ttft_mean_ms").predicted for rate in (1, 8, 20)]
    assert first == sorted(first) and first[2] > first[0] * 1.01


@pytest.mark.parametrize("metric", ["itl_mean_ms", "ttft_mean_ms", "output_throughput_tok_s"])
def test_a_service_that_cannot_keep_up_is_named(metric):
    late = one(**rated(5000), metric=metric)
    assert late.reason == arrivals.OVERLOADED and math.isnan(late.predicted)
    at_once = one(**rated("INF"), metric=metric)
    assert "no finite rate" in at_once.reason


def test_a_stated_batch_goes_before_a_rate():
    said = dict(rated(4), batch_or_concurrency="16")
    assert one(**said).predicted == one(**(said | {"notes": "closed-loop"})).predicted


def test_rates_that_no_constant_was_fitted_to_are_met():
    rows = read(DATA / "truth" / "timing.csv")
    rows = rows[rows.notes.str.contains("open-loop")].reset_index(drop=True)
    said = validate.predict(rows)
    error = (said.predicted / rows.value - 1).abs()
    assert said.covered.sum() >= 100 and set(said.label[said.covered]) == {"extrapolated"}
    assert error.groupby(rows.metric).median().max() < 0.15
