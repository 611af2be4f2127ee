"""Limits and directions that the laws must obey, whatever the numbers."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inferecon import symbols as s
from inferecon.laws import SERVICE
from inferecon.laws.catalogue import BY_ID
from inferecon.records import load
from inferecon.scenario import Scenario

settings.register_profile(
    "laws", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("laws")

# Dense, latents and experts, windows, recurrent state; on one device, in a group, in groups.
CASES = [
    Scenario("llama-3.1-8b", "h200-sxm"),
    Scenario("deepseek-v3", "h200-sxm", weights="fp8-block128", activations="fp8", tp=8, ep=8),
    Scenario("deepseek-v3", "mi300x", tp=2, ep=8),
    Scenario("gemma-3-27b", "b200-sxm", tp=2),
    Scenario("qwen3-next-80b-a3b", "h100-sxm", tp=4, ep=4),
    Scenario("deepseek-v3.2", "b200-sxm", tp=8, ep=8),
]
cases = st.sampled_from(CASES)
sizes = st.integers(1, 4096)
lengths = st.integers(1, 100_000)


def solve(case, **changed):
    return SERVICE.solve(case.given() | {s.SYMBOLS[k]: float(v) for k, v in changed.items()})


def close(value):
    return pytest.approx(float(value), rel=1e-9)


def at_most(smaller, larger):
    return float(smaller) <= float(larger) * (1 + 1e-12)


# Directions ------------------------------------------------------------------------------------


@given(cases, sizes, sizes)
def test_a_larger_batch_never_makes_a_step_shorter_or_the_memory_emptier(case, one, other):
    few, many = (solve(case, batch=b) for b in sorted((one, other)))
    grows = (s.itl, s.ttft, s.memory_needed, s.decode_bytes_device, s.decode_flop_device, s.e2e)
    for symbol in grows:
        assert at_most(few[symbol], many[symbol]), symbol


@given(cases, sizes)
def test_twice_the_batch_never_gives_fewer_tokens_per_second(case, batch):
    # at twice the batch every group has at most twice the sequences, so a step at most doubles
    one, two = solve(case, batch=batch), solve(case, batch=2 * batch)
    for symbol in (s.decode_throughput, s.throughput):
        assert at_most(one[symbol], two[symbol]), symbol


@given(cases, lengths, lengths)
def test_a_longer_prompt_never_makes_anything_cheaper(case, one, other):
    short, long = (solve(case, isl=n) for n in sorted((one, other)))
    grows = (s.itl, s.ttft, s.kv_bytes, s.memory_needed, s.flop_decode, s.flop_prefill)
    for symbol in grows:
        assert at_most(short[symbol], long[symbol]), symbol
    assert at_most(long[s.largest_batch], short[s.largest_batch])


@given(cases, st.floats(1e11, 1e13), st.floats(1e11, 1e13))
def test_a_faster_memory_never_makes_a_step_longer(case, one, other):
    slow, fast = (solve(case, hbm_bandwidth=b) for b in sorted((one, other)))
    for symbol in (s.itl, s.ttft, s.e2e, s.device_time):
        assert at_most(fast[symbol], slow[symbol]), symbol


@given(cases, st.floats(1e10, 1e13), st.floats(1e10, 1e13))
def test_a_faster_link_never_makes_a_step_longer(case, one, other):
    slow, fast = (solve(case, link_bandwidth=b) for b in sorted((one, other)))
    assert at_most(fast[s.itl], slow[s.itl])


@given(cases, st.floats(1.01, 8))
def test_while_memory_bound_latency_falls_as_bandwidth_rises(case, factor):
    before = solve(case, batch=1)
    after = solve(case, batch=1, hbm_bandwidth=float(case.device["hbm_bandwidth"]) * factor)
    assert before[s.t_memory_decode] > before[s.t_math_decode]
    assert float(after[s.t_memory_decode] * factor) == close(before[s.t_memory_decode])
    assert after[s.itl] < before[s.itl]


# Limits ----------------------------------------------------------------------------------------


@given(st.integers(1, 512), st.data())
def test_a_large_batch_wakes_every_expert_and_one_token_wakes_k(experts, data):
    k = data.draw(st.integers(1, experts))
    law = BY_ID["EXPERTS-DECODE"]
    assert float(law({s.n_experts: experts, s.top_k: k, s.batch: 1})) == close(k)
    assert float(law({s.n_experts: experts, s.top_k: k, s.batch: 10**6})) == close(experts)


@pytest.mark.parametrize(
    ("experts", "k", "tokens"), [(2, 1, 3), (3, 2, 2), (4, 1, 3), (4, 2, 3), (5, 3, 2), (5, 4, 2)]
)
def test_distinct_experts_are_the_mean_over_all_draws(experts, k, tokens):
    choices = list(itertools.combinations(range(experts), k))
    draws = list(itertools.product(choices, repeat=tokens))
    mean = sum(len(set().union(*draw)) for draw in draws) / len(draws)
    law = BY_ID["EXPERTS-DECODE"]
    assert float(law({s.n_experts: experts, s.top_k: k, s.batch: tokens})) == close(mean)


def test_a_dense_model_wakes_no_expert():
    assert solve(CASES[0])[s.experts_decode] == 0


@given(cases, sizes, lengths)
def test_one_device_has_nobody_to_talk_to(case, batch, isl):
    values = solve(case, tp=1, ep=1, batch=batch, isl=isl)
    assert values[s.t_comm_decode] == values[s.t_comm_prefill] == 0


@pytest.mark.parametrize("link_bandwidth", [1e9, math.nan])
def test_a_device_without_a_link_still_has_a_latency_alone(link_bandwidth):
    assert solve(CASES[0], link_bandwidth=link_bandwidth)[s.t_comm_decode] == 0


@given(st.integers(1, 200), st.integers(1, 128), st.integers(1, 256))
def test_the_multi_head_cache_is_two_widths_a_layer(layers, heads, width):
    facts = load("models", "llama-2-7b").given
    shape = {
        s.n_layers: layers,
        s.n_full_layers: layers,
        s.n_heads: heads,
        s.n_kv_heads: heads,
        s.head_dim: width,
        s.v_head_dim: width,
        s.hidden_size: heads * width,
    }
    values = SERVICE.solve(facts | shape)
    assert values[s.kv_growing] == 2 * layers * heads * width
    assert values[s.kv_overstatement] == 1


@given(cases, sizes, lengths, st.integers(2, 4096))
def test_throughput_latency_and_time_say_the_same(case, batch, isl, osl):
    v = solve(case, batch=batch, isl=isl, osl=osl)
    assert float(v[s.interactivity] * v[s.itl]) == close(1)
    assert float(v[s.decode_throughput]) == close(batch * v[s.interactivity])
    assert float(v[s.throughput] * v[s.e2e]) == close(batch * osl)
    assert float(v[s.device_time] * v[s.throughput_device]) == close(1)
    assert float(v[s.e2e]) == close(v[s.ttft] + (osl - 1) * v[s.itl])
    # the first of the tokens comes from the prefill
    assert at_most(v[s.throughput] * (osl - 1) / osl, v[s.decode_throughput])


@given(sizes, lengths)
def test_energy_of_a_long_answer_is_that_of_its_steps(batch, isl):
    case = CASES[0]
    v = solve(case, batch=batch, isl=isl, osl=10**12)
    assert float(v[s.energy_per_token]) == pytest.approx(float(v[s.energy_step] / batch), rel=1e-3)


@given(cases, sizes, lengths)
def test_one_token_costs_one_prefill(case, batch, isl):
    v = solve(case, batch=batch, isl=isl, osl=1)
    assert float(v[s.e2e]) == close(v[s.ttft])
    if s.price in case.given():
        assert float(v[s.cost_per_token]) == close(v[s.cost_per_input_token] * isl)


@given(cases, sizes)
def test_carbon_and_cost_are_linear_in_their_prices(case, batch):
    one = solve(case, batch=batch, price=1e-3, pue=1, grid_intensity=1e-4)
    two = solve(case, batch=batch, price=2e-3, pue=1.5, grid_intensity=4e-4)
    assert float(two[s.cost_per_token]) == close(2 * one[s.cost_per_token])
    assert float(two[s.carbon_at_limit]) == close(6 * one[s.carbon_at_limit])
    assert float(one[s.energy_at_limit]) == close(one[s.device_time] * case.device["board_power"])


# Brute force -----------------------------------------------------------------------------------


@given(st.integers(1, 60), st.integers(1, 80))
def test_the_prefill_triangle_is_the_sum_over_its_tokens(isl, most):
    seen = sum(min(i, most) for i in range(1, isl + 1)) / isl
    whole = sum(range(1, isl + 1)) / isl
    given = {s.isl: isl, s.one_token: 1, s.mean_full: whole}
    assert float(BY_ID["MEAN-FULL"](given)) == close(whole)
    assert float(BY_ID["MEAN-WINDOW"](given | {s.window: most})) == close(seen)
    assert float(BY_ID["MEAN-CSA"](given | {s.csa_window: most})) == close(seen)
    assert float(BY_ID["MEAN-MLA"](given | {s.index_topk: most})) == close(seen)
    assert float(BY_ID["MEAN-BLOCK"](given | {s.block_index_topk: most})) == close(seen)
    entries = sum(min(i, 4 * most) for i in range(1, isl + 1)) / isl / 4
    assert float(BY_ID["MEAN-CSA-4"](given | {s.csa_topk: most})) == close(entries)


def multiply_adds(*matmuls):
    """Multiply-adds of products (rows x inner) by (inner x columns)."""
    return sum(rows * inner * columns for rows, inner, columns in matmuls)


def dense_step(m, context):
    """Every matrix product of one decoded token of a grouped-query model, layer by layer."""
    d, heads, kv, width = (int(m[k]) for k in ("hidden_size", "n_heads", "n_kv_heads", "head_dim"))
    layer = [(1, d, heads * width), (1, d, kv * width), (1, d, kv * width), (1, heads * width, d)]
    layer += [(1, width, context), (1, context, width)] * heads
    layer += [(1, d, int(m["dense_width"]))] * 2 + [(1, int(m["dense_width"]), d)]
    return layer * int(m["n_layers"])


@given(st.sampled_from(["llama-3.1-8b", "qwen2.5-1.5b", "qwen3-8b"]), st.integers(1, 20_000))
def test_decode_arithmetic_is_that_of_its_matrix_products(model, isl):
    m = load("models", model)
    v = solve(Scenario(model, "h200-sxm"), isl=isl, osl=2)  # attends to isl + 1 tokens
    head = (1, int(m["hidden_size"]), int(m["vocab_size"]))
    assert float(v[s.flop_decode]) == close(2 * multiply_adds(*dense_step(m, isl + 1), head))


@given(st.integers(1, 40))
def test_prefill_arithmetic_is_that_of_its_tokens(isl):
    m = load("models", "llama-3.1-8b")
    v = solve(CASES[0], isl=isl, batch=1)
    tokens = sum(multiply_adds(*dense_step(m, i)) for i in range(1, isl + 1))
    head = multiply_adds((1, int(m["hidden_size"]), int(m["vocab_size"])))
    assert float(v[s.flop_prefill] * isl) == close(2 * tokens)
    assert float(v[s.prefill_flop_device]) == close(2 * (tokens + head))


@given(st.integers(1, 100_000))
def test_decode_of_latent_attention_is_that_of_its_matrix_products(isl):
    # DeepSeek-V3, key and value projections absorbed: a head meets the latent itself
    d, heads, q, kv, nope, rope, v_dim = 7168, 128, 1536, 512, 128, 64, 128
    context = isl + 1
    mixer = [(1, d, q), (1, q, heads * (nope + rope)), (1, d, kv + rope), (1, heads * v_dim, d)]
    mixer += [(1, nope, kv), (1, kv, v_dim)] * heads  # query into the latent, value out of it
    mixer += [(1, kv + rope, context), (1, context, kv)] * heads
    dense = [(1, d, 18432)] * 2 + [(1, 18432, d)]
    expert = [(1, d, 2048)] * 2 + [(1, 2048, d)]
    moe = [(1, d, 256), *(expert * 9)]  # router, eight experts and a shared one
    step = mixer * 61 + dense * 3 + moe * 58 + [(1, d, 129280)]
    v = solve(CASES[1], isl=isl, osl=2)
    assert float(v[s.flop_decode]) == close(2 * multiply_adds(*step))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
@pytest.mark.parametrize("isl", [128, 4096, 100_000])
def test_the_largest_batch_fits_and_one_more_does_not(case, isl):
    most = float(solve(case, isl=isl)[s.largest_batch])
    if most < 1:  # no sequence fits beside the weights
        over = solve(case, isl=isl, batch=1)
        assert over[s.memory_needed] > over[s.memory_available]
        return
    full, over = solve(case, isl=isl, batch=most), solve(case, isl=isl, batch=most + 1)
    assert full[s.memory_needed] <= full[s.memory_available]
    assert over[s.memory_needed] > over[s.memory_available]


@given(cases)
def test_a_sweep_gives_what_single_points_give(case):
    batches, prompts = [1, 7, 64], [100, 5000]
    swept = case.sweep(batches, prompts)
    for (i, isl), (j, batch) in itertools.product(enumerate(prompts), enumerate(batches)):
        point = solve(case, batch=batch, isl=isl)
        for symbol in (s.itl, s.ttft, s.largest_batch, s.device_time):
            value = np.broadcast_to(swept[symbol], (len(prompts), len(batches)))[i, j]
            assert float(value) == close(point[symbol])
