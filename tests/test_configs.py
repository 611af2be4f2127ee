"""A config.json is read as the records have the model, in Python and in the page."""

import copy
import json
import subprocess
from pathlib import Path

import pytest
import yaml

from inferecon import configs
from inferecon.calculator import records
from inferecon.cli import main
from inferecon.errors import BadInput
from inferecon.laws import SERVICE
from inferecon.pages.katex_node import node
from inferecon.records import ids, load

HERE = Path(__file__).parent / "calculator"
FILES = yaml.safe_load((HERE / "configs.yaml").read_text(encoding="utf-8"))
LLAMA = FILES["llama-3.1-8b"]


def counted(model: str) -> dict[str, float]:
    """What the laws use of a record, without what is zero."""
    given = load("models", model).given.items()
    used = {x.name: v for x, v in given if x in SERVICE.inputs or x.name == "max_context"}
    return {name: value for name, value in used.items() if value}


@pytest.mark.parametrize("model", FILES)
def test_a_file_gives_the_facts_of_the_record(model):
    assert configs.facts(FILES[model]) == counted(model)
    assert configs.native(FILES[model]) == load("models", model).about["native_dtype"]


def test_every_architecture_is_tried_on_a_model():
    assert {one["architectures"][0] for one in FILES.values()} == set(configs.RULES)


# Files of DeepSeek's own inference code, as its repository has them (inference/configs).
THEIRS = {
    "deepseek-v2-lite": {
        "vocab_size": 102400,
        "dim": 2048,
        "inter_dim": 10944,
        "moe_inter_dim": 1408,
        "n_layers": 27,
        "n_dense_layers": 1,
        "n_heads": 16,
        "n_routed_experts": 64,
        "n_shared_experts": 2,
        "n_activated_experts": 6,
        "route_scale": 1.0,
        "q_lora_rank": 0,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
        "mscale": 0.707,
    },
    "deepseek-v3": {
        "vocab_size": 129280,
        "dim": 7168,
        "inter_dim": 18432,
        "moe_inter_dim": 2048,
        "n_layers": 61,
        "n_dense_layers": 3,
        "n_heads": 128,
        "n_routed_experts": 256,
        "n_shared_experts": 1,
        "n_activated_experts": 8,
        "n_expert_groups": 8,
        "n_limited_groups": 4,
        "route_scale": 2.5,
        "score_func": "sigmoid",
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
        "dtype": "fp8",
    },
}


@pytest.mark.parametrize("model", THEIRS)
def test_the_inference_code_of_deepseek_writes_the_same_model_in_other_keys(model):
    """All but the modules for multi-token prediction, which that code does not run."""
    config = configs.loads(json.dumps(THEIRS[model]))
    same = {name: value for name, value in counted(model).items() if not name.startswith("mtp")}
    assert configs.facts(config) == same | {"max_context": 16384}
    assert configs.native(config) == "bf16"


def spoiled(**changes) -> str:
    """The file of Llama-3.1-8B with changes; None takes a key away."""
    config = copy.deepcopy(LLAMA) | changes
    return json.dumps({name: value for name, value in config.items() if value is not None})


WRONG = {
    "": "this is not JSON: paste the whole config.json",
    "{": "this is not JSON: paste the whole config.json",
    '{"a": NaN}': "this is not JSON: paste the whole config.json",
    "[1]": "this JSON is no config.json: it has no keys",
    "null": "this JSON is no config.json: it has no keys",
    "{}": "config.json states no architectures, so its keys cannot be read",
    spoiled(architectures=[7]): "config.json states no architectures, so its keys cannot be read",
    spoiled(architectures=["<b>New"]): "no rule for the architecture <b>New; known: "
    + ", ".join(configs.RULES),
    spoiled(architectures=["toString"]): "no rule for the architecture toString; known: "
    + ", ".join(configs.RULES),
    spoiled(hidden_size=None, vocab_size=None): "config.json of LlamaForCausalLM states no "
    "hidden_size, vocab_size",
    spoiled(hidden_size="4096"): "hidden_size must be a number, not text",
    spoiled(hidden_size=-1): "hidden_size must be a whole number from 1 to 10,000,000",
    spoiled(hidden_size=1e15): "hidden_size must be a whole number from 1 to 10,000,000",
    spoiled(num_attention_heads=31): "head_dim must be a whole number from 1 to 10,000,000",
    spoiled(vocab_size=1e300): "vocab_size must be a whole number from 1 to 10,000,000",
    spoiled(max_position_embeddings=2e9): "max_context must be a whole number from 1 to "
    "1,000,000,000",
    spoiled(num_hidden_layers=0.5): "n_layers must be a whole number from 1 to 10,000",
    spoiled(num_hidden_layers=1e12): "n_layers must be a whole number from 1 to 10,000",
    spoiled(num_key_value_heads=0): "n_kv_heads must be a whole number from 1 to 10,000,000",
    spoiled(num_key_value_heads=64): "64 heads of keys and values do not divide the 32 heads",
    spoiled(num_key_value_heads=7): "7 heads of keys and values do not divide the 32 heads",
    spoiled(num_key_value_heads=-8): "num_key_value_heads must not be below zero",
    spoiled(num_key_value_heads="8"): "num_key_value_heads must be a number, not text",
    spoiled(intermediate_size=0): "dense_width must be a whole number from 1 to 10,000,000",
    json.dumps(LLAMA | {"hidden_size": None}): "hidden_size must be a number, not null",
    spoiled(hidden_size=[4096]): "hidden_size must be a number, not a list",
    spoiled(hidden_size={}): "hidden_size must be a number, not an object",
    json.dumps(FILES["mixtral-8x7b"] | {"num_experts_per_tok": 16}): "a token cannot go to 16 "
    "experts where there are 8",
    json.dumps(FILES["deepseek-v3"] | {"num_experts_per_tok": 0}): "top_k must be a whole number "
    "from 1 to 10,000,000",
    spoiled(torch_dtype="int3"): "config.json states no torch_dtype of bfloat16, float16, float32",
    json.dumps(FILES["qwen2.5-7b"] | {"use_sliding_window": True}): "the rule for "
    "Qwen2ForCausalLM does not cover use_sliding_window",
    json.dumps(FILES["qwen3-30b-a3b"] | {"mlp_only_layers": [0]}): "the rule for "
    "Qwen3MoeForCausalLM does not cover layers without experts",
    json.dumps(THEIRS["deepseek-v3"] | {"score_func": "linear"}): "score_func must be one of "
    "sigmoid, softmax",
    json.dumps(THEIRS["deepseek-v3"] | {"dim": None}): "config.json of DeepseekV3ForCausalLM "
    "states no hidden_size",
    " " * (configs.LONGEST + 1): "a config.json has at most 1,000,000 letters",
}
PACKED = {"num_bits": 4, "type": "int", "symmetric": True, "group_size": 128}
AS = "weights in {}, as its config.json has them"
NEAREST = "weights in {}, the nearest format on record to that of its config.json ({})"
UNREAD = "the quantisation of its config.json ({}) was not read, so weights are taken in bf16"


def compressed(**weights) -> dict:
    """What compressed-tensors writes of one group of layers."""
    group = {"weights": PACKED | weights, "input_activations": None}
    return {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}}


def both(how: dict) -> dict:
    """The same with activations quantised, too."""
    (group,) = how["config_groups"].values()
    return how | {"config_groups": {"group_0": group | {"input_activations": {"num_bits": 8}}}}


def on(method: str, **how) -> dict:
    return {"quant_method": method} | how


# What a file says of its quantisation, the format that is taken, and what is said of it.
QUANTISED = [
    (on("gptq", bits=4, group_size=128, sym=True, desc_act=False), "int4-gptq", AS),
    (on("gptq", bits=4, group_size=128, sym=False), "int4-awq", AS),
    (on("gptq", bits=8, group_size=-1, sym=True), "int8-w8a16", AS),
    (on("gptq", bits=4, group_size=32), "int4-gptq", (NEAREST, "gptq, 4 bits, in groups of 32")),
    (on("gptq", bits=4, group_size=-1), "int4-gptq", (NEAREST, "gptq, 4 bits, in a row")),
    (on("gptq", bits=3, group_size=128), "bf16", (UNREAD, "gptq, 3 bits")),
    (on("gptq", bits="4"), "bf16", (UNREAD, "gptq")),
    (on("awq", bits=4, group_size=128, zero_point=True), "int4-awq", AS),
    (on("awq", w_bit=4, q_group_size=128, zero_point=False), "int4-gptq", AS),
    (on("mxfp4", modules_to_not_convert=["lm_head"]), "mxfp4", AS),
    (on("fp8", weight_block_size=[128, 128]), "fp8", AS),
    (on("modelopt", quant_algo="NVFP4"), "nvfp4", AS),
    (on("modelopt", quant_algo=7), "bf16", (UNREAD, "modelopt, unnamed")),
    (on("bitsandbytes", load_in_4bit=True, bnb_4bit_quant_type="nf4"), "nf4", AS),
    (on("bitsandbytes", load_in_8bit=True), "bf16", (UNREAD, "bitsandbytes")),
    (compressed(), "int4-gptq", AS),
    (compressed(symmetric=False), "int4-awq", AS),
    (
        compressed(group_size=32),
        "int4-gptq",
        (NEAREST, "compressed-tensors, int, 4 bits, in groups of 32"),
    ),
    (compressed(group_size=32) | {"ignore": ["lm_head", "re:.*self_attn.*"]}, "int4-g32", AS),
    (compressed(num_bits=8, group_size=None), "int8-w8a16", AS),
    (both(compressed(num_bits=8, group_size=None)), "int8-w8a8", AS),
    (both(compressed(num_bits=8, type="float", group_size=None)), "fp8", AS),
    (compressed(type="float", group_size=16), "nvfp4", AS),
    (compressed(num_bits=[]), "bf16", (UNREAD, "compressed-tensors, int, ? bits")),
    (on("compressed-tensors"), "bf16", (UNREAD, "compressed-tensors, 0 groups")),
    (on("toString", bits=4), "bf16", (UNREAD, "toString, 4 bits")),
    (on("constructor"), "bf16", (UNREAD, "constructor")),
    (on("<b>" + "x" * 99), "bf16", (UNREAD, "<b>" + "x" * 37)),
    ({}, "bf16", (UNREAD, "unnamed")),
]
RIGHT = [
    "\ufeff" + spoiled(),
    *(spoiled(quantization_config=how) for how, *_ in QUANTISED),
    *map(json.dumps, [*FILES.values(), *THEIRS.values()]),
    spoiled(head_dim=64, tie_word_embeddings=True, attention_bias=True, mlp_bias=True),
    spoiled(num_key_value_heads=None, torch_dtype=None, dtype="float16"),
    json.dumps({"architectures": LLAMA["architectures"], "text_config": LLAMA}),
    spoiled(**{"__proto__": {"hidden_size": 1}, "constructor": 3, "unknown": ["a", 1, None]}),
    json.dumps(FILES["mixtral-8x7b"] | {"sliding_window": 4096}),
]


@pytest.mark.parametrize(("how", "format", "says"), QUANTISED)
def test_a_quantised_file_has_the_format_of_that_width_or_says_that_it_was_not_read(
    how, format, says
):
    expected = (
        says.format(format)
        if says is AS
        else says[0].format(
            *{
                NEAREST: (format, says[1]),
                UNREAD: (says[1],),
            }[says[0]]
        )
    )
    config = configs.loads(spoiled(quantization_config=how))
    assert configs.weights(config) == (format, expected)
    assert format in records.roles()["weights"]
    assert yaml.safe_load(configs.record(json.dumps(config), "mine"))["notes"] == [expected]


@pytest.mark.parametrize(("text", "says"), WRONG.items(), ids=list(WRONG.values()))
def test_a_mistake_is_one_sentence(text, says):
    with pytest.raises(BadInput) as wrong:
        config = configs.loads(text)
        configs.facts(config)
        configs.native(config)
    assert str(wrong.value) == says


def test_the_page_reads_every_file_alike(modules, tmp_path):
    expected = [[None, says] for says in WRONG.values()]
    for text in RIGHT:
        config = configs.loads(text)
        found = configs.facts(config)
        context = found.pop("max_context")
        own = {"native": configs.native(config), "context": context, "given": found}
        expected.append([{"name": "your own model", **own}, ""])
    asked = {"texts": [*WRONG, *RIGHT], "records": {"zeros": records.data()["zeros"]}}
    (tmp_path / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    ran = subprocess.run(
        [node(), HERE / "configs.mjs", modules, tmp_path / "asked.json"],
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(ran.stdout)
    assert found["parsed"] == expected
    assert found["stored"] == [list(configs.weights(configs.loads(text))) for text in RIGHT]
    assert found["again"] == [one for one, wrong in expected if not wrong], "out of the address"


def test_a_record_is_written_for_a_folder_of_ones_own(tmp_path, capsys, monkeypatch):
    (tmp_path / "config.json").write_text(json.dumps(FILES["mixtral-8x7b"]), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["inferecon", "model", str(tmp_path / "config.json"), "mine"])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "mine.yaml").write_text(capsys.readouterr().out, encoding="utf-8")
    monkeypatch.setenv("INFERECON_DATA", str(tmp_path))
    ids.cache_clear(), load.cache_clear()
    try:
        same = load("models", "mine")
        theirs = {x: v for x, v in load("models", "mixtral-8x7b").given.items()}
        theirs = {x: v for x, v in theirs.items() if x in SERVICE.inputs}
        assert {x: v for x, v in same.given.items() if x in theirs} == theirs
    finally:
        ids.cache_clear(), load.cache_clear()
