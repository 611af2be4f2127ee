"""GenZ (Georgia Tech, MIT, genz-llm 0.0.16 from PyPI) on measured rows.

    python -m venv venv && venv/bin/pip install genz-llm==0.0.16 pyyaml
    venv/bin/python benchmarks/peers/genz_rows.py

A roofline with collectives.  Efficiency is left at its default, 1.  Cards are
its own descriptions where it has one, else our records'; models are given from
our records through its own ``ModelConfig``.  Prefill and one decode step, at the
mean context, give every metric.
"""

import contextlib
import io
import warnings
from functools import cache

import common
from GenZ import decode_moddeling, prefill_moddeling
from GenZ.Models.default_models import MODEL_DICT, ModelConfig

warnings.simplefilter("ignore")

CARDS = {
    "a100-40gb-sxm": {"Flops": 312, "Memory_size": 40, "Memory_BW": 1600, "ICN": 150},
    "a100-80gb-sxm": {"Flops": 312, "Memory_size": 80, "Memory_BW": 2039, "ICN": 150},
    "h100-sxm": {"Flops": 989, "Memory_size": 80, "Memory_BW": 3400, "ICN": 450},
    "mi300x": {"Flops": 1307, "Memory_size": 192, "Memory_BW": 5300, "ICN": 400},
}
OURS = ("h200-sxm", "b200-sxm", "gh200-96gb", "l40s", "gaudi2")
FORMATS = {"16": "bf16", "fp8": "int8"}  # one width for weights, activations and cache


@cache
def card(name: str) -> dict:
    if name in CARDS:
        return CARDS[name] | {"real_values": True}
    have = common.facts("hardware", name)
    return {
        "Flops": have.get("peak_flops@bf16") or have["peak_flops@fp16"],
        "Memory_size": have["memory_capacity"],
        "Memory_BW": have["hbm_bandwidth"],
        "ICN": have.get("link_bandwidth") or have["host_bandwidth"],
        "real_values": True,
    }


@cache
def model(name: str) -> str:
    """Add a record's model to those that the peer knows, and return its name there."""
    have = common.facts("models", name)
    known = f"record/{name}"
    MODEL_DICT.add_model(
        ModelConfig(
            model=known,
            vocab_size=int(have["vocab_size"]),
            hidden_size=int(have["hidden_size"]),
            intermediate_size=int(have.get("dense_width") or have["expert_width"]),
            num_ffi=int(have["mlp_matrices"]) - 1,
            num_decoder_layers=int(have["n_layers"]),
            num_attention_heads=int(have["n_heads"]),
            num_key_value_heads=int(have["n_kv_heads"]),
            head_dim=int(have["head_dim"]),
            num_experts=int(have.get("n_experts", 0)) or 1,
            expert_top_k=int(have.get("top_k", 0)) or 1,
        )
    )
    return known


def covers(row: dict) -> bool:
    known = row["hardware_id"] in CARDS or row["hardware_id"] in OURS
    fits = row["precision"] in FORMATS and row["replicas"] == 1 and row["pp"] == 1
    if not (known and fits and common.stated(row) and common.measured_alike(row)):
        return False
    have = common.facts("models", row["model_id"])
    whole = have.get("n_full_layers", 0) == have["n_layers"]
    return whole and have.get("n_moe_layers", 0) in (0, have["n_layers"])


def predict(row: dict) -> float:
    tp = int(row["tp"])
    given = {
        "model": model(row["model_id"]),
        "batch_size": int(row["batch"]),
        "system_name": card(row["hardware_id"]),
        "bits": FORMATS[row["precision"]],
        "tensor_parallel": tp,
        "parallelism_heirarchy": f"TP{{{tp}}}_EP{{1}}_PP{{1}}",
    }
    first = step = 1.0
    isl, osl = int(row["isl"]), int(row["osl"])
    with contextlib.redirect_stdout(io.StringIO()):
        if row["metric"] not in ("tpot_ms", "decode_tok_s"):
            first = prefill_moddeling(input_tokens=isl, **given)["Latency"] / 1e3
        if row["metric"] != "ttft_ms":
            given |= {"input_tokens": isl, "output_tokens": osl // 2, "Bb": 1}
            step = decode_moddeling(**given)["Latency"] / 1e3
    return common.figure(row, first, step)


if __name__ == "__main__":
    common.run("genz", covers, predict)
