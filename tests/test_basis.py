"""What a prediction rests on: values that give it again, constants with their levels, rows."""

import csv
import json
import math

import pytest
from pytest import approx

from inferecon import cli, numberbox
from inferecon import symbols as s
from inferecon.basis import basis, counted
from inferecon.calibration import rows as measured
from inferecon.calibration.inputs import CALIBRATED
from inferecon.files import BOOK, DATA
from inferecon.forecast import FOLLOWS, outlook, served
from inferecon.predictions import BY_SYMBOL, IMPLIED
from inferecon.results import read_numbers
from inferecon.scenario import choose_devices
from inferecon.worked import scenario

NUMBERS = read_numbers(BOOK / "numbers.csv")
DENSE = "llama-3.1-8b/h100-sxm/fp8"
NAMES = (DENSE, "deepseek-v3/h200-sxm/fp8", "deepseek-v2-lite/mi300x/int4-awq")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_the_values_give_the_prediction_again(name, engine):
    case = scenario(name)
    found, said = basis(case, engine), outlook(case, engine, [case.batch], [case.isl])
    for symbol in (s.ttft, s.itl, s.throughput, s.energy_per_token):
        law = BY_SYMBOL[symbol].law
        by_law = float(law({x: found.values[x] for x in law.needs}))
        assert by_law == approx(float(said.symbols[symbol].value[0]), rel=1e-12), symbol


@pytest.mark.parametrize("format", ["int4-awq", "int4-gptq", "int4-g32", "fp8-block128", "mxfp4"])
@pytest.mark.parametrize("model", ["deepseek-v2-lite", "llama-3.1-8b"])
def test_a_prediction_reads_the_bytes_of_the_format_that_was_asked_for(model, format):
    case = choose_devices(model, "b200-sxm", weights=format, activations="bf16", isl=512, osl=512)
    found = basis(case, "vllm")
    for symbol in (s.dense_read_device, s.decode_bytes_device, s.expert_bytes_layer_device):
        assert found.values[symbol] == approx(float(case.values[symbol]), rel=1e-12), symbol


def test_only_constants_that_move_a_figure_are_told():
    dense, sparse = (basis(scenario(name), "vllm") for name in NAMES[:2])
    experts = {s.eff_experts, s.eff_expert_matrix, s.expert_gap}
    links = {s.collective_gap, s.eff_link}
    energies = {s.idle_share, s.byte_energy, s.cache_energy, s.flop_energy}
    assert not (experts | links | energies) & {x.symbol for x in dense.constants_of(s.itl)}
    assert experts | links <= {x.symbol for x in sparse.constants_of(s.itl)}
    assert energies <= {x.symbol for x in dense.constants_of(s.energy_per_token)}
    assert dense.constants_of(s.cost_per_token) == dense.constants_of(s.throughput)


def test_a_constant_names_the_levels_that_it_was_fitted_to_and_those_that_no_row_has():
    seen = basis(scenario(DENSE), "vllm").constants[s.eff_weights].levels
    engine = "engine vllm vllm-2025 0.12"
    assert seen == f"all rows + card h100-sxm + {engine} + that card with that engine + format fp8"
    small = choose_devices("llama-3.1-8b", "l4", weights="bf16", activations="bf16", isl=1, osl=1)
    unseen = basis(small, "vllm").constants[s.eff_weights].levels
    assert unseen == f"all rows + {engine} + format 16; no row of card l4"


def test_alike_rows_are_counted_by_hand():
    with (DATA / "calibration" / "held_out.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    energy = [row for row in rows if row["metric"].startswith(("energy", "avg_power", "prefill_e"))]
    card = [row for row in energy if row["hardware_id"] == "h100-sxm"]
    both = [row for row in card if row["generation"] == "vllm-2025"]
    cell = [r for r in both if (r["model_id"], r["precision"]) == ("qwen3-8b", "16")]
    found = counted("energy", "qwen3-8b", "h100-sxm", "vllm-2025", "16")
    assert found[:3] == (len(cell), len(both), len(card)) and len(cell) > 0
    assert f"{len(cell)} of this model, card, engine and format" in found.said


def test_what_follows_rests_on_what_it_follows_from():
    assert served(s.cost_per_token) == served(s.throughput_device) == s.served_throughput
    assert served(s.carbon_per_token) == s.energy_served_token
    found = basis(scenario(DENSE), "vllm")
    assert s.price in found.records_of(s.cost_per_token)
    assert {s.grid_intensity, s.pue, s.board_power} <= found.records_of(s.carbon_per_token)
    assert not {s.price, s.board_power} & found.records_of(s.itl)
    for symbol in IMPLIED:
        assert FOLLOWS.inputs_of(symbol) & BY_SYMBOL.keys()
    assert not set(found.constants) - set(CALIBRATED.inputs)


def test_who_must_wait_is_told():
    case = choose_devices("llama-3.1-8b", "l4", weights="bf16", activations="bf16", batch=400)
    found = basis(case, "vllm")
    assert found.values[s.batch] < 400 and f"{found.values[s.batch]:,.0f} of 400" in found.waits
    assert found.otherwise(s.batch) == found.waits
    assert basis(scenario(DENSE), "vllm").waits == ""


def test_nothing_is_told_of_what_nobody_measured():
    assert "int8-w8a8" not in measured.WEIGHTS
    case = choose_devices("llama-3.1-8b", "h100-sxm", weights="int8-w8a8", activations="int8-w8a8")
    assert basis(case, "vllm") is None


# The box and the command ------------------------------------------------------------------------


def boxed(id):
    return numberbox.data([id], NUMBERS)["behind"]


def test_the_box_of_a_prediction_has_constants_rows_and_values_that_give_it():
    case = f"{DENSE}@vllm"
    found = boxed(f"{case}:itl")
    *places, rows = found["fits"][case]["itl"]
    told = {found["constants"][n][0]: found["constants"][n][1:] for n in places}
    meaning, value, levels = told["interleave"]
    assert meaning and levels.startswith("all rows + card h100-sxm") and float(value) < 1
    assert found["rows"][rows].startswith("none of this model, card, engine and format; ")
    assert {"decode_time", "prefill_time", "interleave", "osl"} <= found["values"][case].keys()
    assert found["beside"][case]["itl"] == [f"derived bound: {NUMBERS[f'{DENSE}:itl'].shown}"]


def test_the_box_of_a_prediction_lists_the_records_that_it_rests_on_and_no_others():
    case = f"{DENSE}@vllm"

    def names(symbol):
        found = boxed(f"{case}:{symbol}")
        return [found["inputs"][n]["name"] for n in found["sets"][found["of"][case][symbol][0]]]

    assert not any("energy" in name.lower() for name in names("energy_per_token"))
    assert "H100 SXM5 80 GB" in " ".join(names("itl"))


def test_the_first_token_of_a_request_is_bounded_by_its_own_prompt():
    case = "deepseek-v3/h200-sxm/fp8"
    alone, together = boxed(f"{case}@vllm:ttft")["beside"][f"{case}@vllm"]["ttft"]
    bound = float(alone.partition(": ")[2].partition(" ms")[0])
    assert bound == approx(bounds_of(case), rel=5e-3) and "its own prompt" in alone
    assert together == f"a batch that starts together has {NUMBERS[f'{case}:ttft'].shown}"


def bounds_of(name):
    """Milliseconds of the bound that predictions are held to."""
    case = scenario(name)
    said = outlook(case, "vllm", [case.batch], [case.isl])
    return float(said.bounds["ttft_ms"][0]) * 1e3


def test_an_interval_that_ends_at_the_bound_says_so():
    cut = [
        id
        for id, one in NUMBERS.items()
        if "@vllm:itl" in id
        and not one.missing
        and one.low == NUMBERS[id.replace("@vllm", "")].value != one.value
    ]
    assert cut, "no interval is cut"
    (said,) = boxed(cut[0])["beside"][cut[0].rpartition(":")[0]]["itl"]
    assert said.endswith(", where the interval is cut")


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command; return exit code, output and error."""

    def call(*words):
        monkeypatch.setattr("sys.argv", ["inferecon", *words])
        try:
            cli.main()
            code = 0
        except SystemExit as exit:
            code = exit.code or 0
        read = capsys.readouterr()
        return code, read.out, read.err

    return call


def test_trace_walks_from_a_prediction_to_constants_and_records(run):
    words = ["llama-3.1-8b", "h100-sxm", "fp8", "cost_per_token", "--engine", "vllm"]
    code, text, _ = run("trace", *words)
    assert code == 0
    shown = NUMBERS[f"{DENSE}@vllm:cost_per_token"].text
    assert text.startswith(f"cost_per_token = {shown}  [COST-FROM-THROUGHPUT]")
    assert "data/calibration/constants.csv, fitted to: all rows + card h100-sxm" in text
    assert "data/prices/h100-sxm.yaml" in text and "data/hardware/h100-sxm.yaml" in text
    assert "Measured rows: none of this model, card, engine and format" in text


def test_trace_gives_the_interval_as_data_and_says_what_is_missing(run):
    words = ["llama-3.1-8b", "h100-sxm", "itl", "--engine", "vllm", "--json"]
    tree = json.loads(run("trace", *words[:2], "fp8", *words[2:])[1])
    number = NUMBERS[f"{DENSE}@vllm:itl"]
    got = [tree[name] * 1e3 for name in ("value", "low", "high")]
    assert got == approx([number.value, number.low, number.high], rel=1e-9)
    tree = json.loads(run("trace", *words[:2], "int8-w8a8", *words[2:])[1])
    assert tree["value"] is None and "no row with weights in int8-w8a8" in tree["source"]


@pytest.mark.parametrize(
    "words, said",
    [
        (["kv_bytes", "--engine", "vllm"], "kv_bytes is not predicted for an engine; predicted"),
        (["itl", "--engine", "vlm"], "no engine 'vlm'; did you mean vllm?"),
    ],
)
def test_trace_refuses_what_no_engine_is_predicted_to_do(words, said, run):
    code, _, err = run("trace", "llama-3.1-8b", "h100-sxm", "fp8", *words)
    assert code != 0 and said in err


def test_every_prediction_has_its_constants():
    """No published prediction is without a basis; a law's value that differs is explained."""
    cases = {id.rpartition(":")[0] for id, one in NUMBERS.items() if one.known and ":itl" in id}
    for case in sorted(cases)[::40]:
        own = case.partition("@")[0]
        if own == "scenario":
            continue
        found = basis(scenario(own), "vllm")
        assert found.constants_of(s.itl) and math.isfinite(found.values[s.served_step])
        number = NUMBERS[f"{case}:itl"].value
        bound = NUMBERS[f"{own}:itl"].value
        assert number == approx(max(found.values[s.served_step] * 1e3, bound), rel=1e-9), case
