"""What is predicted of a combination: by laws and fitted constants, each figure in an interval."""

import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

from inferecon import cli, matrix, naming
from inferecon import symbols as s
from inferecon.calibration import constants
from inferecon.dataset import write_dataset
from inferecon.errors import BadInput
from inferecon.forecast import outlook
from inferecon.numberbox import quoted_in
from inferecon.numbers import KNOWN, PREDICTED, PREDICTED_GRID, Interval, digits, prediction
from inferecon.predicting import COLUMNS
from inferecon.predictions import ENGINES
from inferecon.report.results import ENGINE, result_cell, unpredicted
from inferecon.results import numbers_of
from inferecon.running import read
from inferecon.scenario import opened
from inferecon.sweep import sweep

SMALL = "deepseek-r1-distill-qwen-7b"


def case(model=SMALL, hardware="h200-sxm", weights="bf16", activations="bf16", **more):
    chosen = {"batch": 32, "isl": 1024, "osl": 1024} | more
    return opened(
        model=model, hardware=hardware, weights=weights, activations=activations, **chosen
    )


# Predictions -----------------------------------------------------------------------------------


def test_many_workloads_at_once_are_what_each_is_alone():
    points = [(32, 1024), (1, 1024), (256, 8192)]
    together = outlook(case(), "vllm", *zip(*points, strict=True))
    for place, (batch, isl) in enumerate(points):
        alone = outlook(case(), "vllm", [batch], [isl])
        for symbol in PREDICTED:
            ends = [end[place] for end in together.symbols[symbol]]
            assert ends == pytest.approx([end[0] for end in alone.symbols[symbol]], rel=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "choices", [{}, {"model": "deepseek-v3", "weights": "fp8", "activations": "fp8"}]
)
def test_a_prediction_lies_in_its_interval_and_never_beats_the_roofline(engine, choices):
    found = outlook(case(**choices), engine, [1, 32, 32], [1024, 1024, 8192])
    for symbol in PREDICTED:
        value, low, high = found.symbols[symbol]
        assert (low <= value).all() and (value <= high).all() and (low < high).all(), symbol
    for metric in ("ttft_ms", "tpot_ms"):
        assert (found.metrics[metric].low >= found.bounds[metric]).all()
    for metric in ("decode_tok_s", "output_throughput_tok_s"):
        assert (found.metrics[metric].high <= found.bounds[metric]).all()
    assert set(found.known) <= set(KNOWN) and not any(found.reason)


def test_dollars_and_grams_follow_from_what_is_predicted():
    chosen = case("deepseek-v3", weights="fp8", activations="fp8")
    found = outlook(chosen, "vllm", [32], [1024]).symbols
    price, devices = float(chosen.values[s.price]), float(chosen.values[s.n_devices])
    assert devices == 8
    # eight devices are paid by the second; the fewer tokens in it, the dearer each
    rate = [float(end[0]) for end in found[s.throughput]]
    cost = [float(end[0]) for end in found[s.cost_per_token]]
    expected = [8 * price / rate[0], 8 * price / rate[2], 8 * price / rate[1]]
    assert cost == pytest.approx(expected, rel=1e-9)
    # grams are joules times PUE times the grid
    per_joule = float(chosen.values[s.pue] * chosen.values[s.grid_intensity])
    for gram, joule in zip(found[s.carbon_per_token], found[s.energy_per_token], strict=True):
        assert gram == pytest.approx(joule * per_joule, rel=1e-9)


def test_what_was_measured_together_is_calibrated_and_has_the_narrower_interval():
    seen = constants.FOLDER / "cells.csv"
    lines = [line.split(",") for line in seen.read_text().splitlines()[1:]]
    model, hardware = next(
        (m, h) for m, h, e, f in lines if (e, h, f) == ("vllm-2025", "h100-sxm", "16") and "8b" in m
    )
    measured = outlook(case(model, hardware), "vllm", [32], [1024])
    apart = outlook(case(SMALL, "l40s"), "vllm", [32], [1024])
    narrow = outlook(case(model, hardware, weights="int4-awq"), "vllm", [32], [1024])
    assert measured.known[0] == "calibrated" and apart.known[0] == "extrapolated"
    assert narrow.known[0] == "extrapolated"  # measured on this card, in another format

    def width(found):
        _, low, high = found.symbols[s.itl]
        return np.log(high / low)[0]

    assert width(measured) < width(apart)


def test_what_nobody_measured_is_missing_with_its_reason():
    found = outlook(case(weights="int8-w8a8", activations="int8-w8a8"), "vllm", [32], [1024])
    assert found.reason[0] == "no row with weights in int8-w8a8 was measured"
    assert found.known[0] == "" and all(np.isnan(v).all() for v in found.symbols[s.itl])


def test_an_unknown_engine_is_refused_with_the_nearest():
    with pytest.raises(BadInput, match="no engine 'vlm'; did you mean vllm"):
        outlook(case(), "vlm", [1], [1024])


# Published -------------------------------------------------------------------------------------

COMBINATIONS = {
    "measured": (SMALL, "h200-sxm", "bf16"),
    "unmeasured": (SMALL, "h200-sxm", "int8-w8a8"),
    "too large": ("deepseek-v3", "l40s", "bf16"),
}


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """What the scenario notebook published for a few combinations, by id."""
    folder = tmp_path_factory.mktemp("sweep")
    jobs = {}
    for names in COMBINATIONS.values():
        (one,) = matrix.combinations(*names, **matrix.WORKLOAD)
        jobs["/".join(names)] = matrix.job_for(one.case, folder)
    outcomes = sweep(list(jobs.values()), workers=1, progress=lambda _: None)
    assert [outcome.status for outcome in outcomes] == ["ok"] * len(jobs)
    return {id: read(job.target) for id, job in jobs.items()}


def id_of(name):
    return "/".join(COMBINATIONS[name])


def test_a_notebook_publishes_predictions_beside_bounds(executed):
    id = id_of("measured")
    numbers = numbers_of(id, executed[id])
    for symbol in PREDICTED:
        one = numbers[f"{id}@{ENGINE}:{symbol.name}"]
        assert one.known in KNOWN and one.low < one.value < one.high
    assert numbers[f"{id}:itl"].known == "" and numbers[f"{id}:itl"].low is None
    found = outlook(case(), ENGINE, [32], [1024]).symbols[s.itl]
    shown = numbers[f"{id}@{ENGINE}:itl"]
    assert [x * 1e3 for (x,) in found] == pytest.approx(list(shown[:1] + shown[2:4]), rel=1e-9)


def test_the_command_of_a_prediction_gives_it_again(executed, monkeypatch, capsys):
    id = id_of("measured")
    numbers = numbers_of(id, executed[id])
    command = naming.case_of(f"{id}@{ENGINE}", numbers).command
    for symbol in ("itl", "ttft", "cost_per_token", "energy_per_token"):
        words = [*command.replace("SYMBOL", symbol).split(), "--json"]
        monkeypatch.setattr("sys.argv", words)
        with pytest.raises(SystemExit):
            cli.main()
        tree, known = json.loads(capsys.readouterr().out), numbers[f"{id}@{ENGINE}:{symbol}"]
        ends = Interval(tree["value"], tree["low"], tree["high"])
        shown = prediction(s.SYMBOLS[symbol], ends, known.known)
        assert shown.unit == known.unit
        got, published = ([x.value, x.low, x.high] for x in (shown, known))
        assert got == pytest.approx(published, rel=1e-9), symbol
        assert tree["known"].startswith(f"{known.known}: ")


def test_a_missing_prediction_is_published_as_missing(executed):
    id = id_of("unmeasured")
    numbers = numbers_of(id, executed[id])
    assert numbers[f"{id}@{ENGINE}:itl"] == (None, "ms", None, None, "")
    reason = "no row with weights in int8-w8a8 was measured"
    assert executed[id]["predicted"]["reason"] == reason
    assert unpredicted([("it", id)], executed) == [f"Not predicted: {reason}."]
    assert "predicted" not in executed[id_of("too large")]


def test_the_pages_show_the_engine_that_the_notebook_predicts_for():
    assert naming.defaults("scenario")["engine"] == ENGINE


def test_a_table_shows_the_bound_and_the_prediction(executed):
    id, other = id_of("measured"), id_of("unmeasured")
    numbers = numbers_of(id, executed[id]) | numbers_of(other, executed[other])
    assert quoted_in(result_cell(numbers, id, "itl")) == {f"{id}:itl", f"{id}@{ENGINE}:itl"}
    assert quoted_in(result_cell(numbers, id, "n_devices")) == {f"{id}:n_devices"}
    assert quoted_in(result_cell(numbers, other, "itl")) == {f"{other}:itl"}


def test_the_dataset_has_predictions_with_units_and_how_they_are_known(executed, tmp_path):
    path = tmp_path / "results.parquet"
    write_dataset(path, executed)
    table = pq.read_table(path)
    for symbol in PREDICTED_GRID:
        for end in ("predicted", "low", "high"):
            field = table.schema.field(f"{symbol.name}_{end}")
            assert field.metadata[b"unit"], field
    assert set(COLUMNS) <= set(table.column_names)
    rows = {}
    for row in table.to_pylist():
        rows.setdefault(row["combination"], []).append(row)
    measured = rows[id_of("measured")]
    served = [row for row in measured if row["itl"] is not None]
    assert len(served) > 10
    assert all((row["known"] in KNOWN) == (row in served) for row in measured)
    assert all(row["engine"] == "vllm" for row in measured)
    for row in served:  # the bound and the prediction of the same point
        assert row["itl"] <= row["itl_low"] <= row["itl_predicted"] <= row["itl_high"]
    (batch,) = [r for r in served if (r["batch"], r["isl"]) == (64, 8192)]
    alone = outlook(case(), "vllm", [64], [8192]).symbols[s.itl].value[0]
    assert digits(batch["itl_predicted"]) == digits(alone * 1e3)
    for row in rows[id_of("unmeasured")]:
        assert row["itl_predicted"] is None and "int8-w8a8" in row["unpredicted"]
    (row,) = rows[id_of("too large")]
    assert row["known"] is None and row["obstacle"]


def test_other_constants_make_a_notebook_run_again(tmp_path, monkeypatch):
    (one,) = matrix.combinations(SMALL, "h200-sxm", "bf16", **matrix.WORKLOAD)
    before = matrix.job_for(one.case).key
    assert matrix.job_for(one.case).key == before
    for name in ("constants.csv", "cells.csv", "scatter.csv"):
        shutil.copy(constants.FOLDER / name, tmp_path)
    monkeypatch.setattr(constants, "FOLDER", tmp_path)
    monkeypatch.setattr(constants, "FITTED", tmp_path / "constants.csv")
    assert matrix.job_for(one.case).key == before
    path = tmp_path / "scatter.csv"
    path.write_text(path.read_text().replace("0.", "0.1", 1))
    assert matrix.job_for(one.case).key != before
