"""Run one notebook and write it: the same bytes for the same input.

A notebook that did not finish never has the good name; what there is of it is kept beside it.
"""

import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import nbformat
import papermill
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from papermill.engines import papermill_engines
from papermill.exceptions import PapermillExecutionError

from .parameters import check_parameters

ENGINES = {"inferecon": "inferecon", "stock": "nbclient"}
KERNEL_DIRECTORY = re.compile(r"ipykernel_\d+")  # a process id, in warnings and tracebacks


@dataclass(frozen=True)
class Outcome:
    """How the run of one notebook ended: ok, error, died, timeout, or kept (by a sweep).

    `target` is a path, or an address if a sweep has put the notebook into a store elsewhere.
    """

    target: Path | str
    status: str
    reason: str = ""
    seconds: float = 0.0


class Witness:
    """A papermill engine around another: it keeps the notebook, which papermill drops on failure.

    What it returns has been through `finish`, so that papermill's own writing is the only one.
    """

    def __init__(self, name: str, finish: Callable[[NotebookNode], None]):
        engine = papermill_engines.get_engine(name)
        self.run, self.finish, self.notebook = engine.execute_notebook, finish, None
        self.nb_kernel_name, self.nb_language = engine.nb_kernel_name, engine.nb_language

    def execute_notebook(self, notebook, kernel_name, output_path=None, **options) -> NotebookNode:
        """Run a notebook without saving it on the way."""
        self.notebook = notebook
        done = self.run(notebook, kernel_name, output_path=None, **options)
        self.finish(done)
        return done


def run_notebook(
    source: Path,
    target: Path,
    parameters: Mapping[str, object],
    *,
    engine: str = "inferecon",
    timeout: float = 600,
    key: str = "",
    about: Mapping[str, object] = {},  # noqa: B006
) -> Outcome:
    """Run a notebook in the current directory and write it to `target` if every cell succeeds.

    `engine` is inferecon or stock; `timeout` is in seconds, for each cell; `key` and `about` are
    stored in the notebook's metadata.  The target is replaced whole, and only if its bytes change.
    After a failure an older target stays: the cells that ran are in `<name>.error.ipynb` beside it.
    Raises UnknownParameter or ParameterTypeError before anything is run.
    """
    parameters = check_parameters(source, parameters)
    target.parent.mkdir(parents=True, exist_ok=True)
    failed = target.with_name(f"{target.stem}.error.ipynb")
    begin = time.monotonic()
    partial, ids = partial_name(target), source_ids(source, source.stat().st_mtime_ns)

    def finish(notebook: NotebookNode) -> None:
        normalise(notebook, ids)
        notebook.metadata["inferecon"] = {"key": key, "parameters": parameters, **about}

    witness = Witness(ENGINES[engine], finish)
    papermill_engines.register("witness", witness)
    try:
        papermill.execute_notebook(
            source,
            partial,
            parameters,
            engine_name="witness",
            kernel_name="python3",
            language="python",
            progress_bar=False,
            execution_timeout=timeout,
        )
        status, reason = "ok", ""
    except PapermillExecutionError as error:
        status, reason = "error", f"{error.ename}: {error.evalue} in cell {error.cell_index}"
    except DeadKernelError as error:
        status, reason = "died", str(error)
    except CellTimeoutError:
        status, reason = "timeout", f"a cell ran longer than {timeout:g} s"
    except OSError:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
    if status == "ok":
        replace(target, partial)
        failed.unlink(missing_ok=True)
    else:
        finish(witness.notebook)  # once more, because papermill has added cells that mark the error
        partial.write_text(nbformat.writes(witness.notebook))
        replace(failed, partial)
    return Outcome(target, status, reason, time.monotonic() - begin)


def partial_name(target: Path) -> Path:
    """Return the name that a notebook has while it is written."""
    return target.with_name(f".{target.stem}.part.json")  # no *.ipynb, so nobody reads it


@lru_cache
def source_ids(source: Path, _modified: int) -> frozenset[str]:
    """Return the cell ids that the file itself has (nbformat invents random ones for the rest)."""
    cells = nbformat.reader.reads(source.read_text()).cells
    return frozenset(cell.id for cell in cells if "id" in cell)


def normalise(notebook: NotebookNode, ids: frozenset[str]) -> None:
    """Remove what changes from run to run: clocks, paths, process ids, versions, random ids."""
    notebook.metadata.pop("papermill", None)
    notebook.metadata.get("language_info", {}).pop("version", None)
    for number, cell in enumerate(notebook.cells):
        if cell.id not in ids:
            cell.id = f"added-{number}"
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = join_streams(cell.outputs)
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                output.text = KERNEL_DIRECTORY.sub("ipykernel", output.text)
            elif output.output_type == "error":
                output.traceback = [KERNEL_DIRECTORY.sub("ipykernel", t) for t in output.traceback]


def join_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join neighbouring pieces of one stream: where a kernel cuts it is a matter of timing."""
    joined: list[NotebookNode] = []
    for output in outputs:
        last = joined[-1] if joined else {}
        if output.output_type == "stream" and output.get("name") == last.get("name"):
            last.text += output.text
        else:
            joined.append(output)
    return joined


def replace(target: Path, partial: Path) -> None:
    """Give a finished file its name, or drop it if the bytes under that name are the same."""
    if target.exists() and target.read_bytes() == partial.read_bytes():
        partial.unlink()
    else:
        os.replace(partial, target)
