"""llm-analysis (cli99, Apache-2.0, git d841e40 of 2024-11-13) on measured rows.

    python -m venv venv && venv/bin/pip install llm-analysis pyyaml
    git clone https://github.com/cli99/llm-analysis && git -C llm-analysis checkout d841e40
    PYTHONPATH=llm-analysis venv/bin/python benchmarks/peers/llm_analysis_rows.py

The released 0.2.2 asserts that the feed-forward width is a multiple of the
model's, which Llama 3 is not; so the source is run, with the release's
dependencies.  Efficiencies are those of the project's own Llama 2 example:
0.7 of the arithmetic, 0.9 of the memory bandwidth.
A card it has no file for is described by our record, in its own GPUConfig.
"""

import logging

import common
from llm_analysis.analysis import LLMAnalysis
from llm_analysis.config import (
    GPUConfig,
    ModelConfig,
    ParallelismConfig,
    get_dtype_config_by_name,
    gpu_configs,
)

logging.disable(logging.CRITICAL)

CARDS = {
    "a100-40gb-sxm": "a100-sxm-40gb",
    "a100-80gb-sxm": "a100-sxm-80gb",
    "a100-80gb-pcie": "a100-pcie-80gb",
    "a10g": "a10g-pcie-24gb",
    "h100-sxm": "h100-sxm-80gb",
    "h100-pcie": "h100-pcie-80gb",
}
OURS = ("h200-sxm", "b200-sxm", "gh200-96gb", "mi300x", "l40s", "gaudi2")
FORMATS = {
    "16": "w16a16e16",
    "fp8": "w8a8e16",
    "fp4": "w4a4e16",
    "w4": "w4a16e16",
    "int8": "w8a16e16",
}


def card(name: str) -> GPUConfig:
    if name in CARDS:
        return gpu_configs[CARDS[name]]
    have = common.facts("hardware", name)
    peak = have.get("peak_flops@bf16") or have["peak_flops@fp16"]
    link = have.get("link_bandwidth") or have["host_bandwidth"]
    return GPUConfig(
        name=name,
        mem_per_GPU_in_GB=have["memory_capacity"],
        hbm_bandwidth_in_GB_per_sec=have["hbm_bandwidth"],
        intra_node_bandwidth_in_GB_per_sec=link,
        intra_node_min_message_latency=8e-6,  # what all of its own files say
        peak_fp16_TFLOPS=peak,
        peak_i8_TFLOPS=have.get("peak_flops@fp8") or have.get("peak_flops@int8"),
        peak_i4_TFLOPS=have.get("peak_flops@nvfp4"),
    )


def model(name: str) -> ModelConfig:
    have = common.facts("models", name)
    experts = int(have.get("n_experts", 0)) or 1
    return ModelConfig(
        name=name,
        num_layers=int(have["n_layers"]),
        n_head=int(have["n_heads"]),
        hidden_dim=int(have["hidden_size"]),
        vocab_size=int(have["vocab_size"]),
        num_key_value_heads=int(have["n_kv_heads"]),
        ffn_embed_dim=int(have["expert_width"] if experts > 1 else have["dense_width"]),
        moe_num_experts=experts,
        moe_top_k=int(have.get("top_k", 0)) or 1,
        mlp_gated_linear_units=have["mlp_matrices"] == 3,
    )


def covers(row: dict) -> bool:
    known = row["hardware_id"] in CARDS or row["hardware_id"] in OURS
    fits = row["precision"] in FORMATS and row["replicas"] == 1
    if not (known and fits and common.stated(row) and common.measured_alike(row)):
        return False
    return common.plain_decoder(row["model_id"], experts=True)


def predict(row: dict) -> float:
    analysis = LLMAnalysis(
        model(row["model_id"]),
        card(row["hardware_id"]),
        get_dtype_config_by_name(FORMATS[row["precision"]]),
        ParallelismConfig(tp_size=int(row["tp"]), pp_size=int(row["pp"])),
        flops_efficiency=0.7,
        hbm_memory_efficiency=0.9,
    )
    found = analysis.inference(
        batch_size_per_gpu=int(row["batch"]),
        seq_len=int(row["isl"]),
        num_tokens_to_generate=int(row["osl"]),
        kv_cache_dtype_bytes=1 if row["narrow_kv"] else 2,
    )
    return common.figure(row, found["prefill_latency"], found["decode_latency"])


if __name__ == "__main__":
    common.run("llm-analysis", covers, predict)
