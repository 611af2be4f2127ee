"""Run notebooks: each in its own process, with checked parameters and repeatable bytes.

`notebook` is imported first, and papermill with it: papermill, when it is imported, loads `client`
as its engine `inferecon`, and would find that module half-made if the import began there.
"""

from .notebook import Outcome, run_notebook
from .parameters import ParameterTypeError, UnknownParameter, check_parameters
from .process import WarmUpError

__all__ = [
    "Outcome",
    "ParameterTypeError",
    "UnknownParameter",
    "WarmUpError",
    "check_parameters",
    "run_notebook",
]
