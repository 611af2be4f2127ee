"""MLSys-im (harvard-edge, Apache-2.0, 0.3.0 from PyPI) on measured rows.

    python -m venv venv && venv/bin/pip install mlsysim==0.3.0 pyyaml
    venv/bin/python benchmarks/peers/mlsysim_rows.py

``ServingModel`` serves from one device, so rows of one device are compared; its
default share of peak arithmetic, 0.5, is kept.  The context of a decode step is
the mean one, prompt and half of the answer.  Shapes are given from our records
through its own ``TransformerWorkload``.
"""

import math

import common
import mlsysim
from mlsysim.core.units import Q_
from mlsysim.models.types import TransformerWorkload
from mlsysim.solvers import ServingModel

CARDS = {
    "a100-80gb-sxm": "A100",
    "a100-40gb-sxm": "A100_40GB",
    "h100-sxm": "H100",
    "h200-sxm": "H200",
    "b200-sxm": "B200",
    "mi300x": "MI300X",
    "gaudi2": "Gaudi2",
}
FORMATS = {"16": "fp16", "fp8": "fp8", "int8": "int8", "w4": "int4"}


def covers(row: dict) -> bool:
    if row["hardware_id"] not in CARDS or row["precision"] not in FORMATS or row["n_gpus"] != 1:
        return False
    have = common.facts("models", row["model_id"])
    alike = common.stated(row) and common.measured_alike(row)
    whole = have.get("n_full_layers") == have["n_layers"]
    return alike and whole and math.isfinite(have.get("published_total", math.nan))


def predict(row: dict) -> float:
    have = common.facts("models", row["model_id"])
    model = TransformerWorkload(
        name=row["model_id"],
        architecture="Transformer",
        parameters=Q_(have["published_total"], "param"),
        layers=int(have["n_layers"]),
        hidden_dim=int(have["hidden_size"]),
        heads=int(have["n_heads"]),
        kv_heads=int(have["n_kv_heads"]),
        head_dim=int(have["head_dim"]),
    )
    card = getattr(mlsysim.Hardware.Cloud, CARDS[row["hardware_id"]])
    given = {"batch_size": int(row["batch"]), "precision": FORMATS[row["precision"]]}
    first = ServingModel().solve(model, card, seq_len=int(row["isl"]), **given)
    later = ServingModel().solve(model, card, seq_len=int(row["isl"] + row["osl"] / 2), **given)
    if not later.feasible:
        raise ValueError("does not fit its memory")
    return common.figure(row, first.ttft.m_as("s"), later.itl.m_as("s"))


if __name__ == "__main__":
    common.run("mlsysim", covers, predict)
