"""A sweep runs again what changed and nothing else, says why, and can be interrupted at any time.

The command runs in a copy of the checkout, so that records, laws and modules can be edited.
"""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import duckdb
import pytest
from rich.console import Console

from inferecon import store
from inferecon.campaign import Campaign
from inferecon.engine import Outcome
from inferecon.errors import BadInput
from inferecon.files import ROOT
from inferecon.sweep import progress_bar

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the engine forks on Linux only")

MAIN = "from inferecon.cli import main; main()"
SMALL = [
    "--models",
    "phi-2,smollm2-1.7b",
    "--hardware",
    "h200-sxm,l40s",
    "--formats",
    "bf16",
    "--jobs",
    "1",
]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of what a sweep needs, with a sweep of four combinations in it."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in ("src", "data", "notebooks"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    assert "4 notebooks run: no result yet" in swept(copy)
    return copy


def start(folder, *options, out="out", **more):
    command = [sys.executable, "-c", MAIN, "sweep", *(options or SMALL), "--out", out]
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    return subprocess.Popen(
        command, cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more,
    )  # fmt: skip


def swept(folder, *options, out="out"):
    """Sweep, and return what was said of what runs."""
    process = start(folder, *options, out=out)
    printed, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return "\n".join(line for line in said.splitlines() if " run" in line)


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_nothing_changed_nothing_runs(checkout):
    before = (checkout / "out/results.parquet").read_bytes()
    assert swept(checkout) == ""
    assert (checkout / "out/results.parquet").read_bytes() == before
    (checkout / "out/notebooks/index.json").unlink()
    assert swept(checkout) == "", "without the index, the notebooks know"


def test_a_sentence_and_a_law_of_another_chapter_run_nothing(checkout):
    edit(checkout / "src/inferecon/book.py", '"""', '"""A sentence more. ')
    edit(checkout / "src/inferecon/scenario.py", "import math", "import math  # a comment")
    edit(checkout / "data/hardware/l40s.yaml", "id:", "# a comment\nid:")
    edit(
        checkout / "src/inferecon/laws/renting.py",
        "s.isl / s.osl * (",
        "2 * s.isl / s.osl * (",
    )
    assert swept(checkout) == ""


def test_a_record_runs_its_device_only(checkout):
    edit(checkout / "data/hardware/l40s.yaml", "name: ", "name: The ")
    assert swept(checkout) == "2 notebooks run again: data/hardware/l40s.yaml changed"


def test_a_law_and_a_module_run_all_that_use_them(checkout):
    edit(
        checkout / "src/inferecon/laws/memory.py",
        "s.memory_fraction * s.memory_capacity",
        "s.memory_fraction**2 * s.memory_capacity",
    )
    edit(checkout / "src/inferecon/book.py", "**Runs on ", "**Now runs on ")
    changed = "law MEMORY-AVAILABLE changed; module inferecon.book changed"
    assert swept(checkout) == f"4 notebooks run again: {changed}"


def test_a_result_that_is_damaged_or_gone_is_made_again(checkout):
    one, other = sorted((checkout / "out/notebooks/phi-2").glob("*.ipynb"))
    whole = one.read_bytes()
    one.write_bytes(whole[: len(whole) // 2])
    other.unlink()
    assert sorted(swept(checkout).splitlines()) == [
        "1 notebook runs again: the result is gone",
        "1 notebook runs again: the result is no whole notebook",
    ]
    assert one.read_bytes() == whole and other.exists()


def test_an_interrupted_sweep_leaves_a_dataset_and_goes_on(checkout):
    many = [
        "--models",
        "phi-2",
        "--hardware",
        "h*,b*",
        "--formats",
        "bf16,int8-w8a8",
        "--jobs",
        "1",
    ]
    process = start(checkout, *many, out="cut")
    folder, end = checkout / "cut/notebooks/phi-2", time.monotonic() + 120
    while not (folder.is_dir() and len(list(folder.glob("*.ipynb"))) > 3):
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "run the same command again for the rest" in said
    assert " left " in printed
    query = f"SELECT count(DISTINCT combination) FROM '{checkout}/cut/results.parquet'"
    done = duckdb.sql(f"{query} WHERE obstacle IS NULL").fetchall()[0][0]
    # the last may have been written when the sweep no longer listened
    assert done > 2 and len(list(folder.glob("*.ipynb"))) - done in (0, 1)
    swept(checkout, *many, out="cut")
    swept(checkout, *many[:-1], "2", out="whole")
    whole = (checkout / "whole/results.parquet").read_bytes()
    assert (checkout / "cut/results.parquet").read_bytes() == whole
    asked = [p for p in (ROOT / "data/hardware").glob("*.yaml") if p.name[0] in "hb"]
    assert duckdb.sql(query).fetchall()[0][0] == 2 * len(asked)
    assert not (checkout / "cut/parts").exists()


def test_what_cannot_run_has_a_row_that_says_why_and_no_notebook(tmp_path):
    asked = Campaign(tmp_path, "phi-2", "l40s,a10", "fp8,kv-int4,bf16", batch=64, isl=999, osl=999)
    asked.run(workers=1)
    rows = duckdb.sql(
        f"SELECT weights, obstacle FROM '{tmp_path}/results.parquet' WHERE hardware = 'a10'"
    ).fetchall()
    said = dict(rows)
    assert len(rows) == 3 and set(said) == {"fp8", "kv-int4", "bf16"}
    assert "a10.yaml states no fp8 rate" in said["fp8"]
    assert "is a format for kv" in said["kv-int4"]
    assert "GB are needed on each of 1 device, 23.2 GB are available" in said["bf16"]
    assert not list(tmp_path.rglob("a10*.ipynb"))
    assert asked.summary["cannot_run"] + asked.summary["refused"] == len(asked.reasons)


def test_results_go_to_an_address(tmp_path):
    place = store.place("memory://sweeps/one")
    asked = Campaign(place, "smollm2-1.7b", "l40s", "bf16", batch=1, isl=8, osl=8)
    asked.run(workers=1)
    assert [o.status for o in asked.outcomes.values()] == ["ok"]
    assert json.loads(store.read(f"{place}/notebooks/smollm2-1.7b/l40s--bf16.ipynb"))
    assert store.names(place) == ["notebooks", "results.parquet"]
    again = Campaign(place, "smollm2-1.7b", "l40s", "bf16", batch=1, isl=8, osl=8)
    again.run(workers=1)
    assert [o.status for o in again.outcomes.values()] == ["kept"]


def test_an_address_that_nothing_can_write_is_a_sentence():
    with pytest.raises(BadInput, match="nosuch"):
        store.place("nosuch://bucket")


def test_a_log_is_told_how_far_a_long_sweep_is():
    """A bar is drawn on a terminal alone; ten lines for a hundred notebooks, none for a few."""
    for total, lines in ((100, 10), (20, 0)):
        said = io.StringIO()
        with progress_bar(total, 0, Console(file=said)) as note:
            for n in range(total):
                note(Outcome(f"{n}.ipynb", "ok"))
        assert said.getvalue().count("about") == lines
