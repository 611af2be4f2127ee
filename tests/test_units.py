"""The unit check refuses the mistakes that inference arithmetic invites."""

import pytest
import sympy as sp
from sympy import Eq, Max, ceiling, log

from inferecon import symbols as s
from inferecon.law import Derivation, Law
from inferecon.symbols import GLOSSARY, declare
from inferecon.units import DimensionError, coherent, quantity, ureg

MISTAKES = {
    "bytes where FLOP belong": Eq(s.t_math_decode, s.decode_bytes_device / s.peak_linear),
    "peak rate for bandwidth": Eq(s.t_memory_decode, s.decode_flop_device / s.hbm_bandwidth),
    "FLOP of a step for FLOP of a token": Eq(s.flop_decode, s.decode_flop_device),
    "price of a request for price of a token": Eq(s.cost_per_token, s.price * s.e2e),
    "rate for a time": Eq(s.itl, s.interactivity),
    "weights without their width": Eq(s.weight_bytes, s.params_total),
    "cache without its context": Eq(s.kv_bytes, s.kv_bytes_per_token),
    "cache of tokens instead of elements": Eq(s.kv_bytes, s.kv_width * s.isl),
    "intensity without the width": Eq(s.ridge_batch, s.peak_linear / s.hbm_bandwidth),
    "time added to traffic": Eq(s.itl, s.t_math_decode + s.decode_bytes_device),
    "time compared with traffic": Eq(s.itl, Max(s.t_math_decode, s.decode_bytes_device)),
    "power for energy": Eq(s.energy_step, s.board_power),
    "emissions of power": Eq(s.carbon_per_token, s.board_power * s.grid_intensity),
    "a whole number of tokens": Eq(s.isl, ceiling(s.isl)),
    "logarithm of a size": Eq(s.batch, log(s.weight_bytes)),
    # First source document: TTFT = weights x batch x prompt x bytes per weight / FLOP/s.
    "TTFT with bytes per weight": Eq(
        s.ttft, s.params_total * s.batch * s.isl * s.linear_width / s.peak_linear
    ),
    # First source document: activations of all layers, but no element and the wrong link.
    "communication without elements": Eq(
        s.t_comm_decode,
        s.hidden_size * s.batch * s.activation_width * 2 * s.n_layers / s.hbm_bandwidth,
    ),
    # Third source document: (FLOP / (FLOP/s per W)) x W is called kWh; it is joule times watt.
    "energy multiplied by power": Eq(
        s.energy_step,
        s.decode_flop_device / (s.peak_linear / s.board_power) * s.board_power,
    ),
}


@pytest.mark.parametrize("wrong", MISTAKES.values(), ids=MISTAKES.keys())
def test_a_law_refuses_the_mistake(wrong):
    with pytest.raises(DimensionError):
        Law("WRONG", wrong, "", "derived")


def test_the_right_ttft_passes_where_the_wrong_one_fails():
    # 2 FLOP a weight and token in place of bytes a weight
    Law(
        "RIGHT",
        Eq(s.ttft, s.mac * s.params_total * s.batch * s.isl / s.peak_linear),
        "",
        "derived",
    )


def test_the_right_energy_passes_where_the_wrong_one_fails():
    # FLOP / (FLOP/s per W) is already an energy
    Law(
        "RIGHT",
        Eq(s.energy_step, s.decode_flop_device / (s.peak_linear / s.board_power)),
        "",
        "derived",
    )


def test_the_message_names_both_sides_and_their_units():
    with pytest.raises(DimensionError, match="weight_bytes is in byte, params_total in elem"):
        Law("WRONG", Eq(s.weight_bytes, s.params_total), "", "derived")


def test_a_counting_law_counts_pure_numbers():
    with pytest.raises(DimensionError, match="counts elem, but .* is in elem"):
        Law("WRONG", Eq(s.params_total, s.n_layers * s.mla_matrices), "", "derived", counts="elem")


def test_a_counting_law_counts_the_unit_of_its_symbol():
    with pytest.raises(DimensionError, match="params_total is in elem, not in token"):
        Law("WRONG", Eq(s.params_total, s.n_layers * s.n_heads), "", "derived", counts="token")


def test_a_condition_compares_equal_units():
    with pytest.raises(DimensionError):
        Law("WRONG", Eq(s.itl, s.ttft), "", "derived", holds=s.t_memory_decode >= s.kv_bytes)


def test_a_law_refuses_a_measured_number():
    with pytest.raises(ValueError, match=r"belongs in data/"):
        Law("WRONG", Eq(s.itl, 1.2 * s.t_memory_decode), "", "derived")
    with pytest.raises(ValueError, match=r"belongs in data/"):
        Law("WRONG", Eq(s.itl, s.t_memory_decode / sp.Float("0.85")), "", "derived")


def test_a_step_of_a_derivation_keeps_its_units():
    proof = Derivation.begin(Eq(s.itl, s.t_memory_decode), "memory-bound")
    with pytest.raises(DimensionError):
        proof.put({s.t_memory_decode: s.decode_bytes_device}, "forgets the bandwidth")


@pytest.mark.parametrize(
    "unit", ["GB", "GiB", "ms", "GB/s", "watt", "kWh", "bit", "Mtoken", "hour"]
)
def test_a_symbol_is_declared_in_base_units(unit):
    if unit == "watt":
        assert coherent("watt") == ureg.watt  # joule per second, no factor
        return
    with pytest.raises(ValueError, match="hides a factor"):
        coherent(unit)


def test_a_symbol_is_declared_once():
    with pytest.raises(ValueError, match="itl is declared twice"):
        declare("itl", "second", "x", "a second meaning")


def test_letters_are_not_used_twice():
    letters = [entry.latex for entry in GLOSSARY.values()]
    assert sorted(letters) == sorted(set(letters))


def test_gigabyte_is_not_gibibyte():
    # 2^30 / 10^9
    assert (quantity("1 GiB") / quantity("1 GB")).to("").m == pytest.approx(1.073741824)
    assert quantity("144384 MiB").to("GB").m == pytest.approx(144384 * 1.048576 / 1000)


def test_a_byte_has_eight_bits_and_a_kilowatt_hour_3_6_megajoules():
    assert quantity("8 bit").to("B").m == pytest.approx(1)
    assert quantity("400 Gbit/s").to("GB/s").m == pytest.approx(50)
    assert quantity("1 kWh").to("joule").m == pytest.approx(1000 * 3600)
    assert quantity("1 kgCO2e").to("gCO2e").m == pytest.approx(1000)


@pytest.mark.parametrize(
    "text",
    [
        "3 furlong",
        "989 TFLOPS",
        "8 GPU",
        "3.35 TB/fortnight",
        "1 elm",
        "12 $",
        "4 5",
        "GB/",
        "3 %",
        "nan GB",
    ],
)
def test_an_unknown_unit_does_not_parse(text):
    with pytest.raises(ValueError, match="is not a number with a unit of this report"):
        quantity(text)


@pytest.mark.parametrize(
    ("value", "unit"), [("1 GB", ""), ("1 FLOP", ""), ("1 token", ""), ("1 elem", "token")]
)
def test_a_base_unit_does_not_vanish(value, unit):
    with pytest.raises(Exception, match="convert"):
        quantity(value).to(unit)
