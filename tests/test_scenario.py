"""A scenario refuses what cannot be, names what keeps it from running, and guesses nothing."""

import math
from dataclasses import replace

import pytest

from inferecon import symbols as s
from inferecon.errors import BadInput
from inferecon.laws import SERVICE
from inferecon.matrix import FORMATS, HARDWARE, activations_for
from inferecon.records import ids, load
from inferecon.scenario import Scenario, choose_devices


def deepseek(**choices):
    return Scenario("deepseek-v3", "h200-sxm", **choices)


def llama(hardware="h200-sxm", **choices):
    return Scenario("llama-3.1-8b", hardware, **choices)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"model": "deepseek-v33"}, "no record 'deepseek-v33' in models; did you mean deepseek-v3"),
        ({"hardware": "h200"}, "no record 'h200' in hardware; did you mean .*h200-sxm"),
        ({"weights": "fp9"}, "no record 'fp9' in formats; did you mean fp8"),
        ({"grid": "usb"}, "no record 'usb' in grids; did you mean .*usa"),
        ({"model": 3}, "models: 3 is not a record id"),
        ({"model": "../hardware/h200-sxm"}, "is not a record id"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(choices, sentence):
    with pytest.raises(BadInput, match=sentence):
        Scenario(**{"model": "deepseek-v3", "hardware": "h200-sxm"} | choices)


@pytest.mark.parametrize("name", ["tp", "ep", "batch", "isl", "osl"])
@pytest.mark.parametrize("value", [0, -1, 1.5, math.nan, math.inf, True, "8", None, [4], 1j])
def test_a_count_is_a_whole_number_of_at_least_one(name, value):
    with pytest.raises(BadInput, match=f"^{name} must be a whole number of at least 1, not "):
        deepseek(**{name: value})


def test_a_count_has_an_upper_end():
    with pytest.raises(BadInput, match="batch must be at most 1,000,000,000, not 10000000000"):
        deepseek(batch=10**10)


def test_a_whole_float_is_a_count():
    assert llama(batch=2.0).batch == 2


def test_a_context_beyond_the_model_is_refused_with_both_numbers():
    sentence = "isl 200000 \\+ osl 1024 exceeds the context of deepseek-v3, 163,840 tokens"
    with pytest.raises(BadInput, match=sentence):
        deepseek(isl=200_000)
    assert deepseek(isl=163_840 - 1024).isl == 162_816


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"tp": 3}, "tp 3 does not divide the 128 heads of deepseek-v3; allowed: 1, 2, 4, 8, 16"),
        ({"ep": 3}, "ep 3 does not divide the 256 experts of deepseek-v3"),
        ({"tp": 8, "ep": 4}, r"ep 4 must be 1, tp \(8\) or a multiple of tp"),
        ({"model": "llama-3.1-8b", "ep": 2}, "ep 2: llama-3.1-8b has no experts, so ep must be 1"),
    ],
)
def test_devices_must_divide_what_they_share(choices, sentence):
    with pytest.raises(BadInput, match=sentence):
        Scenario(**{"model": "deepseek-v3", "hardware": "h200-sxm"} | choices)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"weights": "kv-fp8"}, "weights: kv-fp8 is a format for kv; did you mean fp8"),
        ({"kv": "int4-awq"}, "kv: int4-awq is a format for weight; did you mean kv-int4"),
        ({"activations": "int4-awq"}, "activations: int4-awq is a format for weight"),
    ],
)
def test_a_format_is_used_for_what_it_is(choices, sentence):
    with pytest.raises(BadInput, match=sentence):
        llama(**choices)


def test_a_model_without_public_shapes_is_refused():
    with pytest.raises(
        BadInput, match=r"deepseek-v4.1-flash.yaml states no .*, so nothing can be computed"
    ):
        Scenario("deepseek-v4.1-flash", "h200-sxm")


def test_an_unknown_provider_is_refused_with_the_nearest():
    with pytest.raises(BadInput, match=r"no offer of 'nebus' in prices/h200-sxm.yaml"):
        assert llama(provider="nebus").offer


# What keeps a combination from running ---------------------------------------------------------


def test_too_little_memory_is_said_with_both_numbers():
    # weights 671,026,419,200 x 2 B = 1,342.1 GB, and 2,048 tokens x 70,272 B = 0.1 GB;
    # 0.9 x 144,384 MiB = 136.3 GB
    assert deepseek().obstacles == [
        "1,342.2 GB are needed on each of 1 device, 136.3 GB are available"
    ]
    needed = (671_026_419_200 * 2 + 2048 * 70_272) / 1e9
    assert deepseek().value(s.memory_needed).to("GB").m == pytest.approx(needed, rel=1e-4)
    assert deepseek().value(s.memory_available).to("GB").m == pytest.approx(
        0.9 * 144384 * 1.048576 / 1000
    )


def test_too_many_devices_are_said_with_the_size_of_the_domain():
    (sentence,) = deepseek(tp=8, ep=16).obstacles
    assert sentence == "16 devices are asked for, H200 SXM 141 GB has a scale-up domain of 8"


def test_two_cards_without_a_link_do_not_work_together():
    assert llama("l40s", tp=2).obstacles == ["2 devices are asked for, L40S has no scale-up link"]


def test_a_format_without_a_rate_is_said_and_not_replaced():
    case = llama("a100-80gb-sxm", weights="fp8", activations="fp8")
    (sentence,) = case.obstacles
    assert "fp8 weights with fp8 activations cannot be computed" in sentence
    assert "hardware/a100-80gb-sxm.yaml states no fp8 rate" in sentence
    assert math.isnan(case.values[s.itl]) and s.peak_linear not in case.given()


@pytest.mark.parametrize(
    ("hardware", "weights"), [("h200-sxm", "nvfp4"), ("mi300x", "nvfp4"), ("l40s", "mxfp4")]
)
def test_a_narrow_format_does_not_borrow_a_wider_rate(hardware, weights):
    activations = activations_for(weights)
    case = llama(hardware, weights=weights, activations=activations)
    if load("formats", weights).about["weight_only"]:
        assert case.values[s.peak_linear] == case.device["peak_flops@bf16"]
    else:
        assert any("cannot be computed" in sentence for sentence in case.obstacles)
        assert math.isnan(case.values.get(s.itl))


def test_a_combination_that_runs_has_no_obstacle():
    assert llama().obstacles == []
    assert deepseek(weights="fp8", activations="fp8", tp=8, ep=8).obstacles == []


# What a scenario takes from the records --------------------------------------------------------


def test_a_weight_only_format_computes_at_the_rate_of_the_activations():
    case = llama(weights="int4-awq")
    assert case.values[s.peak_linear] == 989e12  # bf16; the H200 has no 4-bit rate at all
    # 4 bits, and 16 + 4 bits of scale and zero over 128 elements: 4.15625 bit
    assert case.values[s.linear_width] * 8 == pytest.approx(4 + 20 / 128)
    assert case.values[s.table_width] == 2  # tables stay in 16 bits


def test_both_operands_in_eight_bits_compute_at_twice_the_rate():
    assert llama(weights="fp8", activations="fp8").values[s.peak_linear] == 1979e12


def test_the_wider_operand_sets_the_rate():
    assert llama(weights="fp8", activations="bf16").values[s.peak_linear] == 989e12


def test_attention_computes_in_sixteen_bits_whatever_the_weights():
    assert llama(weights="fp8", activations="fp8").values[s.peak_native] == 989e12


def test_a_scale_a_row_is_shared_by_the_width_of_the_stream():
    # 8 bits and a 32-bit scale over 4,096 elements
    assert llama(weights="fp8").values[s.linear_width] * 8 == pytest.approx(8 + 32 / 4096)


def test_the_price_is_the_lowest_on_demand_offer():
    # on demand: 3.39, 3.50 and 15.99 USD/h; market ranges and cost models are no offers
    assert llama().offer.price == "3.39 USD/h"
    assert llama().values[s.price] == pytest.approx(3.39 / 3600)


@pytest.mark.parametrize("hardware", ids("prices"))
def test_no_on_demand_offer_is_cheaper(hardware):
    plain = [o for o in load("prices", hardware).offers if o.kind == "on-demand" and o.price]
    offer = Scenario("deepseek-r1-distill-qwen-1.5b", hardware).offer
    if not plain:
        assert offer is None
        return
    assert offer in plain
    assert all(o.usd_per_second >= offer.usd_per_second for o in plain)


def test_a_named_provider_sets_the_price():
    case = llama(provider="Nebius")
    assert case.offer.provider == "Nebius" and case.offer.price == "3.5 USD/h"


def test_a_missing_price_leaves_only_costs_without_a_value():
    case = llama("h20")
    assert case.offer is None and case.missing(s.cost_per_token) == [s.price]
    priced = {s.cost_per_token, s.cost_per_input_token, s.cost_per_step_token}
    unmeasured = {s.arithmetic_prefill, s.arithmetic_decode, s.energy_prefill, s.energy_step}
    unmeasured |= {s.energy_per_token, s.carbon_per_token, s.energy_per_input}
    unmeasured |= {s.energy_per_any, s.energy_per_step_token}
    empty = {symbol for symbol in SERVICE.laws if math.isnan(case.values[symbol])}
    assert empty == priced | unmeasured


def test_energy_by_cause_is_known_for_the_measured_device_alone():
    assert not math.isnan(llama().values[s.energy_per_token])
    for hardware in set(HARDWARE) - {"h200-sxm"}:
        case = llama(hardware)
        assert math.isnan(case.values[s.energy_per_token])
        assert {s.idle_draw, s.energy_linear, s.energy_per_byte} <= set(
            case.missing(s.energy_per_token)
        )
        assert not math.isnan(case.values[s.energy_at_limit])


def test_a_missing_link_does_not_touch_one_device():
    case = llama("l40s")
    assert case.missing(s.itl) == [s.link_bandwidth]
    assert not math.isnan(case.values[s.itl]) and case.values[s.t_comm_decode] == 0


def test_every_given_value_says_where_it_comes_from():
    case = deepseek(weights="fp8", activations="fp8", tp=8, ep=8)
    origins = case.origins_of_given()
    assert origins.keys() == case.given().keys()
    for symbol, origin in origins.items():
        assert origin.record or origin.choice, symbol


def test_scenarios_are_values():
    assert deepseek() == deepseek() and deepseek() != deepseek(batch=2)
    assert len({deepseek(), deepseek(), deepseek(batch=2)}) == 2


# Choosing devices ------------------------------------------------------------------------------


@pytest.mark.parametrize("hardware", HARDWARE)
@pytest.mark.parametrize("weights", FORMATS)
def test_the_fewest_devices_that_hold_the_model_are_chosen(hardware, weights):
    choices = dict(weights=weights, activations=activations_for(weights), batch=32)
    case = choose_devices("deepseek-r1-distill-llama-70b", hardware, **choices)
    fits = case.values[s.memory_needed] <= case.values[s.memory_available]
    domain = case.device.get("scale_up_size")
    assert fits or case.tp == (1 if math.isnan(domain) else min(domain, 64))
    if case.tp > 1:
        half = replace(case, tp=case.tp // 2)
        assert half.values[s.memory_needed] > half.values[s.memory_available]


def test_experts_are_spread_over_the_same_devices():
    case = choose_devices("deepseek-v3", "h200-sxm", weights="fp8", activations="fp8")
    assert (case.tp, case.ep) == (8, 8)
