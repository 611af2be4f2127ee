"""Measured rows and records as a peer's driver needs them: standard library and PyYAML only.

A driver gives ``run`` two functions: ``covers(row)``, which says whether the
peer has the model, the card and the metric, and ``predict(row)``, which returns
the peer's figure in the unit of the row's metric.
"""

import argparse
import csv
import math
import re
from collections import Counter
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
TRUTH = ROOT / "data" / "truth"
HELD_OUT = ROOT / "data" / "calibration" / "held_out.csv"
RESULTS = ROOT / "data" / "calibration" / "peers"
MOST = 400  # rows a peer is asked for
NUMBERS = "value n_gpus tp pp ep batch_or_concurrency isl osl".split()
SERVED = re.compile(r"closed-loop|steady-state|measured average|request rate|MLPerf", re.I)


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def table(path: Path) -> list[dict]:
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def rows(paths: list[Path]) -> list[dict]:
    """Return measured rows that have a held-out prediction of ours, with the ids of records."""
    held = {line["id"]: line for line in table(HELD_OUT)}
    found = []
    for path in paths:
        for line in table(path):
            if line["id"] not in held:
                continue
            row = line | {name: number(line.get(name, "")) for name in NUMBERS}
            for name in ("model_id", "hardware_id", "generation", "precision"):
                row[name] = held[line["id"]][name]
            row["served"] = bool(SERVED.search(line["notes"])) or any(
                word in line["source"] for word in ("aiconfigurator", "leaderboard")
            )
            narrow = row["precision"] in ("fp8", "fp4")  # a cache not stated is as narrow
            row["narrow_kv"] = row["kv_dtype"] in ("fp8", "int8") or (
                narrow and not row["kv_dtype"]
            )
            found.append(devices(row))
    return found


def devices(row: dict) -> dict:
    """Add the devices of one tensor-parallel group, the replicas, and the batch of one of them."""
    said = re.search(r"attention_dp=(\d+)", row["notes"])
    for name in ("tp", "pp", "ep", "n_gpus"):
        row[name] = 1.0 if math.isnan(row[name]) else row[name]
    row["n_gpus"] = max(row["n_gpus"], row["tp"] * row["pp"])
    row["replicas"] = float(said[1]) if said else row["n_gpus"] / (row["tp"] * row["pp"])
    row["batch"] = (
        max(1, round(row["batch_or_concurrency"] / max(row["replicas"], 1)) or 1)
        if (row["batch_or_concurrency"] > 0)
        else math.nan
    )
    return row


def sample(found: list[dict], most: int = MOST) -> list[dict]:
    """Return every k-th row of each metric, in the order of their ids: at most about ``most``."""
    step = math.ceil(len(found) / most) if found else 1
    ordered = sorted(found, key=lambda row: row["id"])
    metrics = sorted({row["metric"] for row in found})
    return [
        row
        for metric in metrics
        for row in [row for row in ordered if row["metric"] == metric][::step]
    ]


@cache
def facts(kind: str, name: str) -> dict[str, float]:
    """Return a record's facts as bare numbers, in the unit that the record states."""
    path = ROOT / "data" / kind / f"{name}.yaml"
    record = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {key: number(str(fact["value"]).split()[0]) for key, fact in record["facts"].items()}


def plain_decoder(model: str, *, experts: bool = False) -> bool:
    """Say whether a model is full attention over heads that split the width, and plain MLPs."""
    have = facts("models", model)
    heads = have.get("n_heads", 0) * have.get("head_dim", 0)
    whole = have.get("n_full_layers", 0) == have["n_layers"]
    routed = have.get("n_moe_layers", 0)
    fits = routed in (0, have["n_layers"]) and not have.get("shared_width", 0)
    return whole and heads == have["hidden_size"] and fits and (experts or not routed)


def stated(row: dict) -> bool:
    """Say whether the row states batch and both lengths."""
    return all(row[name] > 0 for name in ("batch", "isl", "osl"))


def measured_alike(row: dict) -> bool:
    """Say whether a tool of static batches predicts the row's metric.

    A time to first token under load is mostly waiting, of which such a tool says nothing.
    """
    if row["metric"] in ("ttft_ms", "e2e_latency_s", "output_throughput_tok_s"):
        return not row["served"]
    alike = ("tpot_ms", "decode_tok_s", "output_throughput_tok_s_per_gpu")
    return row["metric"] in alike and not (row["served"] and row["metric"] != "tpot_ms")


def figure(row: dict, first: float, step: float) -> float:
    """Return the metric of a row from a batch's prefill time and mean step time, in seconds."""
    whole = first + step * max(row["osl"] - 1, 0)
    made = row["batch"] * row["replicas"] * row["osl"]
    return {
        "ttft_ms": first * 1e3,
        "tpot_ms": step * 1e3,
        "e2e_latency_s": whole,
        "decode_tok_s": row["batch"] / step,
        "output_throughput_tok_s": made / whole,
        "output_throughput_tok_s_per_gpu": made / whole / row["n_gpus"],
    }[row["metric"]]


def run(peer: str, covers, predict) -> None:
    """Predict a sample of the rows a peer covers, write it, say how many and what failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*", type=Path)
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("--out", type=Path, default=RESULTS / f"{peer}.csv")
    given = parser.parse_args()
    paths = given.rows or [TRUTH / "timing.csv", TRUTH / "energy.csv"]
    covered = [row for row in rows(paths) if covers(row)]
    asked, said, refused = sample(covered, given.most), [], Counter()
    for row in asked:
        try:
            found = predict(row)
        except (Exception, SystemExit) as error:  # a peer may refuse in any way
            refused[f"{type(error).__name__}: {str(error).strip()[:90]}".splitlines()[0]] += 1
            continue
        if found is not None and math.isfinite(found) and found > 0:
            said.append((row["id"], row["metric"], f"{row['value']:.8g}", f"{found:.8g}"))
        else:
            refused["no figure"] += 1
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with given.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "metric", "value", "predicted"])
        writer.writerows(sorted(said))
    print(f"{peer}: {len(covered)} rows covered, {len(asked)} asked, {len(said)} predicted")
    for metric in sorted({line[1] for line in said}):
        errors = sorted(abs(float(p) / float(v) - 1) for _, m, v, p in said if m == metric)
        middle, mean = errors[len(errors) // 2], sum(errors) / len(errors)
        print(f"  {metric}: n {len(errors)}, median {middle:.1%}, mean {mean:.1%}")
    for reason, count in refused.most_common():
        print(f"  {count} refused: {reason}")
