"""Charts of results: which combination of a name is drawn, in which order, and what they say."""

import pytest

from inferecon.errors import BuildFailed
from inferecon.numbers import Number
from inferecon.report import bounds, data
from inferecon.report.summary import best

MODEL = "llama-3.1-8b"


def numbers(**more):
    """One model on two devices: predicted in one format, and only bounded in a faster one."""
    found = {
        f"{MODEL}/h200-sxm/fp8:cost_per_token": Number(1.0, "USD/Mtoken"),
        f"{MODEL}/h200-sxm/fp8@vllm:cost_per_token": Number(
            3.0, "USD/Mtoken", 2.0, 4.5, "calibrated"
        ),
        f"{MODEL}/h200-sxm/int8-w8a8:cost_per_token": Number(0.5, "USD/Mtoken"),
        f"{MODEL}/mi300x/fp8:cost_per_token": Number(0.9, "USD/Mtoken"),
        f"{MODEL}/mi300x/fp8@vllm:cost_per_token": Number(
            6.0, "USD/Mtoken", 4.0, 9.0, "extrapolated"
        ),
        f"{MODEL}/l4/fp8:cost_per_token": Number(0.1, "USD/Mtoken"),
    }
    return found | more


COMBINATIONS = {
    name: [(fmt, f"{MODEL}/{name}/{fmt}") for fmt in ("fp8", "int8-w8a8")]
    for name in ("l4", "mi300x", "h200-sxm")
}


def test_what_is_predicted_comes_before_what_is_only_bounded():
    rows = bounds.best_rows(COMBINATIONS, numbers(), "cost_per_token")
    # the bound of int8 is half of fp8's, and nobody measured it; the L4 has no prediction at all
    assert [row["name"] for row in rows] == ["h200-sxm, fp8", "mi300x, fp8", "l4, fp8"]
    assert (rows[0]["derived"], rows[0]["predicted"], rows[0]["high"]) == (1.0, 3.0, 4.5)
    assert rows[1]["class"] == "AMD Instinct" and rows[0]["family"] == "Llama"
    assert "predicted" not in rows[2]


def test_a_title_compares_like_with_like():
    rows = bounds.best_rows(COMBINATIONS, numbers(), "cost_per_token")
    said = bounds.best_device(rows, "cost_per_token")
    assert said == "h200-sxm, fp8, is cheapest on vLLM: 3 USD/Mtok; mi300x takes 2 times as much"
    for name, count in (("h200-sxm", 1.0), ("mi300x", 2.0)):
        more = {f"{MODEL}/{name}/fp8:n_devices": Number(count, "")}
        more[f"{MODEL}/{name}/fp8:itl"] = Number(5.0, "ms")
        own = {"Llama": COMBINATIONS[name]}
        finding = bounds.what_fits("card", own, numbers(**more))
        alone = int(count == 1)
        assert finding(rows, "cost_per_token").startswith(f"One card holds {alone} of 1 models; ")


def test_a_rate_is_best_where_it_is_largest():
    found = {
        f"{MODEL}/h20/fp8:throughput_device": Number(100.0, "token/s"),
        f"{MODEL}/gaudi3/fp8:throughput_device": Number(50.0, "token/s"),
    }
    both = {name: [("fp8", f"{MODEL}/{name}/fp8")] for name in ("gaudi3", "h20")}
    text = "\n".join(bounds.price_chart("It", both, found, bounds.best_device))
    assert "h20, fp8, is fastest at best: 100 tok/s a device, 2 times those of gaudi3" in text
    assert "runs on none" in bounds.price_chart("It", both, {}, bounds.best_device)[1]


@pytest.mark.parametrize("unit", ["TFLOP/s", "TB/s", "GB", "W"])
def test_a_column_of_hardware_has_a_unit(unit):
    assert f", {unit} |" in data.data_hardware()


def test_the_summary_takes_what_is_predicted_to_make_most_tokens():
    rates = {
        f"{MODEL}/{of}:throughput_device": Number(rate, "token/s", *interval)
        for of, rate, interval in (
            ("h200-sxm/fp8", 900.0, ()),
            ("h200-sxm/fp8@vllm", 500.0, (400.0, 600.0, "calibrated")),
            ("b300-sxm/nvfp4", 4000.0, ()),  # the best bound of those that are predicted
            ("b300-sxm/nvfp4@vllm", 450.0, (200.0, 900.0, "extrapolated")),
            ("mi355x/fp8", 9000.0, ()),  # nobody predicts it
        )
    }
    assert best(MODEL, rates) == ("h200-sxm", "fp8")
    bounded = {id: one for id, one in rates.items() if "@" not in id}
    assert best(MODEL, bounded) == ("mi355x", "fp8")
    with pytest.raises(BuildFailed, match="runs on no hardware"):
        best(MODEL, {})
