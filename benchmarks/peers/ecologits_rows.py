"""EcoLogits (GenAI Impact, MPL-2.0, 0.11.3 from PyPI) on measured rows.

    python -m venv venv && venv/bin/pip install ecologits==0.11.3 pyyaml
    venv/bin/python benchmarks/peers/ecologits_rows.py            # true batch and devices
    venv/bin/python benchmarks/peers/ecologits_rows.py --default  # batch 64, its own count of GPUs

Measured energy is that of the GPUs alone, so its GPU term is compared: no
server, no PUE.  The first form, the kinder one, gives it the measured batch and
the devices of the row; the second is what a user gets who knows the model alone.
"""

import math
import sys

import common
from ecologits.impacts import llm

DEFAULT = "--default" in sys.argv
METRICS = ("energy_per_output_token_J", "energy_per_request_J", "itl_median_ms", "tpot_mean_ms")
JOULES = 3.6e6  # in a kilowatt-hour


def parameters(name: str) -> tuple[float, float]:
    """Return active and all parameters in billions."""
    have = common.facts("models", name)
    total = have.get("published_total", math.nan)
    active = have.get("published_active", math.nan if have.get("n_experts") else total)
    return active / 1e9, total / 1e9


def covers(row: dict) -> bool:
    alike = row["metric"] in METRICS and "leaderboard" in row["source"]
    known = alike and all(math.isfinite(count) for count in parameters(row["model_id"]))
    lengths = row["osl"] > 0 or row["metric"] != "energy_per_request_J"
    return known and lengths and row["batch"] > 0


def predict(row: dict) -> float:
    active, total = parameters(row["model_id"])
    tokens = row["osl"] if row["metric"] == "energy_per_request_J" else 1.0
    found = llm.compute_llm_impacts_dag(
        model_active_parameter_count=active,
        model_total_parameter_count=total,
        output_token_count=tokens,
        request_latency=math.inf,
        if_electricity_mix_adpe=0.0,
        if_electricity_mix_pe=0.0,
        if_electricity_mix_gwp=0.0,
        if_electricity_mix_wue=0.0,
        datacenter_pue=1.0,
        datacenter_wue=0.0,
        **({} if DEFAULT else {"batch_size": row["batch_or_concurrency"]}),
    )
    if row["metric"] in ("itl_median_ms", "tpot_mean_ms"):
        return found["generation_latency"] * 1e3
    devices = found["gpu_required_count"] if DEFAULT else row["n_gpus"]
    return found["gpu_energy"] * devices * JOULES


if __name__ == "__main__":
    if DEFAULT:
        sys.argv.remove("--default")
    common.run("ecologits-default" if DEFAULT else "ecologits", covers, predict)
