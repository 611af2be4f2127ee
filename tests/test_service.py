"""Load, speculation, split phases and formats, each against something that is not a law."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from inferecon import symbols as s
from inferecon.law import OutOfRegime
from inferecon.laws import (
    SERVICE,
    arithmetic_small,
    first_token,
    footprint,
    paging,
    renting,
    routing,
)
from inferecon.laws.catalogue import BY_ID, CHAPTERS, DERIVATIONS
from inferecon.records import load
from inferecon.scenario import Scenario

close = pytest.approx
MORE = (first_token, footprint, paging, renting, routing)
ONE = {s.one_token: 1, s.mac: 2, s.element: 1}


def law(id, **inputs):
    return float(BY_ID[id](ONE | {s.SYMBOLS[name]: value for name, value in inputs.items()}))


def counted(id):
    given = load("constants", "counting").given | load("models", id).given
    return SERVICE.solve(given | {s.isl: 1024.0, s.osl: 1024.0})


def test_a_scenario_computes_none_of_these_laws():
    beside = [
        law for key in ("load", "speculation", "quantisation", "edge") for law in CHAPTERS[key]
    ]
    beside += [law for module in MORE for law in module.LAWS]
    assert not {law.symbol for law in beside} & SERVICE.laws.keys()


# Under load ------------------------------------------------------------------------------------


def waits(service, rho, rng):
    """Waits of requests that arrive at random, one after the other (Lindley's recursion)."""
    gaps = rng.exponential(1 / rho, len(service))  # mean service time is one
    walk = np.concatenate([[0], np.cumsum(service[:-1] - gaps[1:])])
    return walk - np.minimum.accumulate(walk)


@pytest.mark.parametrize("rho", [0.3, 0.6, 0.8])
@pytest.mark.parametrize(
    ("variation", "draw"),
    [
        (0, lambda rng, n: np.ones(n)),
        (1, lambda rng, n: rng.exponential(1, n)),
        # nine of ten last half a second, the tenth 5.5 s: variance 0.9 x 0.25 + 0.1 x 20.25
        (2.25, lambda rng, n: np.where(rng.random(n) < 0.9, 0.5, 5.5)),
    ],
)
def test_a_simulated_queue_waits_as_the_law_says(rho, variation, draw):
    rng = np.random.default_rng(0)
    seen = waits(draw(rng, 2_000_000), rho, rng)
    at = dict(utilisation=rho, service_time=1)
    assert seen.mean() == close(law("WAIT-MG1", **at, service_variation=variation), rel=0.03)
    if variation == 0:
        assert law("WAIT-MD1", **at) == law("WAIT-MG1", **at, service_variation=0)
    if variation == 1:
        assert law("WAIT-MM1", **at) == law("WAIT-MG1", **at, service_variation=1)
        assert (seen > 5).mean() == close(law("WAIT-TAIL", **at, wait_bound=5), rel=0.06)


def test_the_wait_with_equal_prompts_is_that_of_the_literature():
    # zhong2024, eq. 1: D + R D^2 / (2 (1 - R D)) for rate R and prefill D
    rate, prefill = 3.0, 0.2
    wait = law("WAIT-MD1", utilisation=rate * prefill, service_time=prefill)
    ours = law("TTFT-LOADED", service_time=prefill, wait=wait)
    assert ours == close(prefill + rate * prefill**2 / (2 * (1 - rate * prefill)))


def test_the_mean_meets_its_promise_at_the_utilisation_found():
    shape = dict(service_time=0.3, service_variation=0.5)
    rho = law("UTILISATION-SLO", ttft_limit=0.8, **shape)
    wait = law("WAIT-MG1", utilisation=rho, **shape)
    assert law("TTFT-LOADED", service_time=0.3, wait=wait) == close(0.8)


def test_a_queue_without_rest_is_refused():
    with pytest.raises(OutOfRegime):
        law("WAIT-MM1", utilisation=1, service_time=1)
    with pytest.raises(OutOfRegime):
        law("BATCH-LOADED", token_rate=4, itl_floor=2, itl_slope=0.25)  # a token each 1/4 s


def test_the_step_of_a_scenario_is_a_floor_and_a_slope():
    case = Scenario("deepseek-r1-distill-llama-8b", "h200-sxm", batch=32).values
    assert case[s.t_memory_decode] > case[s.t_math_decode]
    floor, slope = BY_ID["ITL-FLOOR"](case), BY_ID["ITL-SLOPE"](case)
    assert floor + 32 * slope == close(case[s.itl])


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.16])
def test_continuous_batching_settles_where_the_law_says(rate):
    # Step after step: answers of 100 tokens arrive at random, join at once and leave when done.
    floor, slope, answer, steps = 0.2, 0.05, 100, 400_000
    rng, leaving = np.random.default_rng(1), [0] * (steps + answer)
    batch, time, clock, inside = 0, 0.0, 0.0, 0.0
    for step in range(steps):
        arrivals = rng.poisson(rate * time)  # during the step before
        batch -= leaving[step]
        leaving[step + answer] += arrivals
        batch += arrivals
        time = floor + slope * batch
        clock, inside = clock + time, inside + time * batch
    expected = law("BATCH-LOADED", token_rate=answer * rate, itl_floor=floor, itl_slope=slope)
    assert inside / clock == close(expected, rel=0.05)


# Speculation and split phases ------------------------------------------------------------------


def test_drafts_up_to_the_first_refusal_are_kept():
    rng = np.random.default_rng(2)
    right = rng.random((400_000, 4)) < 0.7
    kept = np.cumprod(right, axis=1).sum(axis=1) + 1
    assert kept.mean() == close(law("SPEC-TOKENS", acceptance=0.7, draft_tokens=4), rel=0.005)


def test_the_published_speed_of_an_mtp_module_lies_below_its_tokens():
    # deepseekv3, sec. 5.4.3: acceptance 85 to 90 %, 1.8 times the tokens
    for acceptance, extra in ((0.85, 0.03), (0.9, 0.06)):
        tokens = law("SPEC-TOKENS", acceptance=acceptance, draft_tokens=1)
        assert tokens == close(1 + acceptance)
        assert tokens / 1.8 - 1 == close(extra, abs=0.005)


def test_speculation_stops_paying_before_plain_decode_is_compute_bound():
    shape = dict(ridge_batch=200, draft_tokens=3, draft_cost=0.05)
    for acceptance in (0.2, 0.6, 0.95):
        tokens = law("SPEC-TOKENS", acceptance=acceptance, draft_tokens=3)
        last = law("SPEC-BATCH", **shape, tokens_per_step=tokens)
        verify = law("SPEC-VERIFY", batch=last, draft_tokens=3, ridge_batch=200)
        gain = law(
            "SPEC-SPEEDUP",
            tokens_per_step=tokens,
            verify_cost=verify,
            draft_tokens=3,
            draft_cost=0.05,
        )
        assert last < 200 and (last < 50 or gain == close(1))


def test_the_cache_to_transfer_is_the_published_one():
    # zhong2024, sec. 3.3: OPT-66B, 512 tokens, "approximately 1.13GB", which are GiB
    values = counted("opt-66b") | {s.kv_width: 2.0}
    per_token = float(BY_ID["KV-BYTES-PER-TOKEN"](values))
    moved = law("KV-TRANSFER", isl=512, kv_bytes_per_token=per_token, transfer_bandwidth=1)
    assert moved / 2**30 == close(1.13, rel=0.005)


# At the edge -----------------------------------------------------------------------------------


def test_the_energy_of_the_third_document_does_not_pay_for_memory():
    # 2.3 uWh a token for DeepSeek-V2-Lite at four bits; HBM2 takes 3.92 pJ a bit (oconnor2017)
    bits = 4 * float(counted("deepseek-v2-lite")[s.params_active])
    assert 2.3e-6 * 3600 / bits == close(3.92e-12 / 5, rel=0.02)


def test_one_reader_gets_the_step_of_a_scenario():
    case = Scenario("deepseek-v2-lite", "h200-sxm", isl=1, osl=1).values
    read = BY_ID["EDGE-READ"](case)
    rate = BY_ID["EDGE-RATE"](case | {s.token_weights: read})
    assert float(rate) == close(float(case[s.interactivity]), rel=1e-3)  # but for a short cache


# Formats ---------------------------------------------------------------------------------------


def test_an_eighth_needs_two_bits_of_sixteen_for_everything():
    width = DERIVATIONS["QUANT-EIGHTH"].eq.rhs
    assert width.subs(s.quantised_share, 1) == Fraction(1, 8)
    assert width.subs(s.quantised_share, Fraction(7, 8)) == 0  # nothing left for the weights


def test_no_format_of_the_weights_beats_the_limit():
    step = dict(step_weights=3, step_caches=2)
    speedups = [law("QUANT-DECODE", **step, width_ratio=x) for x in (1, 0.5, 0.25, 1e-9)]
    assert speedups == sorted(speedups) and speedups[0] == 1
    assert speedups[-1] == close(law("QUANT-LIMIT", **step))


# Small parts of the arithmetic -----------------------------------------------------------------


def test_rotary_positions_are_a_rounding_error():
    # DeepSeek-V3: 61 layers, 128 query heads and one key of 64, three FLOP an element
    values = counted("deepseek-v3")
    rope = float(BY_ID["FLOP-ROPE"](values))
    assert rope == 61 * 129 * 64 * 3
    assert float(BY_ID["ROPE-SHARE"](values | {s.flop_rope: rope})) < 1e-4
    assert DERIVATIONS["ROPE-WIDTH"].eq.rhs == Fraction(25, 12)


@pytest.mark.parametrize("id", ["deepseek-v3", "llama-3.1-8b", "gemma-3-27b", "qwen2.5-7b"])
def test_the_small_parts_are_small(id):
    values = counted(id)
    for part in (arithmetic_small.ROPE, arithmetic_small.NORM, arithmetic_small.SOFTMAX):
        values[part.symbol] = part(values)
    assert 0 < float(BY_ID["SMALL-SHARE"](values)) < 0.02


def test_the_third_document_prints_another_number_than_its_formula_gives():
    values = counted("deepseek-v3")
    for id in ("DOC3-BASE", "DOC3-MOE", "DOC3-FLOP"):
        values[BY_ID[id].symbol] = BY_ID[id](values)
    formula = float(values[s.doc3_flop])
    assert formula == close(99.46e9, rel=1e-4)
    assert 3.8e12 / formula == close(38.2, rel=1e-3)  # printed over what the formula gives


def test_both_ways_of_mla_cost_the_same_at_the_context_found():
    v3 = dict(kv_lora_rank=512, qk_nope_head_dim=128, mla_v_head_dim=128)
    for tokens in (1, 2, 64, 170):
        context = law("MLA-CONTEXT", **v3, query_tokens=tokens)
        shape = dict(**v3, qk_rope_head_dim=64, n_heads=128, query_tokens=tokens, context=context)
        assert law("MLA-ABSORBED", **shape) == close(law("MLA-UNFOLDED", **shape))
    with pytest.raises(OutOfRegime):
        law("MLA-CONTEXT", **v3, query_tokens=171)
    assert 170 < law("MLA-CHUNK", **v3) < 171


# Collectives -----------------------------------------------------------------------------------


@pytest.mark.parametrize("tp", [4, 8, 64])
def test_a_tree_beats_a_ring_below_the_message_found(tp):
    link = dict(link_latency=3e-6, link_bandwidth=450e9)
    depth = law("TREE-DEPTH", tp=tp)
    even = law("TREE-MESSAGE", **link, tp=tp, tree_depth=depth)
    for size, wins in ((even / 2, True), (even, None), (2 * even, False)):
        tree = law("TREE", **link, message=size, tree_depth=depth)
        ring = law("RING", **link, message=size, tp=tp)
        assert tree == close(ring) if wins is None else (tree < ring) == wins


def test_the_ring_is_the_one_of_a_scenario():
    case = Scenario("deepseek-r1-distill-llama-70b", "h100-sxm", tp=4, batch=32).values
    ring = float(BY_ID["RING"](case | {s.message: case[s.message_decode]}))
    assert float(case[s.allreduces]) * ring == close(float(case[s.t_comm_decode]))


# Spread of routing -----------------------------------------------------------------------------


def every_draw(experts, k, tokens):
    """All equally likely choices of k experts by each token."""
    return product(combinations(range(experts), k), repeat=tokens)


@pytest.mark.parametrize(("experts", "k", "tokens"), [(4, 1, 3), (5, 2, 3), (6, 3, 2), (4, 4, 2)])
def test_the_variance_of_distinct_experts_is_that_of_all_draws(experts, k, tokens):
    seen = [len(set().union(*draw)) for draw in every_draw(experts, k, tokens)]
    shape = dict(n_experts=experts, top_k=k, batch=tokens)
    idle = dict(idle_one=law("IDLE-ONE", **shape), idle_pair=law("IDLE-PAIR", **shape))
    variance = law("EXPERTS-VARIANCE", n_experts=experts, **idle)
    assert np.mean(seen) == close(law("EXPERTS-DECODE", **shape))
    assert variance == close(np.var(seen), abs=1e-9)


def fullest(shape):
    """Bounds of the draws on the fullest device: from the variance, and from the moment."""
    devices = dict(n_devices=shape["n_devices"])
    draws = dict(device_draws=shape["batch"] * shape["top_k"] / shape["n_devices"])
    variance = law(
        "DEVICE-VARIANCE", **draws, **devices, n_experts=shape["n_experts"], top_k=shape["top_k"]
    )
    spread = law("FULLEST-SPREAD", **draws, **devices, device_variance=variance)
    return draws["device_draws"], variance, spread, law("FULLEST-TAIL", **draws, **devices)


@pytest.mark.parametrize(("experts", "k", "tokens", "devices"), [(4, 2, 3, 2), (6, 2, 3, 3)])
def test_no_bound_is_below_the_fullest_device_of_all_draws(experts, k, tokens, devices):
    loads = np.array(
        [
            np.bincount([e % devices for one in draw for e in one], minlength=devices)
            for draw in every_draw(experts, k, tokens)
        ]
    )
    shape = dict(n_experts=experts, top_k=k, batch=tokens, n_devices=devices)
    mean, variance, spread, tail = fullest(shape)
    assert loads.mean(axis=0) == close(np.full(devices, mean))
    assert loads.var(axis=0) == close(np.full(devices, variance))
    assert loads.max(axis=1).mean() <= min(spread, tail)


@pytest.mark.parametrize("devices", [8, 64])
@pytest.mark.parametrize("tokens", [8, 64, 512])
def test_the_fullest_device_of_a_large_model_stays_below_both_bounds(devices, tokens):
    rng = np.random.default_rng(0)
    peaks = []
    for _ in range(60):
        drawn = rng.random((tokens, 256)).argpartition(8, axis=1)[:, :8]
        peaks.append(np.bincount(drawn.ravel() % devices, minlength=devices).max())
    shape = dict(n_experts=256, top_k=8, batch=tokens, n_devices=devices)
    mean, _, spread, tail = fullest(shape)
    assert mean < np.mean(peaks) <= min(spread, tail)


# Pages, overlap, hours, money ------------------------------------------------------------------


def test_pages_lose_on_average_what_the_law_says():
    lengths = range(1, 16 * 50 + 1)
    kept = [law("PAGE-BYTES", context=n, page_tokens=16, kv_bytes_per_token=1) for n in lengths]
    assert np.mean(np.array(kept) - np.array(lengths)) == close(law("PAGE-WASTE", page_tokens=16))


def test_no_overlap_is_at_most_twice_all_overlap():
    assert DERIVATIONS["OVERLAP-TWO"].eq.rhs == 2
    path = dict(wait=1, tokenise_time=2, chunks=3, chunk_pause=0.5, network_time=4)
    for math, memory in ((1, 1), (3, 1), (1, 50), (7, 7)):
        work = dict(uncached_math=math, uncached_memory=memory)
        low, high = law("TTFT-REQUEST", **path, **work), law("TTFT-REQUEST-SUM", **path, **work)
        assert low < high < 2 * low
    with pytest.raises(OutOfRegime):  # the last token is computed even if all are cached
        law("TTFT-REQUEST", **path | {"chunks": 0}, **work)


def test_the_part_that_is_not_cached_and_the_cached_prompt_make_the_whole():
    flop = dict(flop_linear=5, flop_experts=0, flop_state=0, flop_core_prefill=3, flop_head=0)
    whole = law("FLOP-UNCACHED", **flop, isl=1000, cached_share=0)
    # a prefix of half the length: half of the layers, and half of the mean context on half of it
    prefix = law("FLOP-UNCACHED", **flop | {"flop_core_prefill": 1.5}, isl=500, cached_share=0)
    assert law("FLOP-UNCACHED", **flop, isl=1000, cached_share=0.5) == close(whole - prefix)


@pytest.mark.parametrize("seed", range(3))
def test_hours_add_up_to_the_mean_and_the_covariance(seed):
    rng = np.random.default_rng(seed)
    energy, grid = rng.uniform(1, 9, 24), rng.uniform(1, 9, 24)
    carbon = law(
        "CARBON-HOURS",
        pue=1.2,
        hours_energy=energy.sum(),
        grid_intensity=grid.mean(),
        hour_correlation=np.corrcoef(energy, grid)[0, 1],
        energy_variation=energy.std() / energy.mean(),
        grid_variation=grid.std() / grid.mean(),
    )
    assert carbon == close(1.2 * (energy * grid).sum())


def test_at_break_even_both_sides_cost_the_same():
    rate = law("SPOT-EVEN", price=8, spot_price=5, interruption_time=2)
    assert law("SPOT-COST", spot_price=5, interruption_time=2, interruption_rate=rate) == close(8)
    with pytest.raises(OutOfRegime):
        law("SPOT-EVEN", price=4, spot_price=5, interruption_time=2)
    share = law("HOST-EVEN", cost_per_token=3, api_per_token=12)
    assert law("HOST-TOKEN", cost_per_token=3, busy_share=share) == close(12)
    with pytest.raises(OutOfRegime):  # dearer even if never idle
        law("HOST-EVEN", cost_per_token=13, api_per_token=12)


def test_interruptions_cost_what_a_simulation_of_them_costs():
    rng = np.random.default_rng(0)
    useful = rng.exponential(1 / 0.02, 20_000)  # seconds to the next interruption, 7 s lost at each
    paid = useful.sum() + 7 * len(useful)
    law_says = law("SPOT-COST", spot_price=1, interruption_time=7, interruption_rate=0.02)
    assert paid / useful.sum() == close(law_says, rel=0.01)


@pytest.mark.parametrize("id", ["h100-sxm", "a100-40gb-sxm", "a100-80gb-sxm"])
def test_making_a_device_is_of_the_size_its_record_says(id):
    grams = load("assumptions", f"embodied-{id}").given[s.embodied_carbon]
    five_years = 5 * 365 * 86400  # s; over them 100 to 200 kg are a few g an hour
    assert 2 < 3600 * law("EMBODIED-RATE", embodied_carbon=grams, lifetime=five_years) < 5


def test_water_on_site_is_read_in_litres_a_joule():
    assert load("assumptions", "wue-aws").given[s.wue] == close(0.15 / 3.6e6)
