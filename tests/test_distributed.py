"""A sweep on a real Dask cluster: the same bytes as here, whoever dies, and never by other records.

The scheduler and its workers are processes of their own, each worker in a folder of its own.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import nbformat
import pytest

from inferecon import keys, store
from inferecon.campaign import Campaign
from inferecon.cluster import Cluster
from inferecon.errors import BadInput
from inferecon.files import ROOT
from inferecon.running import Job
from inferecon.sweep import sweep

pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the engine forks on Linux only")

SMALL = ("deepseek-r1-distill-qwen-1.5b,phi-2", "h200-sxm,l40s,a10", "bf16,fp8")
WORKLOAD = {"batch": 32, "isl": 1024, "osl": 1024}


class Processes:
    """A scheduler and workers; ``started`` has the process of each worker by its name."""

    def __init__(self, folder: Path):
        self.folder, self.workers = folder, {}
        self.file = folder / "scheduler.json"
        once = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
        options = ["--port", "0", "--no-dashboard", "--scheduler-file", self.file]
        self.scheduler = self._start("dask_scheduler", options, folder, once)
        until(lambda: self.file.exists() and self.file.read_text().rstrip().endswith("}"))
        self.address = json.loads(self.file.read_text())["address"]

    def worker(self, name: str, **environment) -> int:
        """Start a worker; return its process id when the scheduler has seen it."""
        folder = self.folder / name
        folder.mkdir()
        options = [self.address, "--name", name, "--nthreads", "1", "--no-nanny"]
        options += ["--no-dashboard", "--local-directory", folder]
        self.workers[name] = self._start("dask_worker", options, folder, environment)
        cluster = Cluster(self.address)
        until(lambda: name in names_of(cluster))
        cluster.close()
        return self.workers[name].pid

    def _start(self, module: str, options: list, folder: Path, environment: dict):
        command = [sys.executable, "-m", f"distributed.cli.{module}", *map(str, options)]
        with (folder / f"{module}.log").open("w") as log:
            return subprocess.Popen(
                command, cwd=folder, env=os.environ | environment, stdout=log, stderr=log
            )

    def end(self) -> None:
        for process in (*self.workers.values(), self.scheduler):
            process.kill()
            process.wait()


def names_of(cluster: Cluster) -> set[str]:
    known = cluster.client.scheduler_info(n_workers=-1)["workers"].values()
    return {worker["name"] for worker in known}


def until(true, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come to this"
        time.sleep(0.05)


@pytest.fixture
def processes(tmp_path):
    """A scheduler without workers."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    started = Processes(folder)
    yield started
    started.end()


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The small sweep on this machine: folder and campaign."""
    out = tmp_path_factory.mktemp("here")
    asked = Campaign(out, *SMALL, **WORKLOAD)
    asked.run(workers=2)
    assert not asked.failed and len(asked.jobs) == 9 and len(asked.reasons) == 3
    return out


def notebooks(out: Path) -> dict[str, bytes]:
    return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*.ipynb")}


def test_a_cluster_gives_the_bytes_of_this_machine_though_a_worker_is_killed(
    here, processes, tmp_path
):
    victim = processes.worker("first")
    processes.worker("second")
    out, ended = tmp_path / "there", []

    class Killing(Cluster):
        def run(self, jobs, options):
            for ending in super().run(jobs, options):
                ended.append(ending)
                if len(ended) == 2:
                    os.kill(victim, signal.SIGKILL)
                yield ending

    cluster = Killing(processes.address)
    asked = Campaign(out, *SMALL, **WORKLOAD)
    asked.run(workers=1, cluster=cluster)
    cluster.close()
    assert processes.workers["first"].wait(10) == -signal.SIGKILL
    assert not asked.failed and len(ended) == 9
    assert (here / "results.parquet").read_bytes() == (out / "results.parquet").read_bytes()
    assert notebooks(here) == notebooks(out)


def test_workers_write_to_an_address_themselves(here, processes, tmp_path):
    processes.worker("only")
    address = f"local://{tmp_path}/store"  # a store that renames; fsspec's own name of a disk
    cluster = Cluster(processes.address)
    asked = Campaign(store.place(address), *SMALL, **WORKLOAD)
    asked.run(workers=1, cluster=cluster)
    cluster.close()
    out = tmp_path / "store"
    assert not asked.failed
    assert (here / "results.parquet").read_bytes() == (out / "results.parquet").read_bytes()
    assert notebooks(here) == notebooks(out) and not list(out.rglob("*.part"))
    again = Campaign(store.place(address), *SMALL, **WORKLOAD)
    again.run(workers=1)
    assert {o.status for o in again.outcomes.values()} == {"kept"}


def test_a_worker_with_other_records_is_passed_over(here, processes, tmp_path, capsys):
    own = tmp_path / "own" / "hardware"
    own.mkdir(parents=True)
    text = (ROOT / "data/hardware/l40s.yaml").read_text()
    shutil.copy(ROOT / "data/hardware/l40s.yaml", own)
    (own / "l40s.yaml").write_text(text.replace("name: ", "name: Other ", 1))
    processes.worker("other", INFERECON_DATA=str(own.parent))
    cluster = Cluster(processes.address)
    asked = Campaign(tmp_path / "out", SMALL[0], "l40s", "bf16", **WORKLOAD)
    with pytest.raises(BadInput, match="no worker of .* is of this edition.*l40s.yaml changed"):
        asked.run(workers=1, cluster=cluster)
    processes.worker("same")
    asked.run(workers=1, cluster=cluster)
    cluster.close()
    assert not asked.failed and len(asked.outcomes) == 2
    assert "is passed over, it is of another edition: " in capsys.readouterr().err


def test_a_job_that_kills_its_workers_is_given_up(processes, tmp_path):
    deadly = (
        "import os, signal\ndef parent(pid):\n"
        "    return int(open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1])\n"
        "worker = parent(parent(os.getppid()))\nos.kill(worker, signal.SIGKILL)"
    )
    sources = {}
    for name, cell in (("good", "1 + 1"), ("deadly", deadly)):
        cells = [nbformat.v4.new_code_cell(cell, id="c")]
        sources[name] = tmp_path / f"{name}.ipynb"
        nbformat.write(nbformat.v4.new_notebook(cells=cells), sources[name])
    jobs = [
        Job(source, tmp_path / "out" / source.name, keys.key({}), {}) for source in sources.values()
    ]
    for name in ("first", "second", "third"):
        processes.worker(name, INFERECON_PRELOAD="")
    cluster = Cluster(processes.address)
    good, given_up = sweep(jobs, run=cluster.run, progress=lambda _: None)
    cluster.close()
    assert good.status == "ok"
    assert given_up.status == "died" and "2 workers died with it" in given_up.reason


def test_a_scheduler_that_does_not_answer_is_a_sentence():
    with pytest.raises(BadInput, match="no Dask scheduler answers at tcp://127.0.0.1:9"):
        Cluster("tcp://127.0.0.1:9")
    with pytest.raises(BadInput, match="no Dask scheduler answers at nonsense: missing port"):
        Cluster("nonsense")


def test_a_server_that_speaks_another_language_is_a_sentence():
    def greet(server):
        with suppress(OSError), server.accept()[0] as caller:
            caller.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=greet, args=(server,), daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(BadInput, match=f"answers at {address} is no Dask scheduler"):
            Cluster(address)
