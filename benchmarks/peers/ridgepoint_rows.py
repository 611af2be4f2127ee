"""ridgepoint (MIT, 0.1.2 from PyPI) on measured rows.

    python -m venv venv && venv/bin/pip install ridgepoint==0.1.2 pyyaml
    venv/bin/python benchmarks/peers/ridgepoint_rows.py

It states the speed of one request, so rows of batch 1 are compared.  It says
itself that its decode speed is calibrated (on vLLM, A100 and H100) and its time
to first token is not, and that it leaves out communication between devices.
Shapes and counts are given from our records through its own ``fit_shape``,
since its own list holds few models.
"""

import json
import math

import common
from ridgepoint import _core

CARDS = {
    "a100-80gb-sxm": "a100-80gb",
    "a100-80gb-pcie": "a100-80gb",
    "a100-40gb-sxm": "a100-40gb",
    "h100-sxm": "h100-80gb",
    "h200-sxm": "h200-141gb",
    "b200-sxm": "b200-192gb",
    "mi300x": "mi300x-192gb",
    "l40s": "l40s-48gb",
    "rtx-4090": "rtx4090-24gb",
    "rtx-3090": "rtx3090-24gb",
}
FORMATS = {"16": "fp16", "fp8": "fp8", "int8": "int8", "w4": "awq"}


def covers(row: dict) -> bool:
    if row["hardware_id"] not in CARDS or row["precision"] not in FORMATS or row["batch"] != 1:
        return False
    alike = common.stated(row) and common.measured_alike(row) and row["replicas"] == 1
    have = common.facts("models", row["model_id"])
    return alike and "published_total" in have and have.get("n_full_layers") == have["n_layers"]


def predict(row: dict) -> float:
    have = common.facts("models", row["model_id"])
    total = have["published_total"]
    active = have.get("published_active", math.nan if have.get("n_experts") else total)
    layers, shared = int(have["n_layers"]), have["n_kv_heads"] < have["n_heads"]
    text = _core.fit_shape(
        row["model_id"],
        layers,
        layers,
        int(have["hidden_size"]),
        int(total),
        int(active),
        "gqa" if shared else "mha",
        head_dim=int(have["head_dim"]),
        n_heads=int(have["n_heads"]),
        n_kv_heads=int(have["n_kv_heads"]),
        gpu=CARDS[row["hardware_id"]],
        count=int(row["n_gpus"]),
        engine="sglang" if "sglang" in row["engine"].lower() else "vllm",
        dtype=FORMATS[row["precision"]],
        kv_cache_dtype="fp8" if row["narrow_kv"] else "fp16",
        ctx=int(row["isl"] + row["osl"] / 2),
        prompt=int(row["isl"]),
        as_json=True,
    )
    speed = json.loads(text)["speed"]
    return common.figure(row, speed["ttft_s"]["best"], 1 / speed["decode_tok_s"]["best"])


if __name__ == "__main__":
    common.run("ridgepoint", covers, predict)
