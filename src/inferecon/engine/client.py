"""The papermill engine `inferecon`: each notebook runs in a forked child of a warm process.

`papermill --engine inferecon in.ipynb out.ipynb` works as with papermill's own engine.
Widgets are shown as text, because there is no kernel for their messages.
"""

import os
import sys

from ipykernel.ipkernel import IPythonKernel
from jupyter_core.utils import run_sync
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import Engine, NBClientEngine
from papermill.iorw import write_ipynb
from papermill.log import logger
from papermill.utils import merge_kwargs, remove_args

from .process import Child, Warm


class ForkClient(PapermillNotebookClient):
    """papermill's client with `Child` in the place of a kernel manager and its channels."""

    def execute(self, **kwargs):
        """Run all cells in a new child."""
        self.reset_execution_trackers()
        with Child(Warm.get()) as self.child:
            self.papermill_execute_cells()
        self.nb.metadata["language_info"] = IPythonKernel.language_info
        return self.nb

    def execute_cell(self, cell, index, **kwargs):
        """Run one cell and collect its outputs; raise as nbclient's own method does."""
        skipped = self.skip_cells_with_tag in cell.metadata.get("tags", [])
        if cell.cell_type != "code" or not cell.source.strip() or skipped:
            return cell
        cell.outputs, self.clear_before_next_output = [], False
        timeout = self._get_timeout(cell)
        try:
            for kind, content in self.child.run(cell.source, timeout):
                if kind == "execute_reply":
                    reply = content
                    continue
                message = {"msg_type": kind, "header": {"msg_type": kind}, "parent_header": {}}
                self.process_message(message | {"content": content}, cell, index)
        except TimeoutError:
            raise CellTimeoutError.error_from_timeout_and_cell(
                f"cell {index} ran longer than its limit", timeout, cell
            ) from None
        except DeadKernelError as error:
            raise DeadKernelError(f"{error} in cell {index}") from None
        cell.execution_count = reply["execution_count"]
        run_sync(self._check_raise_for_error)(cell, index, {"content": reply})
        return cell


def can_fork() -> bool:
    """Say whether this Python can fork a warm process and hold its output in memory files."""
    return sys.platform == "linux" and hasattr(os, "fork") and hasattr(os, "memfd_create")


class ForkEngine(Engine):
    """papermill's engine `inferecon`."""

    @classmethod
    def execute_notebook(cls, nb, kernel_name, output_path=None, **options):
        """Run a notebook and save it once, at the end, whatever the end is."""
        if not can_fork():
            logger.warning("The inferecon engine needs Linux: papermill's own engine runs instead.")
            return NBClientEngine.execute_notebook(nb, kernel_name, output_path, **options)
        try:
            return super().execute_notebook(nb, kernel_name, None, **options)
        except BaseException:
            write_ipynb(nb, output_path)  # papermill itself writes only what has come to its end
            raise

    @classmethod
    def execute_managed_notebook(
        cls, nb_man, kernel_name, start_timeout=60, execution_timeout=None, **options
    ):
        """Run the cells; the options are those of papermill's own engine."""
        timeout = execution_timeout or options.get("timeout")
        options = remove_args(["input_path", "timeout", "startup_timeout"], **options)
        options = merge_kwargs(options, timeout=timeout, kernel_name=kernel_name, log=logger)
        return ForkClient(nb_man, **options).execute()
