"""LLM-Viewer (hahnyuan, MIT, git 472f71f of 2024-07-30) on measured rows.

    python -m venv venv
    venv/bin/pip install transformers==4.44.2 easydict 'numpy<2' pyyaml
    git clone https://github.com/hahnyuan/LLM-Viewer && git -C LLM-Viewer checkout 472f71f
    cd LLM-Viewer && PYTHONPATH=. ../venv/bin/python ../benchmarks/peers/llm_viewer_rows.py

A roofline of one device and of models of Llama's form, without efficiencies; its
README says that only relative values may be read from it.  Attention is counted
unfused, as it is by default.  A whole answer is summed step by step by its own
``analyze_generate_task``.
"""

import json
import tempfile
from functools import cache
from pathlib import Path

import common
from model_analyzer import ModelAnalyzer

CARDS = {
    "a100-40gb-sxm": "nvidia_A100_40G",
    "a100-80gb-sxm": "nvidia_A100_80G",
    "h100-sxm": "nvidia_H100_SXM",
    "h100-pcie": "nvidia_H100_PCIe",
    "a40": "nvidia_A40",
}
FORMATS = {"16": (16, 16, 16), "fp8": (8, 8, 8), "w4": (4, 16, 16), "int8": (8, 16, 16)}


def covers(row: dict) -> bool:
    if row["hardware_id"] not in CARDS or row["precision"] not in FORMATS or row["n_gpus"] != 1:
        return False
    gated = common.facts("models", row["model_id"]).get("mlp_matrices") == 3
    alike = common.stated(row) and common.measured_alike(row)
    return gated and alike and common.plain_decoder(row["model_id"])


@cache
def analyzer(model: str, card: str) -> ModelAnalyzer:
    have = common.facts("models", model)
    config = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": int(have["hidden_size"]),
        "num_hidden_layers": int(have["n_layers"]),
        "num_attention_heads": int(have["n_heads"]),
        "num_key_value_heads": int(have["n_kv_heads"]),
        "intermediate_size": int(have["dense_width"]),
        "vocab_size": int(have["vocab_size"]),
    }
    folder = Path(tempfile.mkdtemp())
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return ModelAnalyzer(str(folder), card, "configs/Llama.py")


def predict(row: dict) -> float:
    tool = analyzer(row["model_id"], CARDS[row["hardware_id"]])
    weights, activations, kv = FORMATS[row["precision"]]
    kv = 8 if row["narrow_kv"] else kv
    isl, osl, batch = (int(row[name]) for name in ("isl", "osl", "batch"))
    found = tool.analyze(isl, batch, weights, activations, kv)["total_results"]
    first = found["prefill"]["inference_time"]
    if row["metric"] == "ttft_ms":
        return common.figure(row, first, 1.0)
    if row["metric"] in ("tpot_ms", "decode_tok_s"):
        found = tool.analyze(isl + osl // 2, batch, weights, activations, kv)["total_results"]
        return common.figure(row, first, found["decode"]["inference_time"])
    whole = tool.analyze_generate_task(isl, osl, batch, weights, activations, kv)["inference_time"]
    return common.figure(row, first, (whole - first) / max(osl - 1, 1))


if __name__ == "__main__":
    common.run("llm-viewer", covers, predict)
