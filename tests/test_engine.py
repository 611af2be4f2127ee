"""The notebook engine: outputs as papermill's own, a process each, every death explained."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import papermill
import pytest

from inferecon.engine import ParameterTypeError, UnknownParameter, WarmUpError, run_notebook
from inferecon.engine.process import DEFAULT_PRELOAD
from inferecon.running import Job
from inferecon.sweep import sweep

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the engine forks on Linux only")

FEATURES = [
    "import sys\nprint('a'); print('b', file=sys.stderr); print('c')",
    "import warnings\nwarnings.warn('careful')",
    "import logging\nlogging.getLogger('x').warning('logged')",
    "!echo from-shell",
    "import os\nprint('before'); os.system('echo from-os-system; echo on-stderr >&2')",
    "import subprocess\nsubprocess.run(['echo', 'sub']).returncode",
    "import asyncio\nawait asyncio.sleep(0.01)\n'awaited'",
    "from IPython.display import HTML, clear_output, display\n"
    "shown = display(HTML('one'), display_id='k')\nshown.update(HTML('two'))",
    "print('x'); clear_output(); print('y')",
    "%%capture captured\nprint('hidden')",
    "captured.stdout",
    "from rich import print as rich_print\nrich_print('[bold]bold[/bold]', {'a': 1})",
    "__name__, '__file__' in globals(), len(In), Out.get(11)",
    "import pickle\nclass A: pass\npickle.loads(pickle.dumps(A())).__class__.__name__",
    "import inspect\ndef f():\n    return 1\ninspect.getsource(f)",
    "import threading\nt = threading.Thread(target=lambda: print('thread'))\nt.start(); t.join()",
    "import multiprocessing as mp\nwith mp.get_context('fork').Pool(1) as p:\n"
    "    r = p.map(print, ['in a process'])\nr",
    "try:\n    input('?')\nexcept Exception as e:\n    print(type(e).__name__)",
    "os.environ['PAGER'], os.environ['MPLBACKEND'], sys.path, os.path.basename(os.getcwd())",
    "import sympy\nsympy.Symbol('x') ** 2",
    "1 + 1;",
    "def g(x):\n    return 1 / x\ng(0)",
    "'never run'",
]


@pytest.fixture(autouse=True)
def no_preload(monkeypatch):
    """Keep the warm process bare, so that what a notebook sees does not depend on the package."""
    monkeypatch.setenv("INFERECON_PRELOAD", "")


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a notebook whose first cell declares parameters."""

    def write(*cells, name="source", parameters="x = 1\nrate = 0.5\nmodel = 'a#b'\nfast = True"):
        first = nbformat.v4.new_code_cell(parameters, id="p", metadata={"tags": ["parameters"]})
        rest = [nbformat.v4.new_code_cell(c, id=f"c{n}") for n, c in enumerate(cells)]
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        notebook = nbformat.v4.new_notebook(cells=[first, *rest], metadata={"kernelspec": kernel})
        path = tmp_path / f"{name}.ipynb"
        nbformat.write(notebook, path)
        return path

    return write


def outputs(path):
    """Return execution counts and outputs by cell, without addresses and process ids."""
    text = path.read_text()
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    cells = [c for c in nbformat.reads(text, as_version=4).cells if c.cell_type == "code"]
    return [(cell.id, cell.execution_count, in_order(cell)) for cell in cells]


def in_order(cell):
    """Outputs of a cell, joined where a stream went on, a child's stderr, stdout, then the rest.

    A stock kernel sends what is written so far by a clock, which may fall within a line, and
    reads the streams of a child from threads of their own, perhaps after the cell's result:
    all of it is chance.
    """
    found = cell.outputs
    if "os.system(" in cell.source or "subprocess" in cell.source:
        order = {"stderr": 0, "stdout": 1}
        found = sorted(found, key=lambda output: order.get(output.get("name"), 2))
    joined = []
    for output in found:
        if joined and "stream" == output.output_type and output.name == joined[-1].get("name"):
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def test_every_cell_has_the_outputs_of_the_stock_engine(write, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTEST_CURRENT_TEST")  # under it ipykernel leaves os.system's output alone
    source = write(*FEATURES)
    for engine in ("stock", "inferecon"):
        outcome = run_notebook(source, tmp_path / f"{engine}.ipynb", {"x": 2}, engine=engine)
        assert ("error", "ZeroDivisionError: division by zero in cell 23") == (
            outcome.status,
            outcome.reason,
        )
        assert not outcome.target.exists()
    stock = outputs(tmp_path / "stock.error.ipynb")
    fork = outputs(tmp_path / "inferecon.error.ipynb")
    assert len(FEATURES) + 2 == len(stock)
    for expected, got in zip(stock, fork, strict=True):
        assert expected == got


@pytest.mark.parametrize(
    ("cell", "status", "reason"),
    [
        ("raise ValueError('no')", "error", "ValueError: no in cell 3"),
        ("import os\nos._exit(3)", "died", "the kernel exited with code 3 in cell 3"),
        (
            "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
            "died",
            "the kernel was ended by SIGKILL, as a machine does that runs out of memory in cell 3",
        ),
        (
            "import os, subprocess\np = subprocess.Popen(['sleep', '60'])\nos.fork() or os._exit(4)"
            "\nimport time\ntime.sleep(60)",
            "timeout",
            "a cell ran longer than 2 s",
        ),
        ("while True: pass", "timeout", "a cell ran longer than 2 s"),
    ],
)
def test_a_death_ends_its_own_notebook_and_says_why(write, tmp_path, cell, status, reason):
    source, target = write("print('before')", cell, "print('after')"), tmp_path / "out.ipynb"
    target.write_text("an older result")
    outcome = run_notebook(source, target, {"x": 2}, timeout=2)
    assert (status, reason) == (outcome.status, outcome.reason)
    assert target.read_text() == "an older result"  # nothing of the user's is lost
    kept = nbformat.read(tmp_path / "out.error.ipynb", as_version=4)
    text = "\n".join(str(cell.get("outputs")) for cell in kept.cells)
    assert "before" in text and "after" not in text
    assert "ok" == run_notebook(write("x"), target, {"x": 2}).status
    assert not (tmp_path / "out.error.ipynb").exists()


@pytest.mark.parametrize(
    "cell",
    [
        "for _ in range(100):\n    print('x' * 10**6)",
        "import os\nos.system('head -c 100000000 /dev/zero | tr \"\\\\0\" x')",
        "from IPython.display import HTML, display\ndisplay(HTML('x' * 10**8))",
    ],
)
def test_a_hundred_megabytes_of_output_are_refused(write, tmp_path, cell):
    source = write("print('before')", cell, "print('after')")
    outcome = run_notebook(source, tmp_path / "out.ipynb", {})
    assert (
        "error",
        "TooMuchOutput: this notebook shows more than 50,000,000 characters in cell 2",
    ) == (
        outcome.status,
        outcome.reason,
    )
    kept = tmp_path / "out.error.ipynb"
    assert kept.stat().st_size < 60_000_000
    cells = outputs(kept)
    assert "before\n" == cells[-3][-1][0].text and [] == cells[-1][-1]
    assert "TooMuchOutput" == cells[-2][-1][-1].ename
    assert "ok" == run_notebook(write("print('x')"), tmp_path / "out.ipynb", {}).status


def test_memory_without_end_is_refused(write, tmp_path, monkeypatch):
    monkeypatch.setenv("INFERECON_MEMORY", "1e9")
    source = write("print('before')", "held = []\nwhile True:\n    held.append(bytearray(10**7))")
    outcome = run_notebook(source, tmp_path / "out.ipynb", {}, timeout=60)
    assert ("error", "MemoryError:  in cell 2") == (outcome.status, outcome.reason)
    kept = outputs(tmp_path / "out.error.ipynb")
    assert "before\n" == kept[-2][-1][0].text and "MemoryError" == kept[-1][-1][-1].ename
    assert "ok" == run_notebook(write("x"), tmp_path / "out.ipynb", {}).status


def test_a_widget_is_shown_as_text_and_said_to_be(write, tmp_path):
    view = "{'application/vnd.jupyter.widget-view+json': {'model_id': 'a'}, 'text/plain': 'Slider'}"
    source = write(f"for _ in range(2):\n    display({view}, raw=True)\nprint('end')")
    assert "ok" == run_notebook(source, tmp_path / "out.ipynb", {}).status
    said, first, second, end = outputs(tmp_path / "out.ipynb")[-1][-1]
    assert "stderr" == said.name and said.text.startswith("Widgets are shown as text")
    assert {"text/plain": "Slider"} == first.data == second.data
    assert "end\n" == end.text


def test_a_cell_s_own_time_limit_is_kept(write, tmp_path):
    """papermill's own option counts for each cell, not for the notebook."""
    source = write(*["import time\ntime.sleep(1.5)"] * 3)
    assert "ok" == run_notebook(source, tmp_path / "out.ipynb", {}, timeout=4).status


WITHOUT = "import os\ndel os.memfd_create\n"  # as on a system that cannot hold output in memory


def test_where_fork_is_not_available_the_stock_kernel_runs(write, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "sitecustomize.py").write_text(WITHOUT)
    source, target = write("get_ipython().kernel is not None, x"), tmp_path / "out.ipynb"
    code = (
        "import sys; from pathlib import Path\n"
        "from inferecon.running import Job; from inferecon.sweep import sweep\n"
        "source, out = map(Path, sys.argv[1:])\n"
        "print(sweep([Job(source, out, 'k', {'x': 5})], workers=1)[0].status)"
    )
    path = os.pathsep.join([str(tmp_path / "other"), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, "-c", code, source, target],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert "ok\n" == ran.stdout, ran.stderr
    assert "papermill's own engine runs instead" in ran.stderr
    assert "(True, 5)" == outputs(target)[-1][-1][0].data["text/plain"]
    assert "ok" == run_notebook(source, target, {"x": 5}).status
    assert "(False, 5)" == outputs(target)[-1][-1][0].data["text/plain"]


REPORT = Path(__file__).parents[1] / "notebooks"


def test_notebooks_of_the_report_are_those_of_the_stock_engine(tmp_path):
    """The warm process has imported and computed a lot: none of it may show in a notebook."""
    sample = {
        "runs": ("scenario", {}),
        "cannot": ("scenario", {"hardware": "l40s", "tp": 1, "ep": 1}),
        "dense": ("scenario", {"model": "llama-3.1-8b", "weights": "bf16", "activations": "bf16"}),
        "counts": ("counts", {}),
    }
    jobs = {
        engine: [
            Job(REPORT / f"{notebook}.ipynb", tmp_path / engine / f"{name}.ipynb", "k", parameters)
            for name, (notebook, parameters) in sample.items()
        ]
        for engine in ("stock", "inferecon")
    }
    for engine, wanted in jobs.items():
        done = sweep(
            wanted, workers=2, engine=engine, progress=lambda _: None, preload=[DEFAULT_PRELOAD]
        )
        assert {"ok"} == {outcome.status for outcome in done}, done
    for stock, fork in zip(jobs["stock"], jobs["inferecon"], strict=True):
        assert outputs(stock.target) == outputs(fork.target)


def test_a_timeout_shows_where_the_cell_was(write, tmp_path):
    source = write("import time\nprint('started')\ndef nap():\n    time.sleep(60)\nnap()")
    run_notebook(source, tmp_path / "out.ipynb", {}, timeout=1)
    kept = outputs(tmp_path / "out.error.ipynb")[-1][-1]
    assert "started\n" == kept[0].text
    assert "KeyboardInterrupt" == kept[1].ename
    assert "nap()" in "".join(kept[1].traceback)


def test_a_child_that_dies_under_a_living_grandchild_is_noticed(write, tmp_path):
    source = write("import os, time\nif os.fork():\n    os._exit(5)\ntime.sleep(60)")
    begin = time.monotonic()
    outcome = run_notebook(source, tmp_path / "out.ipynb", {}, timeout=30)
    assert "the kernel exited with code 5 in cell 1" == outcome.reason
    assert time.monotonic() - begin < 15


def test_notebooks_share_nothing(write, tmp_path):
    first = write("import os, json\njson.mark = 1\nos.environ['MARK'] = '1'", name="first")
    second = write("import os, json\n(hasattr(json, 'mark'), 'MARK' in os.environ)", name="second")
    assert "ok" == run_notebook(first, tmp_path / "1.ipynb", {}).status
    assert "ok" == run_notebook(second, tmp_path / "2.ipynb", {}).status
    assert "(False, False)" == outputs(tmp_path / "2.ipynb")[-1][-1][0].data["text/plain"]


def test_the_same_input_gives_the_same_bytes(write, tmp_path):
    source = write("import warnings\nwarnings.warn('w')\nprint(set('abcdefgh'), x, rate)")
    target = tmp_path / "out.ipynb"
    run_notebook(source, target, {"rate": 2, "x": 3})
    first, modified = target.read_bytes(), target.stat().st_mtime_ns
    run_notebook(source, target, {"x": 3, "rate": 2})
    assert modified == target.stat().st_mtime_ns, "equal bytes are not written again"
    target.unlink()
    run_notebook(source, target, {"x": 3, "rate": 2})
    assert first == target.read_bytes()
    assert [source.name, target.name] == sorted((p.name for p in tmp_path.iterdir()), reverse=True)


def test_plain_papermill_finds_the_engine(write, tmp_path):
    source = write("print(x)")
    papermill.execute_notebook(
        source, tmp_path / "out.ipynb", {"x": 7}, engine_name="inferecon", progress_bar=False
    )
    assert "7\n" == outputs(tmp_path / "out.ipynb")[-1][-1][0].text


def test_the_command_of_papermill_shows_progress_and_the_injected_cell(write, tmp_path):
    source, target = write("print(x)", "x + 1"), tmp_path / "out.ipynb"
    command = [sys.executable, "-m", "papermill", "--engine", "inferecon", source, target]
    ran = subprocess.run([*command, "-p", "x", "7"], capture_output=True, text=True, check=True)
    assert "Executing" in ran.stderr and "4/4" in ran.stderr
    cells = nbformat.read(target, as_version=4).cells
    assert [["parameters"], ["injected-parameters"]] == [c.metadata.tags for c in cells[:2]]
    assert "# Parameters\nx = 7\n" == cells[1].source
    assert ["completed"] * 4 == [cell.metadata.papermill.status for cell in cells]


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"modle": "b"}, UnknownParameter, "no parameter 'modle'; the nearest it declares is 'mod"),
        ({"x": "1"}, ParameterTypeError, "parameter 'x' is int, but '1' is str"),
        ({"x": 1.5}, ParameterTypeError, "parameter 'x' is int, but 1.5 is float"),
        ({"x": True}, ParameterTypeError, "parameter 'x' is int, but True is bool"),
        ({"rate": False}, ParameterTypeError, "parameter 'rate' is float, but False is bool"),
        ({"fast": 1}, ParameterTypeError, "parameter 'fast' is bool, but 1 is int"),
    ],
)
def test_a_parameter_that_does_not_fit_is_refused(write, tmp_path, parameters, error, message):
    source = write("x")
    with pytest.raises(error, match=message):
        run_notebook(source, tmp_path / "out.ipynb", parameters)
    with pytest.raises(error, match=message):
        sweep([Job(source, tmp_path / "o.ipynb", "a", parameters)], workers=1, progress=print)
    assert [source] == list(tmp_path.iterdir())


def test_a_default_must_be_a_literal(write, tmp_path):
    source = write("x", parameters="x = 2 * 3")
    with pytest.raises(ParameterTypeError, match="default of parameter 'x' must be a literal"):
        run_notebook(source, tmp_path / "out.ipynb", {"x": 1})


def test_a_sweep_runs_what_its_keys_say(write, tmp_path):
    source = write("if x == 3:\n    raise ValueError('three')\nx")
    targets = [tmp_path / "out" / f"{x}.ipynb" for x in range(5)]
    jobs = [Job(source, t, f"k{x}", {"x": x}) for x, t in enumerate(targets)]
    seen = []
    first = sweep(jobs, workers=2, progress=seen.append)
    assert ["ok", "ok", "ok", "error", "ok"] == [o.status for o in first]
    assert targets == [o.target for o in first]
    assert sorted(targets) == sorted(o.target for o in seen)
    jobs[0] = Job(source, targets[0], "new", {"x": 0})
    again = sweep(jobs, workers=2, progress=seen.append)
    assert ["ok", "kept", "kept", "error", "kept"] == [o.status for o in again]


def test_a_sweep_stops_if_nothing_can_be_warmed_up(write, tmp_path):
    jobs = [Job(write("x"), tmp_path / f"{n}.ipynb", "k") for n in range(3)]
    with pytest.raises(WarmUpError, match="did not start: ModuleNotFoundError: No module named 'a"):
        sweep(jobs, workers=1, progress=print, preload=["absent_module"])


def test_two_jobs_may_not_share_a_target(write, tmp_path):
    job = Job(write("x"), tmp_path / "out.ipynb", "k")
    with pytest.raises(ValueError, match="1 targets have several jobs"):
        sweep([job, job], workers=1)


def test_an_interrupted_sweep_keeps_what_is_done_and_leaves_no_process(write, tmp_path):
    source = write("import os, time\nprint(os.getpid())\ntime.sleep(60 * x)")
    code = (
        "import sys; from pathlib import Path\n"
        "from inferecon.running import Job; from inferecon.sweep import sweep\n"
        "source, out = map(Path, sys.argv[1:])\n"
        "sweep([Job(source, out / f'{x}.ipynb', 'k', {'x': x}) for x in (0, 1)], workers=1)"
    )
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-c", code, source, out], stderr=subprocess.PIPE, text=True
    )
    while not (out / "0.ipynb").exists():
        time.sleep(0.05)
    time.sleep(0.3)
    family = descendants(process.pid)
    assert len(family) == 3  # driver, warm process, child
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert 130 == process.returncode
    assert "1 of 2 notebooks are done and kept; run the same command again" in said
    assert ["0.ipynb"] == [path.name for path in out.iterdir()]
    end = time.monotonic() + 5
    while any(os.path.exists(f"/proc/{pid}") for pid in family) and time.monotonic() < end:
        time.sleep(0.05)
    assert [] == [pid for pid in family if os.path.exists(f"/proc/{pid}")]


def descendants(pid):
    """Return the ids of all processes below one."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = [int(child) for child in file.read().split()]
    return children + [below for child in children for below in descendants(child)]
