"""InferSim (Alibaba, Apache-2.0, git f2293da of 2026-05-08) on measured rows.

    git clone https://github.com/alibaba/InferSim && git -C InferSim checkout f2293da
    python -m venv venv && venv/bin/pip install pyyaml
    cd InferSim && PYTHONPATH=. ../venv/bin/python ../benchmarks/peers/infersim_rows.py

Of its four devices the measured rows have the H200 with batches stated, for
which it has no measured kernels and falls back to a default share of peak.
Configurations are its own files where it has them, else made from our records.
Tensor parallelism splits attention and experts, as its help says; without it
attention is data-parallel, the batch is that of one device, and the experts are
spread over all.
"""

import contextlib
import io
import json
import re
import tempfile
from argparse import Namespace
from functools import cache
from pathlib import Path

import common
from config.model_config import ModelConfig
from models.model import Model

CARDS = {"h200-sxm": "H200", "h20": "H20", "h800-sxm": "H800", "gb200": "GB200"}
FILES = {
    "deepseek-v3": "deepseek_v3",
    "deepseek-r1": "deepseek_v3",
    "qwen3-235b-a22b": "qwen3-235B-A22B",
    "qwen3-30b-a3b": "qwen3-30B-A3B",
    "qwen3-8b": "qwen3-8B",
}


@cache
def config(name: str) -> ModelConfig:
    if name in FILES:
        return ModelConfig(f"hf_configs/{FILES[name]}_config.json")
    have = common.facts("models", name)
    written = {
        "model_type": "llama",
        "hidden_size": int(have["hidden_size"]),
        "num_hidden_layers": int(have["n_layers"]),
        "num_attention_heads": int(have["n_heads"]),
        "num_key_value_heads": int(have["n_kv_heads"]),
        "head_dim": int(have["head_dim"]),
        "intermediate_size": int(have["dense_width"]),
    }
    path = Path(tempfile.mkdtemp()) / "config.json"
    path.write_text(json.dumps(written), encoding="utf-8")
    return ModelConfig(str(path))


def covers(row: dict) -> bool:
    alike = row["metric"] == "tpot_ms" or not row["served"]
    known = row["hardware_id"] in CARDS and row["precision"] in ("16", "fp8") and row["pp"] == 1
    if not (alike and known and common.stated(row) and common.measured_alike(row)):
        return False
    mixed = row["tp"] > 1 and row["replicas"] > 1
    have = common.facts("models", row["model_id"])
    plain = have.get("n_full_layers") == have["n_layers"] and not have.get("n_moe_layers", 0)
    return not mixed and (row["model_id"] in FILES or plain)


def predict(row: dict) -> float:
    args = Namespace(
        device_type=CARDS[row["hardware_id"]],
        world_size=int(row["n_gpus"]),
        tp_size=int(row["tp"]),
        num_nodes=1,
        max_prefill_tokens=int(row["isl"] * row["batch"]),
        decode_bs=int(row["batch"]),
        target_tgs=2560,
        target_tpot=50,
        target_isl=int(row["isl"]),
        target_osl=int(row["osl"]),
        use_fp8_gemm=row["precision"] == "fp8",
        use_fp8_kv=row["narrow_kv"],
        enable_deepep=False,
        enable_tbo=False,
        sm_ratio=108 / 132,
    )
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        model = Model(args, config(row["model_id"]))
        model.print_weights_info()
        model.print_kvcache_info()
        model.print_flops_info()
        if row["metric"] not in ("tpot_ms", "decode_tok_s"):
            model.prefill()
        model.decoding()
    said = dict(re.findall(r"(TTFT|TPOT) \(ms\):\s+([\d.]+)", told.getvalue()))
    return common.figure(row, float(said.get("TTFT", 1)) / 1e3, float(said["TPOT"]) / 1e3)


if __name__ == "__main__":
    common.run("infersim", covers, predict)
