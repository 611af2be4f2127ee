"""Worked examples that a page computes in its own text: the laws must still give them."""

import pytest

from inferecon import symbols as s
from inferecon.law import OutOfRegime
from inferecon.laws.catalogue import BY_ID
from inferecon.records import load
from inferecon.scenario import opened
from inferecon.units import quantity


def default(model, weights, **layout):
    """Values of the default sweep on H200, laws beside the system to be added by hand."""
    case = opened(
        model=model,
        hardware="h200-sxm",
        weights=weights,
        activations=weights,
        batch=32,
        isl=1024,
        osl=1024,
        **layout,
    )
    return dict(case.values)


def gives(id, values, **more):
    law = BY_ID[id]
    values[law.symbol] = law(values | {getattr(s, name): value for name, value in more.items()})
    return float(values[law.symbol])


@pytest.fixture(scope="module")
def llama():
    return default("deepseek-r1-distill-llama-8b", "bf16")


@pytest.fixture(scope="module")
def v3():
    return default("deepseek-v3", "fp8", tp=8, ep=8)


def near(value):
    return pytest.approx(value, rel=5e-3)


def test_the_mix_of_a_gguf_file_is_the_width_on_record():
    # parameters: head, half of the values and of the down matrices in Q6_K; norms in 32 bits
    wide, all_of_it, norms = 1531969536, 8030261248, 65 * 4096
    matrices = all_of_it - norms
    mix = BY_ID["WIDTH-MIX"](
        {s.mix_share: wide / matrices, s.wide_width: 6.5625, s.narrow_width: 4.5}
    )
    mean = (mix * matrices + 32 * norms) / all_of_it
    width = quantity(load("formats", "gguf-file-q4-k-m").facts["element_width"].value)
    assert mean == pytest.approx(width.to("bit/elem").magnitude, abs=5e-5)


def test_decode_of_a_plain_model_turns_compute_bound_at_short_contexts_only(llama):
    # traffic: 206, 376, 2132 and none
    slope = 4 * 32 * 32 * 128
    short = float(llama[s.flop_linear] + llama[s.flop_head])
    for context, batch in ((0, 206), (256, 376), (512, 2132)):
        here = llama | {s.flop_decode: short + slope * context, s.context: context}
        assert gives("RIDGE-BATCH-KV", here) == near(batch)
    with pytest.raises(OutOfRegime):
        gives("RIDGE-BATCH-KV", llama | {s.flop_decode: short + slope * 568, s.context: 568})
    assert gives("CONTEXT-NEVER", dict(llama), core_slope=slope) == near(567)
    weights = float(llama[s.dense_read_device])
    assert gives("CONTEXT-KV", dict(llama), step_weights=weights) == near(3579)


def test_attention_to_the_latent_is_compute_bound_by_itself_in_sixteen_bits(v3):
    with pytest.raises(OutOfRegime):
        gives("CONTEXT-NEVER", v3 | {s.peak_linear: v3[s.peak_native]}, core_slope=16990208)


def test_routing_of_the_default_batch_spreads_as_the_page_says(v3):
    gives("IDLE-ONE", v3), gives("IDLE-PAIR", v3)
    assert gives("EXPERTS-VARIANCE", v3) == near(24.6)
    assert gives("DEVICE-DRAWS", v3) == 32
    gives("DEVICE-VARIANCE", v3)
    assert gives("FULLEST-SPREAD", v3) == near(45.8)
    assert gives("FULLEST-TAIL", v3) == near(44.2)
    assert gives("IMBALANCE", v3) == near(1.38)


def test_the_seam_of_the_default_batch_is_what_the_page_says(v3):
    assert gives("DEVICES-MET", v3) == near(5.25)
    layer = gives("DISPATCH-COMBINE", v3, own_tokens=4)
    assert 58 * layer == pytest.approx(0.18e-3, rel=1e-2)
    gives("ITL-OVERLAPPED", v3)
    assert gives("COMM-GAP", v3) == near(1.17)
    assert gives("DOC1-COMM", v3, bandwidth_share=1) == near(11.66e-6)
    assert gives("DOC1-COMM-RATIO", v3) == near(180)


def test_a_cached_half_leaves_half_of_the_time(llama):
    values = llama | {s.cached_share: 0.5, s.chunk_tokens: 512}
    gives("CHUNKS", values), gives("FLOP-UNCACHED", values)
    assert gives("TIME-MATH-UNCACHED", values) == near(7.44e-3)
    assert gives("TIME-MEMORY-UNCACHED", values) == near(3.13e-3)


def test_a_stall_hides_in_the_mean(llama):
    stalled = gives("TPOT-STALL", llama, stalls=1, stall_time=float(llama[s.ttft]))
    assert stalled == pytest.approx(4.931e-3, rel=1e-3)


def test_phases_add_up_to_the_bill(v3):
    per_million = 1e6 / 3.6e6  # J a token to kWh a million
    shown = (("energy_per_input", 0.0181), ("energy_per_step_token", 0.653))
    for name, kwh in (*shown, ("energy_per_any", 0.335), ("energy_per_token", 0.670)):
        assert float(v3[s.SYMBOLS[name]]) * per_million == near(kwh)
    assert float(v3[s.cost_per_step_token]) * 1e6 == near(3.376)
    parts = v3[s.cost_per_input_token] + v3[s.cost_per_step_token] * 1023 / 1024
    assert float(parts) == pytest.approx(float(v3[s.cost_per_token]), rel=1e-12)


def test_the_third_documents_energy_is_another_number_in_another_unit(v3):
    joules = 3.8e18 / 5.8e9
    assert joules * 220 / 3.6e6 == pytest.approx(40038, abs=1)  # kWh W, printed as 40.2 kWh
    assert joules / 3.6e6 == near(182)
    exact = gives("ENERGY-ARITHMETIC", v3, flop_efficiency=5.8e9)
    assert exact * 1e6 / 3.6e6 == near(4.76)


def test_a_hybrid_keeps_more_until_its_cache_has_grown():
    case = opened(
        model="qwen3-next-80b-a3b",
        hardware="h200-sxm",
        weights="bf16",
        activations="bf16",
        batch=1,
        isl=1024,
        osl=1024,
    )
    values = dict(case.values)
    assert float(values[s.state_elements]) == 36 * (32 * 128**2 + 3 * 8192)
    assert float(values[s.kv_growing]) == 12288
    values[s.state_width] = values[s.kv_width]
    assert gives("STATE-CONTEXT", values) == 1608
