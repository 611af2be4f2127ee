"""Promises every law and every derivation of the report keeps, whatever it says."""

import math
import re
from graphlib import CycleError

import pytest
import sympy as sp
from sympy import Eq

from inferecon import symbols as s
from inferecon.law import Derivation, Law, OutOfRegime, System
from inferecon.laws import SERVICE
from inferecon.laws.catalogue import BY_ID, CHAPTERS, DERIVATIONS, LAWS
from inferecon.symbols import GLOSSARY

every_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.id)
every_derivation = pytest.mark.parametrize("name", DERIVATIONS)


@every_law
def test_a_law_uses_only_declared_symbols(law):
    assert law.needs | {law.symbol} <= set(GLOSSARY)


@every_law
def test_a_law_names_its_source_and_the_place_in_it(law):
    for piece in law.source.split("; "):
        key, comma, place = piece.partition(", ")
        assert piece == "derived" or (key and comma and place), piece


@every_law
def test_a_law_says_one_clause_that_can_stand_in_a_formula(law):
    assert law.says and not law.says.endswith(".")
    assert not set(law.says) & set("%_#&$\\{}"), law.says


@every_law
def test_a_law_holds_no_measured_number(law):
    assert not law.eq.atoms(sp.Float)


def test_a_meaning_stands_by_itself_since_a_box_shows_it_alone():
    meanings = [entry.meaning for entry in GLOSSARY.values()]
    assert [x for x in set(meanings) if meanings.count(x) > 1] == []
    leaning = re.compile(r"(the same|its|their|it|of (it|them))\b|.* of (it|them)\b")
    assert [x for x in meanings if leaning.match(x)] == []


def test_ids_are_unique():
    assert len(BY_ID) == len(LAWS) == sum(len(laws) for laws in CHAPTERS.values())


def test_each_symbol_has_one_law():
    symbols = [law.symbol for law in LAWS]
    assert len(symbols) == len(set(symbols))


def test_laws_form_no_circle():
    System(LAWS)  # raises CycleError


def test_a_circle_and_a_second_law_are_refused():
    back = Law("BACK", Eq(s.t_memory_decode, s.itl), "", "derived")
    with pytest.raises(ValueError, match="t_memory_decode has two laws"):
        System([*LAWS, back])
    with pytest.raises(CycleError):
        System([back, *(law for law in LAWS if law.symbol != s.t_memory_decode)])


def test_a_law_computes_what_the_system_computes():
    given = dict.fromkeys(SERVICE.inputs, 2.0) | {s.top_k: 1.0}
    values = SERVICE.solve(given)
    for symbol, law in SERVICE.laws.items():
        alone = float(law(values))
        assert alone == pytest.approx(float(values[symbol]), nan_ok=True), law.id


def test_a_missing_fact_makes_nan_of_what_rests_on_it_and_of_nothing_else():
    given = dict.fromkeys(SERVICE.inputs, 2.0) | {s.top_k: 1.0}
    full = SERVICE.solve(given)
    values = SERVICE.solve({k: v for k, v in given.items() if k != s.hbm_bandwidth})
    for symbol in SERVICE.laws:
        rests = s.hbm_bandwidth in SERVICE.inputs_of(symbol)
        assert math.isnan(values[symbol]) == (rests or math.isnan(full[symbol])), symbol
    assert math.isnan(values[s.itl]) and not math.isnan(values[s.memory_needed])


# Derivations ---------------------------------------------------------------------------------


@every_derivation
def test_a_derivation_closes_in_a_law(name):
    proof = DERIVATIONS[name]
    law = proof.law("CLOSED", "closes")
    assert law.eq == proof.eq == proof.steps[-1][0]
    assert law.source == "derived" and law.holds == proof.holds
    assert all(why for _, why in proof.steps)


def test_the_multi_head_cache_is_the_formula_of_the_source_documents():
    # K = H, d_h = d_v = d / H: layers x heads x (d/H + d/H) = 2 L d
    assert DERIVATIONS["KV-MHA-CASE"].eq.rhs == 2 * s.n_layers * s.hidden_size
    assert BY_ID["KV-MHA"].eq.rhs == 2 * s.n_layers * s.hidden_size


def test_the_memory_bound_latency_refuses_a_compute_bound_step():
    law = DERIVATIONS["ITL-MEMORY-BOUND"].law("ITL-MEMORY", "traffic alone")
    given = {s.decode_bytes_device: 8.0, s.hbm_bandwidth: 2.0, s.t_memory_decode: 4.0}
    assert law({**given, s.t_math_decode: 3.0}) == 4  # 8 B / 2 B/s
    with pytest.raises(OutOfRegime, match="t_memory_decode >= t_math_decode"):
        law({**given, s.t_math_decode: 5.0})


def test_the_ridge_batch_is_where_both_halves_are_equal():
    # w P / (2 B): 2 B x 989e12 / (2 FLOP x 4.8e12 B/s) = 206
    law = BY_ID["RIDGE-BATCH"]
    given = {s.linear_width: 2, s.peak_linear: 989e12, s.hbm_bandwidth: 4.8e12}
    assert law({**given, s.mac: 2, s.one_token: 1}) == pytest.approx(989 / 4.8)
    assert DERIVATIONS["RIDGE-BATCH-PROOF"].eq.rhs == law.eq.rhs


def test_the_batch_that_fits_fills_the_memory():
    # (phi C - weights) / cache of a sequence
    proof = DERIVATIONS["BATCH-FIT"]
    free = s.memory_fraction * s.memory_capacity - s.weight_bytes_device
    assert proof.eq.lhs == s.group_batch
    assert sp.simplify(proof.eq.rhs - free / s.kv_bytes_device) == 0


def test_a_memory_bound_step_pays_rest_power_with_each_byte():
    proof = DERIVATIONS["ENERGY-STEP-BOUND"]
    # 15 J + (7 J/B + 8 W / 2 B/s) x 10 B = 15 + 11 x 10
    given = {
        s.arithmetic_decode: 15,
        s.energy_per_byte: 7,
        s.idle_draw: 8,
        s.hbm_bandwidth: 2,
        s.decode_bytes_device: 10,
    }
    assert proof.law("STEP", "step")(given) == 15 + 110


STEP = Derivation.begin(BY_ID["ITL"].eq, "the roofline")


def test_use_needs_the_symbol_it_replaces():
    with pytest.raises(ValueError, match="step changes nothing"):
        STEP.use(BY_ID["WEIGHT-BYTES"])


def test_when_needs_the_maximum_it_resolves():
    with pytest.raises(ValueError, match="step changes nothing"):
        STEP.when(s.t_memory_prefill >= s.t_math_prefill, "another maximum")


def test_neglect_needs_the_symbol_it_drops():
    with pytest.raises(ValueError, match="step changes nothing"):
        STEP.neglect(s.kv_bytes, "not there")


def test_rewrite_refuses_wrong_algebra():
    with pytest.raises(ValueError, match="is not"):
        STEP.rewrite(s.t_math_decode + s.t_memory_decode + s.t_comm_decode, "a sum, not a maximum")


def test_rewrite_accepts_the_same_thing_in_other_words():
    twice = Derivation.begin(Eq(s.e2e, s.ttft + 2 * s.itl), "three tokens")
    assert twice.rewrite(2 * (s.ttft / 2 + s.itl), "factored").eq.lhs == s.e2e


def test_solve_for_needs_exactly_one_solution():
    with pytest.raises(ValueError):
        STEP.solve_for(s.kv_bytes, "not in the equation")


def test_a_step_that_leaves_no_equation_is_refused():
    same = Derivation.begin(Eq(s.itl, s.t_memory_decode), "memory-bound")
    with pytest.raises(ValueError, match="leaves no equation"):
        same.put({s.itl: s.t_memory_decode}, "true by itself")


def test_an_approximation_remembers_where_it_holds():
    proof = STEP.when(s.t_math_decode >= s.t_memory_decode, "compute-bound")
    assert proof.holds == (s.t_math_decode >= s.t_memory_decode)
    assert proof.neglect(s.t_comm_decode, "one device").holds == proof.holds


def test_a_derivation_prints_one_row_a_step_with_its_reason():
    shown = DERIVATIONS["KV-MHA-CASE"]._repr_latex_()
    assert shown.count("&&") == len(DERIVATIONS["KV-MHA-CASE"].steps)
    assert "each query head has its own keys and values" in shown
