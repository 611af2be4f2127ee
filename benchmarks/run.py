"""Run all benchmarks and write one file: make bench

    python benchmarks/run.py [--only engine,laws] [--out benchmarks/results/DATE.json]

The file holds every figure with its spread, the machine, the date, the commit and the versions
that matter; the report shows the newest one.  Prints each figure, and what became of it since the
edition before.  `--only` runs some of the benchmarks and keeps the other figures of that day.
"""

import argparse
import datetime
import importlib
import importlib.metadata
import json
import os
import platform
import subprocess
from dataclasses import asdict
from pathlib import Path

from measured import Result, printed

# To add a benchmark: a module here with `measure() -> dict[str, Result]`, and its name.
PARTS = (
    "engine",
    "imports",
    "laws",
    "rivals",
    "keys",
    "sweep",
    "results",
    "simulate",
    "plan",
    "book",
    "pages",
)
RESULTS = Path(__file__).parent / "results"
VERSIONS = ("papermill", "nbclient", "ipykernel", "sympy", "numpy", "altair")


def machine() -> dict[str, str | int]:
    """Describe this machine without naming it."""
    found = {"system": platform.system(), "python": platform.python_version()}
    found |= {"cores": len(os.sched_getaffinity(0))}
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [
            li.partition(":")[2] for li in info.read_text().splitlines() if "model name" in li
        ]
        found["processor"] = models[0].strip() if models else platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    found["memory_gib"] = round(memory / 2**30)
    return found


def commit() -> str:
    """Return the commit that was measured, with a + if the checkout has changes."""
    try:
        ran = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=10", "--exclude=*"],
            cwd=RESULTS.parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return ran.stdout.strip()


def before(out: Path) -> dict[str, dict]:
    """Return the figures of the newest file older than this one."""
    older = sorted(path for path in RESULTS.glob("*.json") if path.name < out.name)
    return json.loads(older[-1].read_text())["results"] if older else {}


def compared(results: dict[str, dict], old: dict[str, dict]) -> list[str]:
    """Say what became of each figure since the edition before."""
    return [
        f"{name:<28} {old[name]['value']:.4g} -> {found['value']:.4g} {found['unit']}, "
        f"{found['value'] / old[name]['value']:.2f} times"
        for name, found in results.items()
        if name in old
    ]


def main() -> None:
    """Run the benchmarks, one after the other, and write the file."""
    today = datetime.date.today().isoformat()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(PARTS), help="names, separated by commas")
    parser.add_argument("--out", type=Path, default=RESULTS / f"{today}.json")
    given = parser.parse_args()
    results: dict[str, dict] = {}
    if given.only != ",".join(PARTS) and given.out.exists():
        results = json.loads(given.out.read_text())["results"]
    for part in given.only.split(","):
        found: dict[str, Result] = importlib.import_module(part).measure()
        printed(found)
        results |= {name: asdict(result) for name, result in found.items()}
    content = {
        "date": today,
        "commit": commit(),
        "command": "make bench",
        "machine": machine(),
        "versions": {name: importlib.metadata.version(name) for name in VERSIONS},
        "results": {name: _short(result) for name, result in results.items()},
    }
    given.out.parent.mkdir(exist_ok=True)
    given.out.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    print(*compared(content["results"], before(given.out)), given.out, sep="\n")


def _short(result: dict) -> dict:
    """Keep four digits: no benchmark has more."""
    return {k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in result.items()}


if __name__ == "__main__":
    main()
