"""Elasticities, inverses and limits: by hand, against differences, and there and back."""

import json
import math
import sys

import numpy as np
import pytest
import sympy as sp

from inferecon import cli, sensitivity
from inferecon import symbols as s
from inferecon.analysis import (
    elasticity,
    inverse_of,
    regimes,
    results,
    rows,
)
from inferecon.book import Case
from inferecon.errors import BadInput
from inferecon.laws import SERVICE
from inferecon.laws.catalogue import BY_ID, DERIVATIONS
from inferecon.limits import DENSE, ONE_DEVICE, limit, limits
from inferecon.numbers import SHOWN
from inferecon.response import INPUTS, WHOLE, asked, elasticities, inverse, solution
from inferecon.scenario import Scenario, choose_devices

DENSE_CASE = Scenario("llama-3.1-8b", "h200-sxm", batch=32)
CASES = [
    DENSE_CASE,
    choose_devices("deepseek-v3", "h200-sxm", weights="fp8", activations="fp8", batch=32),
    Scenario("deepseek-v3", "mi300x", tp=2, ep=8, batch=12),
    Scenario("gemma-3-27b", "b200-sxm", tp=2, batch=4),
    Scenario("qwen3-next-80b-a3b", "h100-sxm", tp=4, ep=4, batch=8),
]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
SMOOTH = [law for law in results() if not law.eq.rhs.has(sp.ceiling, sp.floor)]
every_result = pytest.mark.parametrize("law", results(), ids=lambda law: law.id)


def by_input(law):
    return {row.input: row for row in rows(BY_ID[law])}


# By hand ---------------------------------------------------------------------------------------


def test_a_memory_bound_step_is_inversely_proportional_to_the_bandwidth():
    eq = DERIVATIONS["ITL-MEMORY-BOUND"].eq  # ITL = Q / B
    assert elasticity(eq.rhs, s.hbm_bandwidth) == -1
    assert elasticity(eq.rhs, s.decode_bytes_device) == 1


def test_the_terms_of_a_sum_have_their_shares():
    # ITL = max(a, q) + c: where memory wins, q / ITL and c / ITL
    found = by_input("ITL")
    assert found[s.t_memory_decode].elasticity == s.t_memory_decode / s.itl
    assert found[s.t_comm_decode].elasticity == s.t_comm_decode / s.itl
    ((condition,),) = found[s.t_memory_decode].regimes
    assert condition == (s.t_memory_decode >= s.t_math_decode)
    assert found[s.t_comm_decode].regimes == ()  # in both regimes


def test_the_answer_length_moves_the_whole_time_by_its_decode_steps():
    # E2E = TTFT + (S/1 - 1) ITL: S dE2E/dS / E2E = S ITL / E2E
    found = elasticity(BY_ID["E2E"].eq.rhs, s.osl, {BY_ID["E2E"].eq.rhs: s.e2e})
    assert sp.simplify(found - s.osl * s.itl / (s.one_token * s.e2e)) == 0


def test_a_power_has_its_exponent_and_an_exponent_its_logarithm():
    x, n = s.hbm_bandwidth, s.batch
    assert elasticity(x**3 / n, x) == 3
    assert elasticity(2**n, n) == n * sp.log(2)
    assert elasticity(sp.ceiling(x * n), x) == 1  # the trend


def test_a_law_turned_round():
    # cost = price x time
    assert by_input("COST-TOKEN")[s.price].inverse == s.cost_per_token / s.device_time
    # a maximum is turned round where its branch wins
    assert by_input("ITL")[s.t_memory_decode].inverse == s.itl - s.t_comm_decode
    # E (1 - q^b) = e, so b = log(1 - e/E) / log q
    q = 1 - s.top_k / s.n_experts
    found = by_input("EXPERTS-DECODE")[s.batch].inverse
    assert sp.simplify(found - sp.log(1 - s.experts_decode / s.n_experts) / sp.log(q)) == 0
    assert inverse_of(s.itl, s.batch + s.batch**2, s.batch) is None  # in two places


def test_a_maximum_and_a_case_distinction_split_into_regimes():
    a, b = s.t_math_decode, s.t_memory_decode
    assert {r.rhs for r in regimes(sp.Max(a, b) + 1)} == {a + 1, b + 1}
    cases = sp.Piecewise((0, sp.Eq(s.n_experts, 0)), (a, True))
    assert [r.rhs for r in regimes(cases)] == [0, a]
    assert regimes(cases)[1].holds == (sp.Ne(s.n_experts, 0),)


# Against differences ---------------------------------------------------------------------------


@pytest.mark.parametrize("law", SMOOTH, ids=lambda law: law.id)
def test_every_elasticity_and_inverse_agrees_with_the_law(law):
    # where a law has a whole number, the elasticity follows its trend, as the page says
    rhs = law.eq.rhs
    symbols = sorted(rhs.free_symbols, key=str)
    value_of = sp.lambdify(symbols, rhs, "math")
    stated = [(row, [_function(row.elasticity), _function(row.inverse)]) for row in rows(law)]
    seed = np.random.default_rng(3)
    checked = 0
    for low, high in 8 * [(1.2, 3.0), (0.1, 0.9), (2.0, 40.0)]:
        at = dict(zip(symbols, map(float, seed.uniform(low, high, len(symbols))), strict=True))
        at |= {x: float(seed.uniform(0.2, 0.9)) for x in symbols if x is s.top_k}
        y = value_of(*at.values())
        if isinstance(y, complex) or not math.isfinite(y) or y <= 0:
            continue
        for row, (slope, back) in stated:
            if row.regimes and not any(_true(holds, at) for holds in row.regimes):
                continue
            ends = [
                value_of(*(at | {row.input: at[row.input] * math.exp(h)}).values())
                for h in (-1e-6, 1e-6)
            ]
            if any(isinstance(end, complex) or not end > 0 for end in ends):
                continue
            difference = (math.log(ends[1]) - math.log(ends[0])) / 2e-6
            known = at | {law.symbol: y}
            found = slope(known)
            assert found == pytest.approx(difference, rel=1e-6, abs=1e-6), row
            if back is not None and found != 0:
                assert back(known) == pytest.approx(at[row.input], rel=1e-9)
            checked += 1
    assert checked


def _function(expr):
    """Compile an expression to a function of values by symbol; substituting takes a second."""
    if expr is None:
        return None
    needed = sorted(expr.free_symbols, key=str)
    of = sp.lambdify(needed, expr, "math")
    return lambda values: float(of(*(values[x] for x in needed)))


def _true(holds, at):
    return all(condition.subs(at) == sp.true for condition in holds)


@every_case
@pytest.mark.parametrize("target", [s.itl, s.ttft, s.device_time, s.memory_needed, s.kv_bytes])
def test_elasticities_of_the_system_agree_with_differences(case, target):
    found = elasticities(case, target)
    assert found
    for x in found.keys() - set(WHOLE):
        ends = np.array([math.exp(-1e-6), math.exp(1e-6)]) * case.values[x]
        low, high = np.broadcast_to(SERVICE.solve({**case.given(), x: ends})[target], 2)
        assert found[x] == pytest.approx(math.log(high / low) / 2e-6, abs=1e-6), x


@every_case
def test_the_trend_of_a_batch_is_no_steeper_than_the_batch(case):
    assert 0 <= elasticities(case, s.itl)[s.batch] <= 1
    assert 0 <= elasticities(case, s.memory_needed)[s.batch] <= 1


def test_what_hides_behind_the_slower_half_has_no_elasticity():
    found = elasticities(DENSE_CASE, s.itl)  # memory-bound on one device
    assert found[s.hbm_bandwidth] == pytest.approx(-1)
    assert found[s.peak_linear] == found[s.peak_native] == 0
    assert s.link_bandwidth not in found or found[s.link_bandwidth] == 0
    assert elasticities(DENSE_CASE, s.cost_per_token)[s.price] == pytest.approx(1)


# There and back --------------------------------------------------------------------------------


@every_case
@pytest.mark.parametrize("by", [s.hbm_bandwidth, s.kv_width, s.linear_width, s.batch, s.isl])
@pytest.mark.parametrize("factor", [0.98, 1.05])
def test_an_inverse_gives_back_what_was_asked(case, by, factor):
    wanted = float(case.values[s.itl]) * factor
    try:
        found = inverse(case, s.itl, wanted, by)
    except BadInput as refused:
        assert f"no {by} gives this itl" in str(refused)
        return
    assert found.reached == pytest.approx(
        float(SERVICE.solve({**case.given(), by: found.at})[s.itl])
    )
    if by not in WHOLE:
        assert found.reached == pytest.approx(wanted, rel=1e-12)
        return
    beyond = float(SERVICE.solve({**case.given(), by: float(found.short)})[s.itl])
    assert found.reached <= wanted < beyond and found.short == found.at + 1


def test_the_bandwidth_for_a_latency_by_hand():
    # one device, memory-bound: half the latency needs twice the bandwidth
    wanted = float(DENSE_CASE.values[s.itl]) / 2
    found = inverse(DENSE_CASE, s.itl, wanted, s.hbm_bandwidth)
    assert found.at == pytest.approx(2 * 4.8e12) and found.fits
    # a rate is met from above: the largest batch that still gives a reader so many tokens
    found = inverse(DENSE_CASE, s.interactivity, 100.0, s.batch)
    assert found.reached >= 100 and found.short == found.at + 1


@pytest.mark.parametrize(
    ("target", "value", "by", "sentence"),
    [
        (s.itl, 1e-9, s.hbm_bandwidth, "no hbm_bandwidth gives this itl: from"),
        (s.itl, 1.0, s.price, "itl does not depend on price"),
        (s.itl, 1.0, s.link_bandwidth, "itl does not move with link_bandwidth"),
        (s.throughput, 5e3, s.osl, "throughput rises and falls with osl"),
    ],
)
def test_a_question_without_one_answer_is_refused(target, value, by, sentence):
    with pytest.raises(BadInput, match=sentence):
        inverse(DENSE_CASE, target, value, by)


def test_a_missing_fact_is_named():
    case = Scenario("llama-3.1-8b", "h20")
    with pytest.raises(BadInput, match="no record states price"):
        inverse(case, s.cost_per_token, 1e-6, s.price)


@pytest.mark.parametrize("text", ["", "20", "20 kg", "ms", "-3 ms", "0 ms", "nan ms", "1e999 ms"])
def test_what_is_no_value_is_refused(text):
    with pytest.raises(BadInput):
        asked(text, s.itl)


def test_a_goal_is_answered_in_a_sentence_and_as_data():
    facts, said = solution(DENSE_CASE, "itl=3ms", "hbm_bandwidth")
    assert facts["unit"] == "TB/s" and facts["reached"] == pytest.approx(3)
    assert ": hbm_bandwidth = " in said and "gives itl = 3" in said


# Limits ----------------------------------------------------------------------------------------


def only(symbol, variable, point, given):
    (found,) = limit(symbol, variable, sp.sympify(point), given)
    return found


def test_limits_by_hand():
    # one token touches k experts, a large batch all of them
    assert only(s.experts_decode, s.batch, 1, ONE_DEVICE).value == s.top_k
    assert only(s.experts_decode, s.batch, sp.oo, ONE_DEVICE).value == s.n_experts
    # long contexts: c FLOP for each of H heads, over w bytes for each of K heads
    expected = s.mac * s.one_token * s.n_heads / (s.kv_width * s.n_kv_heads)
    assert only(s.intensity, s.context, sp.oo, DENSE).value == expected
    # nothing to exchange on one device
    assert only(s.t_comm_decode, s.n_devices, 1, ONE_DEVICE).value == 0
    # no context: matrices and head
    assert only(s.flop_decode, s.context, 0, DENSE).value == s.flop_linear + s.flop_head


def test_limits_are_where_the_numbers_go():
    given = DENSE_CASE.given()
    values = SERVICE.solve({**given, s.batch: 1e9})
    for symbol in (s.intensity,):
        found = only(symbol, s.batch, sp.oo, DENSE)
        assert float(found.value.subs(values)) == pytest.approx(float(values[symbol]), rel=1e-5)
    slopes = {found.holds: found.slope for found in limit(s.itl, s.batch, sp.oo, DENSE)}
    reached = [float(slope.subs(values)) for slope in slopes.values()]
    assert max(reached) == pytest.approx(float(values[s.itl]) / 1e9, rel=1e-5)


def test_every_limit_is_finite_or_has_a_slope():
    found = limits()
    assert len(found) > 20
    for _, one in found:
        pole = one.point != sp.oo  # a wait at full load has no bound and no slope
        assert one.value.is_finite is not False or one.slope is not None or pole
        assert one.slope is None or one.slope != 0


# Command line ----------------------------------------------------------------------------------


@pytest.fixture
def inferecon(monkeypatch, capsys):
    """Return a function that runs the command in this process."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["inferecon", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code, *capsys.readouterr()

    return run


def test_solve_answers_from_the_command_line(inferecon):
    code, out, _ = inferecon(
        "solve", "llama-3.1-8b", "h200-sxm", "bf16", "itl=3ms", "--by", "hbm_bandwidth"
    )
    assert code == 0 and "batch 32, 1,024 tokens in" in out and ": hbm_bandwidth = " in out
    code, out, _ = inferecon(
        "solve", "llama-3.1-8b", "h200-sxm", "bf16", "itl=5ms", "--by", "batch", "--json"
    )
    facts = json.loads(out)
    assert facts["reached"] <= 5 and facts["input"] == "batch" and facts["fits"]


@pytest.mark.parametrize(
    ("goal", "by", "sentence"),
    [
        ("itl=3ms", "bandwidth", "no input to solve for; did you mean"),
        ("itll=3ms", "batch", "no published quantity 'itll'; did you mean itl?"),
        ("itl", "batch", "write a quantity and its value"),
        ("itl=3kg", "batch", "is no value in the manner of"),
        ("itl=3ms", "tp", "no input to solve for"),
    ],
)
def test_a_mistake_in_a_goal_is_one_sentence(inferecon, goal, by, sentence):
    code, out, err = inferecon("solve", "llama-3.1-8b", "h200-sxm", "bf16", goal, "--by", by)
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and err.count("\n") == 1 and sentence in err


def test_every_input_is_given_to_the_system():
    assert INPUTS.keys() <= set(SERVICE.inputs)


# Tornado charts --------------------------------------------------------------------------------


def test_every_result_that_a_scenario_publishes_has_its_tornado_chart(monkeypatch):
    drawn = []
    monkeypatch.setattr(sensitivity, "display", lambda chart, metadata: drawn.append(metadata))
    chosen = dict(model="deepseek-v3", hardware="h200-sxm", weights="fp8", activations="fp8")
    case = Case(**chosen, batch=32)
    finals = [law.symbol for law in results() if law.symbol in SHOWN.keys() & SERVICE.laws.keys()]
    assert len(finals) > 30
    for symbol in finals:
        sensitivity.tornado(case, symbol.name)
    assert len(drawn) == len(finals)
