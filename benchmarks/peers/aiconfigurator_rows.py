"""AIConfigurator (NVIDIA, Apache-2.0, 0.12.0 from PyPI) on measured rows.

    python -m venv venv && venv/bin/pip install aiconfigurator==0.12.0 pyyaml
    venv/bin/python benchmarks/peers/aiconfigurator_rows.py --most 320

The rows are those of the table that its own wheel carries, and its options for
each of them are read there: model, quantisation of matrices and experts, and
every degree of parallelism.  ``agg`` is its mode for continuous batching.  The
kernels it has measured are of newer engines than the rows; it refuses the old
versions, so its present ones are used.  A model that it does not bundle under
the table's name is given by the bundled one of the same shapes.
"""

import csv
import logging
import re
from functools import cache
from pathlib import Path

import aiconfigurator_core
import common
from aiconfigurator.cli.api import cli_estimate
from aiconfigurator_core.sdk.errors import PerfDataNotAvailableError

logging.disable(logging.CRITICAL)

CORE = Path(aiconfigurator_core.__file__).parent
BUNDLED = {path.name.removesuffix("_config.json") for path in (CORE / "model_configs").iterdir()}
SAME = {  # a name of the table: a bundled model of the same shapes
    "deepseek-v3": "deepseek-ai/DeepSeek-V3",
    "deepseek-r1": "deepseek-ai/DeepSeek-R1",
    "gpt-oss-120b": "openai/gpt-oss-120b",
    "llama-3.1-70b": "nvidia/Llama-3.1-70B-Instruct-FP8",
    "llama-3.1-8b": "meta-llama/Meta-Llama-3.1-8B",
    "qwen3-32b": "Qwen/Qwen3-32B",
    "qwen3-235b-a22b": "Qwen/Qwen3-235B-A22B",
    "minimax-m2": "MiniMaxAI/MiniMax-M2.5",
    "kimi-k2.5": "moonshotai/Kimi-K2.5",
    "qwen3.5-397b-a17b": "Qwen/Qwen3.5-397B-A17B",
}


@cache
def options() -> dict[str, dict]:
    with (CORE / "systems" / "silicon_sample.csv").open(newline="", encoding="utf-8") as file:
        return {line["id"]: line for line in csv.DictReader(file)}


def asked(row: dict) -> dict | None:
    found = re.search(r"id=(\S+)", row["source_locator"])
    return options().get(found[1]) if found and "aiconfigurator" in row["source"] else None


def covers(row: dict) -> bool:
    return row["metric"] in ("ttft_ms", "tpot_ms") and asked(row) is not None


@cache
def estimate(key: str, model: str):
    """Ask with the formats of the table, and where it has no kernels of them with the model's own.

    The table says nvfp4 of gpt-oss, whose weights are mxfp4: the model's own are meant at once.
    """
    line = options()[key]

    def whole(name: str, blank: int | None = 1) -> int | None:
        return int(float(line[name])) if line[name] else blank

    given = {name: whole(name) for name in "isl osl batch_size tp_size pp_size".split()}
    given["attention_dp_size"] = whole("attention_dp_size")
    given |= {name: whole(name, None) for name in ("moe_tp_size", "moe_ep_size")}
    given |= {"mode": "agg", "backend_name": line["backend"]}
    formats = {name: line[name] or None for name in ("gemm_quant_mode", "moe_quant_mode")}
    if "gpt-oss" not in model:
        try:
            return cli_estimate(model, line["system"], **given, **formats)
        except PerfDataNotAvailableError:
            pass
    return cli_estimate(model, line["system"], **given)


def predict(row: dict) -> float:
    line = asked(row)
    named = line["model_path"]
    model = named if named.replace("/", "--") in BUNDLED else SAME[row["model_id"]]
    found = estimate(line["id"], model)
    return found.ttft if row["metric"] == "ttft_ms" else found.tpot


if __name__ == "__main__":
    common.run("aiconfigurator", covers, predict)
