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
        table = pa.table({field.name: columns[field.name] for field in schema()}, schema=schema())
        write(folder / "parts" / f"{start:06}.parquet", as_bytes(table))


def compact_parts(folder: Path) -> None:
    """Write the one file of all parts."""
    parts = sorted((folder / "parts").iterdir())
    compact((pq.read_table(part).cast(schema()) for part in parts), folder / "r.parquet", schema())


def ask(folder: Path) -> None:
    """Ask each question of the report three times, and print the slowest.

    Time of a core hardly moves when the machine is busy; two cores halve it.
    """
    for question, sql in QUESTIONS.items():
        taken = []
        for _ in range(3):
            begin, before = time.perf_counter(), time.process_time()
            rows = len(answer(sql, folder / "r.parquet"))
            taken.append((time.perf_counter() - begin, time.process_time() - before))
        wall, used = (max(times) * 1e3 for times in zip(*taken, strict=True))
        print(f"  {question:<46} {wall:6.0f} ms, {used:6.0f} ms of a core  {rows:,} rows")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--combinations", type=int, default=50_000)
    parser.add_argument("--stage", choices=("write", "compact", "ask"))
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.stage:
        begin = time.perf_counter()
        if given.stage == "write":
            write_parts(given.folder, given.combinations)
        else:
            {"compact": compact_parts, "ask": ask}[given.stage](given.folder)
        seconds = time.perf_counter() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{given.stage}: {seconds:.1f} s, at most {peak:.2f} GiB", flush=True)
        return
    print(f"{given.combinations:,} combinations x {POINTS} points x {len(GRID)} quantities")
    with tempfile.TemporaryDirectory() as folder:
        for stage in ("write", "compact", "ask"):
            command = [sys.executable, __file__, "--stage", stage, "--folder", folder]
            subprocess.run([*command, "--combinations", str(given.combinations)], check=True)
        size = (Path(folder) / "r.parquet").stat().st_size
        print(f"the file has {size / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
