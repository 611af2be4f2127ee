"""`inferecon measure`: shapes, plan, rows and refusals; with PyTorch, its layers on the CPU."""

import csv
import math
import sys

import numpy as np
import pytest

from inferecon import cli
from inferecon.calibration import rows as truth
from inferecon.calibration.calibrate import usable
from inferecon.errors import BadInput
from inferecon.files import DATA
from inferecon.measure import command, energy, plan, rows, run, shapes
from inferecon.records import Record, ids, load

GIB = 2**30


def tiny(id: str, **values) -> Record:
    """A record with a few sizes made small, so that a CPU runs it."""
    record = load("models", id)
    facts = {
        name: fact.model_copy(update={"value": values.get(name, fact.value)})
        for name, fact in record.facts.items()
    }
    return Record(kind="models", id=id, name=record.name, about=record.about, facts=facts)


SMALL = dict(hidden_size=64, n_layers=2, vocab_size=96, n_heads=4)
HEADS = dict(n_kv_heads=2, head_dim=16, v_head_dim=16)
LATENT = dict(
    n_mla_layers=2,
    q_lora_rank=32,
    kv_lora_rank=32,
    qk_nope_head_dim=16,
    qk_rope_head_dim=8,
    mla_v_head_dim=16,
)
DENSE = dict(n_dense_layers=2, dense_width=96)
MOE = dict(n_moe_layers=2, n_experts=8, top_k=2, expert_width=32)
TINY = {
    "llama-3.1-8b": SMALL | HEADS | DENSE | dict(n_full_layers=2),
    "qwen2.5-7b": SMALL | HEADS | DENSE | dict(n_full_layers=2),
    "olmo-2-7b": SMALL | HEADS | DENSE | dict(n_full_layers=2),
    "falcon-7b": SMALL | HEADS | DENSE | dict(n_full_layers=2),
    "gpt2": SMALL | HEADS | DENSE | dict(n_full_layers=2, n_kv_heads=4),
    "gemma-2-2b": SMALL
    | HEADS
    | DENSE
    | dict(n_full_layers=1, n_local_layers=1, local_kv_heads=2, local_head_dim=16)
    | dict(local_v_head_dim=16),
    "deepseek-v3": SMALL | LATENT | DENSE | dict(n_dense_layers=2, n_moe_layers=0),
}
ROUTED = {
    "qwen3-30b-a3b": SMALL | HEADS | MOE | dict(n_full_layers=2),
    "gpt-oss-20b": SMALL
    | HEADS
    | MOE
    | dict(n_full_layers=1, n_local_layers=1, local_kv_heads=2, local_head_dim=16)
    | dict(local_v_head_dim=16),
    "deepseek-v3": SMALL
    | LATENT
    | MOE
    | dict(n_dense_layers=1, n_moe_layers=1, dense_width=96, shared_width=32),
}


def shaped(id: str) -> shapes.Model:
    return shapes.model(load("models", id))


def where(layers: int = 0, id: str = "llama-3.1-8b") -> rows.Where:
    return rows.Where(shaped(id), "h200-sxm", "2.14", "2026-11-30", layers)


READING = rows.Reading(0.0051, 0.0052, 480.0, 230)
POINT = plan.Point("decode", "bf16", 8, 1024)


# Shapes


def test_shapes_of_every_model_add_up_to_what_the_laws_count():
    """`model` itself compares with PARAM-TOTAL; a model it refuses is one it names a part of."""
    refused, built = {}, 0
    for id in ids("models"):
        try:
            built += shaped(id).elements > 0
        except BadInput as mistake:
            refused[id] = str(mistake)

    assert built >= 129
    assert all("does not build" in said or "not public" in said for said in refused.values())


def test_layer_of_llama_by_hand():
    model = shaped("llama-3.1-8b")

    # (32 + 2 x 8) heads of 128 = 6144 rows; gate and up 2 x 14336 = 28672 rows
    assert model.layers[0].shapes == {
        "norms": (2, 4096),
        "qkv": (6144, 4096),
        "o": (4096, 4096),
        "up": (28672, 4096),
        "down": (4096, 14336),
    }
    assert model.elements == 8_030_261_248  # as published


def test_absorbed_layer_of_deepseek_by_hand():
    layer = shaped("deepseek-v3").layers[-1]

    assert (layer.mixer, layer.feed) == ("mla", "moe")
    assert layer.shapes["absorb_k"] == (128, 128, 512)
    assert layer.shapes["experts_up"] == (256, 4096, 7168)
    assert layer.cache == ((1, 576),)  # latent 512, rotary key 64
    assert not shapes.narrow("absorb_k", layer.shapes["absorb_k"])
    assert not shapes.narrow("router", layer.shapes["router"])
    assert shapes.narrow("experts_up", layer.shapes["experts_up"])


@pytest.mark.parametrize(
    ("id", "named"),
    [
        ("nemotron-h-8b", "Mamba-2"),
        ("qwen3.5-27b", "Gated DeltaNet"),
        ("kimi-linear-48b-a3b", "Kimi delta attention"),
        ("deepseek-v3.2", "sparse-attention index"),
        ("deepseek-v4-flash", "compressed attention"),
        ("minimax-m1", "lightning attention"),
        ("deepseek-v4.1-flash", "not public"),
    ],
)
def test_mixer_that_is_not_built_is_named(id, named):
    with pytest.raises(BadInput, match=named):
        shaped(id)


# Plan


def test_quick_plan_is_small_and_starts_cheap():
    points, left = plan.points(shaped("llama-3.1-8b"), ["bf16"], quick=True)

    assert len(points) == 4 * 2 + 4  # batches x contexts, and prompts
    assert points[0] == plan.Point("decode", "bf16", 1, 1024)
    assert not left


def test_points_a_model_cannot_run_are_said():
    points, left = plan.points(shaped("gpt2"), ["bf16"], "1", "512,2048")
    assert {point.context for point in points} == {512}
    assert len(left) == 2 and "1,024 tokens at most" in left[0]

    _, left = plan.points(shaped("gpt-oss-20b"), ["bf16"], "1", "1024")
    assert left == ["prefill-bf16-b1-i1024: a prefill beyond the window of 128 is not built"]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: plan.formats("bf16,fp4"), "'fp4' is not measured; did you mean"),
        (lambda: plan.formats(","), "empty"),
        (lambda: plan.numbers("1,x", "--batches", ()), "'x' is no whole number"),
        (lambda: plan.numbers("0", "--batches", ()), "not between 1"),
        (lambda: plan.numbers("9" * 30, "--contexts", ()), "not between 1"),
        (lambda: plan.numbers("²", "--contexts", ()), "no whole number"),
    ],
)
def test_slips_in_what_is_asked(ask, said):
    with pytest.raises(BadInput, match=said):
        ask()


def test_layers_that_fit_by_hand():
    model = shaped("llama-3.1-8b")

    # One layer: 218,112,000 weights, 0.436 GB in bf16; tables 2 x 128256 x 4096 x 2 B = 2.101 GB.
    # Its cache: 8 x 1024 tokens x 4096 B = 0.034 GB.
    # 0.92 x 16 GB = 14.72 GB: (14.72 - 2.10) / (0.436 + 0.034) = 26.8
    assert len(plan.fitting(model, "bf16", 16 * 10**9, 32, [POINT])) == 26
    assert len(plan.fitting(model, "bf16", 80 * 10**9, 32, [POINT])) == 32
    assert len(plan.fitting(model, "bf16", 80 * 10**9, 3, [POINT])) == 3
    assert plan.fitting(model, "bf16", 2 * 10**9, 32, [POINT]) == []
    # A cache of 256 x 32768 tokens at 4096 B a layer is 34.4 GB: one layer beside 40 GB x 0.92.
    big = plan.Point("decode", "bf16", 256, 32768)
    assert len(plan.timed(model, big, list(range(32)), 40 * 10**9)) == 1


def test_part_says_what_was_timed():
    model = shaped("deepseek-v3")
    places = plan.fitting(model, "fp8", 139 * GIB, 61, [plan.Point("decode", "fp8", 1, 1024)])

    # A layer with 256 experts holds 11.5 GB in fp8, a dense one 0.6 GB, the tables 3.7 GB:
    # 0.92 x 149.2 GB = 137.3 GB, less 3.7 and 0.6, holds eleven of the former.
    assert plan.part(model, places) == "12 of 61 layers (1 mla dense, 11 mla moe), no head"
    assert plan.part(model, list(range(61))) == ""
    assert plan.part(shaped("llama-3.1-8b"), [3, 9]) == "2 of 32 layers, no head"


# Rows


def test_rows_have_the_schema_of_the_report(tmp_path):
    with (DATA / "truth" / "lab_h200.csv").open(encoding="utf-8") as file:
        assert set(csv.DictReader(file).fieldnames) <= set(rows.COLUMNS)
    made = rows.rows(where(), POINT, READING, "", "random weights")
    prompt = plan.Point("prefill", "fp8", 1, 2048)
    made += rows.rows(where(), prompt, READING, "", "random weights")
    rows.write(tmp_path / "rows.csv", made)

    assert [row["metric"] for row in made] == [
        "decode_step_ms",
        "energy_per_step_J",
        "avg_power_W",
        "ttft_ms",
        "prefill_energy_J",
        "avg_power_W",
    ]
    assert made[1]["value"] == "2.496"  # 480 W x 5.2 ms
    found = truth.read(tmp_path / "rows.csv")
    assert set(found.family) == {"lab"}
    assert set(found.model_id) == {"llama-3.1-8b"} and set(found.hardware_id) == {"h200-sxm"}
    assert len(usable(found)) == 6  # all can be predicted and fitted
    assert len(set(found.id)) == 6


def test_part_of_a_model_is_read_and_not_fitted(tmp_path):
    made = rows.rows(where(2), POINT, READING, "2 of 32 layers, no head", "")
    rows.write(tmp_path / "rows.csv", made)

    assert len(truth.read(tmp_path / "rows.csv")) == 3
    assert usable(truth.read(tmp_path / "rows.csv")).empty


def test_without_a_counter_there_are_times_and_no_energy():
    made = rows.rows(where(), POINT, rows.Reading(0.005, 0.005, math.nan, 9), "", "")

    assert [row["metric"] for row in made] == ["decode_step_ms"]


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "id,metric\nx,y\n", "\xff\xfe", "{}"])
def test_file_of_another_kind_is_not_touched(tmp_path, text):
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="latin-1")

    with pytest.raises(BadInput, match="no table of inferecon measure"):
        rows.read(path)
    assert path.read_text(encoding="latin-1") == text


def _answers(seen, stop_at=99):
    """Stand in for a device: every point gives the same reading."""

    def timed(model, points, card, layers, hold):
        for point in points:
            if len(seen) == stop_at:
                raise KeyboardInterrupt
            seen.append(point)
            yield point, (READING, "", "random weights")

    return timed


def test_interrupted_run_keeps_its_rows_and_goes_on(tmp_path, monkeypatch):
    out, points = tmp_path / "rows.csv", plan.points(shaped("gpt2"), ["bf16"], "1,8", "512")[0]
    first: list = []
    monkeypatch.setattr(run, "_timed", _answers(first, stop_at=2))
    with pytest.raises(KeyboardInterrupt):
        run.measure(where().model, points, None, where(), out)
    assert len(rows.read(out)) == 6
    second: list = []
    monkeypatch.setattr(run, "_timed", _answers(second))
    found = run.measure(where().model, points, None, where(), out)

    assert first + second == points
    assert len(found) == len(points) * 3 == len(rows.read(out))
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


def test_point_that_fails_is_said_and_the_next_one_runs(tmp_path, monkeypatch):
    points, heard = plan.points(shaped("gpt2"), ["bf16"], "1,8", "512")[0], []

    def timed(model, points, card, layers, hold):
        yield points[0], "out of memory"
        yield points[1], (READING, "", "")

    monkeypatch.setattr(run, "_timed", timed)
    out = tmp_path / "rows.csv"
    found = run.measure(where().model, points[:2], None, where(), out, say=heard.append)

    assert heard == [f"left out: {points[0].name}: out of memory"]
    assert len(found) == 3


def test_budget_ends_a_run_between_two_points(tmp_path, monkeypatch):
    points, heard, seen = plan.points(shaped("gpt2"), ["bf16"], "1,8", "512")[0], [], []
    monkeypatch.setattr(run, "_timed", _answers(seen))
    out = tmp_path / "rows.csv"
    run.measure(where().model, points, None, where(), out, minutes=1e-9, say=heard.append)

    assert len(seen) == 1 and "2 points are left" in heard[0]


# Energy


def test_power_is_taken_between_two_moves_of_the_counter():
    """500 W, a counter that moves every 100 ms and was at rest (100 W) until 0.25 s."""
    clock = [0.0]

    def joules():
        seen = math.floor(clock[0] * 10 + 1e-9) / 10
        return 100 * min(seen, 0.25) + 500 * max(0.0, seen - 0.25)

    clock[0] = 0.35  # work began at 0.25, looks begin now
    moves = energy.Moves(joules, lambda: clock[0])
    for time in np.arange(0.35, 1.5, 0.01):
        clock[0] = float(time)
        moves.look()

    assert moves.watt() == pytest.approx(500, rel=1e-6)


def test_no_power_from_a_counter_that_hardly_moved():
    assert math.isnan(energy.Moves(None, lambda: 0.0).watt())
    assert math.isnan(energy.idle(None))


# The command


def refused(capsys, *words) -> str:
    with pytest.raises(SystemExit) as left:
        sys.argv = ["inferecon", "measure", *map(str, words)]
        cli.main()
    said = capsys.readouterr()
    assert left.value.code == 2 and not said.out and said.err.count("\n") == 1
    return said.err


def test_without_pytorch_one_sentence_and_nothing_written(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(sys, "argv", [])
    said = refused(capsys, "llama-3.1-8b", "--quick", "--out", tmp_path / "rows.csv")

    assert "needs PyTorch" in said and "pip install torch" in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["llama-3.1-8"], "llama-3.1-8b"),
        (["llama-3.1-8b", "--formats", "fp7"], "fp8"),
        (["llama-3.1-8b", "--layers", "33"], "has 32"),
        (["llama-3.1-8b", "--hardware", "h201-sxm"], "h200-sxm"),
        (["llama-3.1-8b", "--out", "/nowhere/rows.csv"], "no folder"),
        (["nemotron-h-8b"], "Mamba-2"),
        (["gpt2", "--contexts", "4096"], "nothing to measure"),
    ],
)
def test_mistakes_are_said_before_pytorch_is_looked_for(words, named, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(sys, "argv", [])

    assert named in refused(capsys, *words)


def test_card_is_found_by_the_name_of_its_device():
    assert run.whose("", "NVIDIA H200") == "h200-sxm"
    with pytest.raises(BadInput, match="--hardware"):
        run.whose("", "Some Card 9000")


# With PyTorch: the same code on the CPU


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def logits(torch, record, prompt, steps):
    """Logits of a prompt's last token, and of a step after the cache of the tokens before it."""
    from inferecon.measure.model import Built

    model = shapes.model(record)
    places = list(range(len(model.layers)))
    built = Built(model, places, "bf16", "cpu", False, torch.float64)
    built.ready(plan.Point("prefill", "bf16", 2, 7), places)
    whole, tokens, caches = built.step(), built.tokens, built.caches
    built.ready(plan.Point("decode", "bf16", 2, 7), places)
    built.tokens = tokens[:, -1:]
    for i in places:
        for cache, before in zip(built.caches[i], caches[i], strict=True):
            cache[:, :, :-1] = before[:, :, :-1]  # the last slot is the step's own
    return whole, built.step()


@pytest.mark.parametrize("id", TINY)
def test_step_over_a_cache_gives_what_the_prompt_gave(torch, id):
    """Absorbed, grouped and turned, a step is the same function as a prefill."""
    whole, step = logits(torch, tiny(id, **TINY[id]), 7, 1)

    assert whole.shape == (2, 96)
    assert torch.isfinite(whole).all()
    torch.testing.assert_close(step, whole, rtol=1e-4, atol=1e-5)  # turns are made in float32


def test_grouped_product_equals_expert_by_expert(torch):
    from inferecon.measure import layers

    if not layers.grouped():
        pytest.skip("this PyTorch has no grouped product")
    path = layers.route(12, 8, 2, 0, "cpu")
    w = {"e": torch.randn(8, 32, 64).bfloat16()}
    rows_ = torch.randn(24, 64).bfloat16()
    try:
        fused = layers._each(rows_, w, "e", path, True)
    except (RuntimeError, NotImplementedError) as error:
        pytest.skip(f"no grouped product on the CPU: {error}")

    torch.testing.assert_close(fused, layers._each(rows_, w, "e", path, False), rtol=2e-2, atol=0.1)
    assert sum(path.counts) == 24 and int(path.ends[-1]) == 24


def test_experts_are_those_the_route_names(torch):
    """One token, all experts the same: the share of each is a part of one."""
    from inferecon.measure import layers

    f = {"top_k": 2}
    path = layers.route(5, 8, 2, 0, "cpu")
    up, down = torch.randn(16, 8).double(), torch.randn(8, 8).double()
    w = {"router": torch.randn(8, 8).double()}
    w |= {"experts_up": up.expand(8, -1, -1), "experts_down": down.expand(8, -1, -1)}
    x = torch.randn(5, 8).double()

    expected = layers.bend(x @ up.T, True) @ down.T
    torch.testing.assert_close(layers.experts(x, w, f, True, lambda n: path, False), expected)


@pytest.mark.parametrize("id", [*TINY, *(f"{id}:moe" for id in ROUTED)])
@pytest.mark.parametrize("formats", ["bf16", "fp8"])
def test_whole_run_on_the_cpu(torch, id, formats, tmp_path, monkeypatch):
    from inferecon.measure.clock import Processor

    id, _, routed = id.partition(":")
    record = tiny(id, **(ROUTED if routed else TINY)[id])
    monkeypatch.setattr(command, "load", lambda kind, id: record)
    out = tmp_path / "rows.csv"
    asked = dict(hardware="h200-sxm", formats=formats, batches="1,3", contexts="8,32", out=out)
    said = command.measured(id, **asked, card=Processor(), hold=0)

    assert said.startswith(f"6 of 6 points are in {out}: 6 rows added")
    found = rows.read(out)
    assert all(float(row["value"]) > 0 and not row["part"] for row in found)
    assert command.measured(id, **asked, card=Processor(), hold=0).endswith(
        "0 rows added, 6 in all"
    )


def test_part_of_the_layers_on_the_cpu(torch, tmp_path, monkeypatch):
    from inferecon.measure.clock import Processor

    record = tiny("deepseek-v3", **ROUTED["deepseek-v3"])
    monkeypatch.setattr(command, "load", lambda kind, id: record)
    out = tmp_path / "rows.csv"
    asked = dict(hardware="h200-sxm", batches="1", contexts="8", layers=1, out=out)
    command.measured("deepseek-v3", **asked, card=Processor(), hold=0)

    assert {row["part"] for row in rows.read(out)} == {"1 of 2 layers (1 mla moe), no head"}
    assert {row["engine"].partition(" ")[0] for row in rows.read(out)} == {"PyTorch"}


def test_weights_are_those_of_the_shapes(torch):
    from inferecon.measure.model import Built

    model = shapes.model(tiny("deepseek-v3", **ROUTED["deepseek-v3"]))
    built = Built(model, [0, 1], "bf16", "cpu", False)
    held = [built.tables, *built.layers.values()]

    assert sum(w.numel() for part in held for w in part.values()) == model.elements
    assert built.layers[0]["o"].data_ptr() != built.layers[1]["o"].data_ptr()


def test_loop_of_a_card_takes_medians_and_reads_power_while_it_runs(torch, monkeypatch):
    """The loop of the CUDA path with a clock in place of CUDA events: 2 ms a run, 300 W."""
    import time

    from inferecon.measure import clock

    class Mark:
        def __init__(self):
            self.at = time.perf_counter()

        def elapsed_time(self, other):
            return (other.at - self.at) * 1e3

        def query(self):
            return True

    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(clock.Card, "_mark", staticmethod(Mark))
    card = object.__new__(clock.Card)
    card.joules = lambda: 300 * math.floor(time.perf_counter() * 50) / 50  # moves every 20 ms
    reading = card.time(lambda: time.sleep(0.002), False, 0.4)

    assert 0.002 <= reading.median < 0.02
    assert 0.4 <= reading.mean * reading.repeats < 1.5
    assert reading.watt == pytest.approx(300, rel=0.15)
    assert card.time(lambda: time.sleep(0.002), False, 0.0).repeats >= clock.FEWEST


def test_pytorch_without_a_device_is_said_in_one_sentence(torch, tmp_path, capsys, monkeypatch):
    if torch.cuda.is_available():
        pytest.skip("there is a device")
    monkeypatch.setattr(sys, "argv", [])
    said = refused(capsys, "llama-3.1-8b", "--out", tmp_path / "rows.csv")

    assert "needs a CUDA device" in said and not list(tmp_path.iterdir())
