"""The dataset of a large sweep, written, compacted and asked: python benchmarks/results.py

Combinations are named as those of a sweep are.  The numbers of a few hundred were computed by
the laws; the others have these numbers times a factor of their own, so that nothing compresses
better than in a real sweep.  Each stage runs in a process of its own, so that the peak of its
memory is known.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measured import Result, printed, spread

from inferecon.dataset import SHARD, as_bytes, compact, schema
from inferecon.matrix import WORKLOAD, combinations
from inferecon.numbers import GRID, number
from inferecon.query import answer
from inferecon.records import ids
from inferecon.store import write

BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
CONTEXTS = [128, 256, 512, 1024, 2048, 4096, 8192, 16384, 24576, 32768]
POINTS = len(BATCHES) * len(CONTEXTS)
CHOSEN = "model = 'qwen3-8b' AND hardware = 'h200-sxm'"
QUESTIONS = {
    "one combination, all points and quantities": f"SELECT * FROM results WHERE {CHOSEN}",
    "cheapest device for a model at one point": "SELECT hardware, weights, min(cost_per_token) c "
    "FROM results WHERE model = 'qwen3-8b' AND isl = 8192 AND obstacle IS NULL "
    "GROUP BY ALL ORDER BY c LIMIT 20",
    "fastest models on a device": "SELECT model, max(throughput_device) t FROM results "
    "WHERE hardware = 'h200-sxm' AND itl < 50 GROUP BY model ORDER BY t DESC LIMIT 20",
    "every combination at one point": "SELECT combination, itl, ttft, cost_per_token FROM results "
    "WHERE batch = 64 AND isl = 8192",
    "best of everything, model by device": "SELECT model, hardware, min(itl), "
    "max(throughput_device), min(cost_per_token) FROM results GROUP BY ALL",
    "why what cannot run": "SELECT obstacle, count(*) FROM results GROUP BY ALL",
}


def names(count: int) -> list[tuple[str, str, str]]:
    """Return combinations in the order of a sorted sweep."""
    every = sorted(product(ids("models"), ids("hardware"), ids("formats")))
    return every[:: len(every) // count][:count]


def computed(few: int) -> np.ndarray:
    """Quantities of a few combinations over the grid, as (combination, quantity, point)."""
    found = []
    for one in combinations("qwen3-*,llama-3.1-*", "h*,mi300x", "bf16,fp8", **WORKLOAD):
        if one.obstacles:
            continue
        values = one.case.sweep(BATCHES, CONTEXTS)
        shape = (len(CONTEXTS), len(BATCHES))
        scaled = [np.broadcast_to(values[x], shape) * number(x, 1.0).value for x in GRID]
        found.append(np.array(scaled).reshape(len(GRID), POINTS))
        if len(found) == few:
            break
    return np.array(found)


def write_parts(folder: Path, count: int) -> None:
    """Write a part for each shard."""
    known = computed(200)
    isl, batch = (grid.ravel() for grid in np.meshgrid(CONTEXTS, BATCHES, indexing="ij"))
    records = json.dumps({f"kind/record-{n}.yaml": "0123456789abcdef" for n in range(12)})
    every = names(count)
    for start in range(0, count, SHARD):
        shard = every[start : start + SHARD]
        n = len(shard)
        own = 1 + (np.arange(start, start + n) % 997)[:, None, None] / 1009
        values = known[np.arange(start, start + n) % len(known)] * own
        which = pa.array(np.repeat(np.arange(n), POINTS))
        texts = {
            "combination": ["/".join(one) for one in shard],
            **dict(
                zip(
                    ("model", "hardware", "weights"),
                    map(list, zip(*shard, strict=True)),
                    strict=True,
                )
            ),
            "activations": ["bf16"] * n,
            "kv": ["bf16"] * n,
            "grid": ["world"] * n,
            "provider": [""] * n,
            "obstacle": [None] * n,
            "edition": ["2026.12+0123456789ab"] * n,
            "records": [records.replace("0123", f"{start + k:04}") for k in range(n)],
        }
        columns = {name: pa.array(text, pa.string()).take(which) for name, text in texts.items()}
        columns |= {"batch": np.tile(batch, n), "isl": np.tile(isl, n)}
        columns |= {name: np.full(n * POINTS, 1) for name in ("tp", "ep", "osl")}
        columns |= {x.name: values[:, k].ravel() for k, x in enumerate(GRID)}
        beside = [field for field in schema() if field.name not in columns]
        for k, field in enumerate(beside):  # predictions and what is said of them
            if field.type == pa.float64():
                columns[field.name] = values[:, k % len(GRID)].ravel()
            else:
                columns[field.name] = pa.array([field.name] * n, pa.string()).take(which)
        table = pa.table({field.name: columns[field.name] for field in schema()}, schema=schema())
        write(folder / "parts" / f"{start:06}.parquet", as_bytes(table))


def compact_parts(folder: Path) -> None:
    """Write the one file of all parts."""
    parts = sorted((folder / "parts").iterdir())
    compact((pq.read_table(part).cast(schema()) for part in parts), folder / "r.parquet", schema())


def ask(folder: Path) -> None:
    """Ask each question of the report three times, and print the slowest seconds of each.

    Time of a core hardly moves when the machine is busy; two cores halve it.
    """
    for question, sql in QUESTIONS.items():
        taken = []
        for _ in range(3):
            begin = time.perf_counter()
            answer(sql, folder / "r.parquet")
            taken.append(time.perf_counter() - begin)
        print(json.dumps({"says": question, "seconds": taken}), flush=True)


def measure(count: int = 50_000) -> dict[str, Result]:
    """Return what it takes to write, compact and ask, and the peaks of memory."""
    points = f"{count:,} combinations of {POINTS} points"
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for stage, says in (("write", "parts of"), ("compact", "one file of"), ("ask", "asking")):
            command = [sys.executable, __file__, "--stage", stage, "--folder", folder]
            ran = subprocess.run(
                [*command, "--combinations", str(count)], check=True, capture_output=True, text=True
            )
            *lines, last = map(json.loads, ran.stdout.splitlines())
            found[f"results.{stage}"] = Result(f"{says} {points}", last["seconds"], "s")
            found[f"results.{stage}.memory"] = Result("the same, memory", last["gib"], "GiB")
            for n, line in enumerate(lines, 1):
                found[f"results.ask.{n}"] = spread(line["says"], line["seconds"], "s")
        size = (Path(folder) / "r.parquet").stat().st_size
        found["results.size"] = Result(f"the file of {points}", size / 1e6, "MB")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--combinations", type=int, default=50_000)
    parser.add_argument("--stage", choices=("write", "compact", "ask"))
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.stage is None:
        printed(measure(given.combinations))
        return
    begin = time.perf_counter()
    if given.stage == "write":
        write_parts(given.folder, given.combinations)
    else:
        {"compact": compact_parts, "ask": ask}[given.stage](given.folder)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"seconds": seconds, "gib": peak}), flush=True)


if __name__ == "__main__":
    main()
