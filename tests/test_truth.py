"""The laws meet outside numbers: counts exactly, times as bounds, energies within a stated part."""

import csv

import pytest

from inferecon import symbols as s
from inferecon.counting import in_scope
from inferecon.files import DATA
from inferecon.laws import SERVICE
from inferecon.laws.catalogue import BY_ID
from inferecon.records import ids, load
from inferecon.scenario import Scenario


def rows(name):
    with (DATA / name).open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


RECORDS = {row["model"]: row["record"] for row in rows("truth/models.csv")}
STRUCTURAL = rows("truth/structural.csv")


def counted(id):
    """Every count of a model, with 16-bit cache elements."""
    constants = load("constants", "counting").given
    return SERVICE.solve(constants | load("models", id).given | {s.kv_width: 2.0})


def named(row):
    return f"{row['model']}-{row['metric']}"


# Counts ----------------------------------------------------------------------------------------

EXACT = {
    "params_total": lambda v: v[s.params_total],
    "params_active_incl_embeddings": lambda v: v[s.params_active],
    "params_active_excl_input_embedding": lambda v: v[s.params_active] - v[s.params_embedding],
}
exact = [row for row in STRUCTURAL if row["metric"] in EXACT]
caches = [row for row in STRUCTURAL if row["metric"].startswith("kv_")]
# Within 2.5 % of a rounded figure; publishers of active counts differ on the input embedding.
ROUNDED = {
    "params_total_published": lambda v: [v[s.params_total], v[s.params_total] + v[s.params_vision]],
    "params_active_published": lambda v: [
        v[s.params_active],
        v[s.params_active] - v[s.params_embedding],
    ],
    "params_mtp_unique": lambda v: [v[s.params_mtp]],
    "params_total_checkpoint": lambda v: [v[s.params_total] + v[s.params_mtp] + v[s.params_copies]],
}
rounded = [row for row in STRUCTURAL if row["metric"] in ROUNDED]


@pytest.mark.parametrize("row", exact, ids=named)
def test_a_count_is_exact(row):
    assert EXACT[row["metric"]](counted(RECORDS[row["model"]])) == int(row["value"])


@pytest.mark.parametrize("row", caches, ids=named)
def test_the_cache_of_a_token_is_exact(row):
    v, model = counted(RECORDS[row["model"]]), load("models", RECORDS[row["model"]])
    elements = {
        "": v[s.kv_growing],
        "latent only": v[s.kv_growing] - model.get("n_index_layers") * model.get("index_dim"),
        "all layers in full": v[s.kv_growing] + v[s.kv_local],
    }[row["scope"]]
    unit = {"B/token": 1, "kB/token": 1000}[row["unit"]]
    assert elements * 2 == round(float(row["value"]) * unit)


@pytest.mark.parametrize("row", rounded, ids=named)
def test_a_rounded_count_is_near(row):
    printed = float(row["value"]) * 1e9
    nearest = min(
        abs(value / printed - 1) for value in ROUNDED[row["metric"]](counted(RECORDS[row["model"]]))
    )
    assert nearest < 0.025


def test_every_outside_row_is_used_and_sourced():
    assert len(exact) + len(caches) + len(rounded) == len(STRUCTURAL) >= 60
    assert all(row["source"] and row["locator"] and row["licence"] for row in STRUCTURAL)
    assert {row["model"] for row in STRUCTURAL} == RECORDS.keys()


# Files whose element count is known and not met, by how much; the reason stands in the record.
APART = {"kimi-k2.5": -471_143_920, "kimi-k3": -447_361_184, "mimo-v2-flash": -18_717_312}
PUBLISHED = [
    id
    for id in ids("models")
    if load("models", id).about["published_exact"] and not load("models", id).lacks
]


@pytest.mark.parametrize("id", PUBLISHED)
def test_the_published_number_of_elements_is_met_exactly(id):
    record = load("models", id)
    found = in_scope(record, counted(id)) + record.given.get(s.published_adjust, 0)
    assert found - record["published_total"] == APART.get(id, 0)
    assert id not in APART or record.notes


def test_136_models_are_counted_exactly():
    assert len(PUBLISHED) - len(APART) == 136


@pytest.mark.parametrize(
    ("id", "weights"),
    [
        ("llama-3.1-70b", 70_553_706_496),
        ("llama-3.1-8b", 8_030_261_248),
        ("deepseek-v3", 671_026_419_200),
        ("qwen3-30b-a3b", 30_532_122_624),
    ],
)
def test_a_well_known_model_has_its_well_known_count(id, weights):
    assert counted(id)[s.params_total] == weights


@pytest.mark.parametrize(
    ("id", "cache"),
    [
        ("deepseek-v3", 70_272),  # 61 layers x (512 + 64) x 2 B
        ("llama-3.1-70b", 327_680),  # 80 layers x 8 heads x 2 x 128 x 2 B
        ("qwen2.5-72b", 327_680),
        ("llama-3.1-405b", 516_096),  # 126 layers x 8 heads x 2 x 128 x 2 B
    ],
)
def test_a_well_known_model_has_its_well_known_cache(id, cache):
    assert counted(id)[s.kv_bytes_per_token] == cache


# Our own measurements --------------------------------------------------------------------------

MEASURED = {
    "Qwen2.5-1.5B": "qwen2.5-1.5b",
    "Qwen2.5-7B": "qwen2.5-7b",
    "Llama-3.1-8B": "llama-3.1-8b",
    "Qwen3-30B-A3B": "qwen3-30b-a3b",
}
DECODE, PREFILL = rows("measurements/decode.csv"), rows("measurements/prefill.csv")
MOE = rows("measurements/moe_decode.csv")


def bound(row):
    """Every symbol at the conditions of a measured row."""
    case = Scenario(
        MEASURED[row["model"]], "h200-sxm", weights=row["fmt"], activations=row["fmt"], isl=8, osl=2
    )
    # the mean of two answer tokens attends to isl + 1 tokens
    isl = float(row["isl"]) if "isl" in row else float(row["context"]) - 1
    return SERVICE.solve(case.given() | {s.batch: float(row["batch"]), s.isl: isl})


def slower_by(row):
    """Measured time over the law's lower bound."""
    time, symbol = (row["ttft_ms"], s.ttft) if "isl" in row else (row["itl_ms"], s.itl)
    return float(time) / 1e3 / float(bound(row)[symbol])


def conditions(row):
    length = row.get("isl") or row["context"]
    return f"{row['model']}-{row['fmt']}-batch{row['batch']}-{length}"


def bf16(rows):
    return [row for row in rows if row["fmt"] == "bf16"]


@pytest.mark.parametrize("row", [*DECODE, *MOE, *PREFILL], ids=conditions)
def test_no_measured_step_is_faster_than_the_bound(row):
    assert slower_by(row) > 1


@pytest.mark.parametrize("row", bf16(DECODE), ids=conditions)
def test_a_decode_step_is_within_twice_its_bound(row):
    # 1.25 to 1.86; a model of 1.5 billion weights is bound by launches and small kernels: to 3.66
    assert slower_by(row) < (3.7 if row["model"] == "Qwen2.5-1.5B" else 1.9)


@pytest.mark.parametrize("row", bf16(MOE), ids=conditions)
def test_a_step_with_experts_is_within_twice_its_bound_from_batch_16(row):
    # 1.72 to 1.88 from batch 16; below, few experts are awake and kernels are short: to 5.87
    assert slower_by(row) < (1.9 if int(row["batch"]) >= 16 else 5.9)


@pytest.mark.parametrize("row", bf16(PREFILL), ids=conditions)
def test_a_prefill_is_within_twice_its_bound(row):
    # 1.56 to 1.92; 512 tokens of the smallest model take as long as the launches: 5.74
    short = row["model"] == "Qwen2.5-1.5B" and int(row["isl"]) < 2048
    assert slower_by(row) < (5.8 if short else 1.95)


def energy_at_measured_time(row):
    """Energy of the law at the time that was measured, over the energy that was measured."""
    v = bound(row)
    if "isl" in row:
        at = BY_ID["ENERGY-PREFILL"](v | {s.ttft: float(row["ttft_ms"]) / 1e3})
        return float(at) / float(row["joule"])
    at = BY_ID["ENERGY-STEP"](v | {s.itl: float(row["itl_ms"]) / 1e3})
    return float(at) / float(row["joule_per_step"])


@pytest.mark.parametrize("row", [*bf16(DECODE), *bf16(PREFILL)], ids=conditions)
def test_energy_at_the_measured_time_is_within_13_percent(row):
    # these 47 rows fitted two constants; the third is the measured power at rest
    assert energy_at_measured_time(row) == pytest.approx(1, abs=0.13)


@pytest.mark.parametrize("row", bf16(MOE), ids=conditions)
def test_energy_of_experts_which_fitted_nothing_is_within_17_percent(row):
    assert energy_at_measured_time(row) == pytest.approx(1, abs=0.17)


@pytest.mark.parametrize("row", [r for r in DECODE if r["fmt"] == "fp8"], ids=conditions)
def test_energy_of_fp8_decode_which_fitted_nothing_is_within_12_percent(row):
    assert energy_at_measured_time(row) == pytest.approx(1, abs=0.12)


@pytest.mark.parametrize("row", [r for r in PREFILL if r["fmt"] == "fp8"], ids=conditions)
def test_energy_of_fp8_prefill_is_within_13_percent_from_7_billion_weights(row):
    # these 9 rows fitted the energy of a FLOP in 8 bits; small kernels waste more: 21 % too little
    small = row["model"] == "Qwen2.5-1.5B"
    assert energy_at_measured_time(row) == pytest.approx(1, abs=0.21 if small else 0.13)


@pytest.mark.parametrize("row", bf16(DECODE), ids=conditions)
def test_energy_of_a_step_at_the_bound_misses_the_rest_power_of_the_delay(row):
    # the bound is shorter than the step, and the board rests meanwhile: 29 % less to 2 % more
    assert 0.7 < float(bound(row)[s.energy_step]) / float(row["joule_per_step"]) < 1.02
