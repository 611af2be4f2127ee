"""Matrices of combinations: which the report holds, what each job is, what its key is made of."""

import fnmatch
import os
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

from . import keys, store, uses
from .calibration import constants
from .errors import BadInput
from .files import ROOT, SWEEP
from .records import Record, ids, load, matching
from .running import Job
from .scenario import Scenario, choose_devices

NOTEBOOKS = ROOT / "notebooks"
SCENARIO = NOTEBOOKS / "scenario.ipynb"
NAMES = ROOT / "data" / "truth" / "names.yaml"
CHAPTERS = ROOT / "book" / "chapters"

# The DeepSeek models of the three source documents, and those that others serve most.
OF_DOCUMENTS = (
    "deepseek-r1-distill-qwen-1.5b",
    "deepseek-r1-distill-qwen-7b",
    "deepseek-r1-distill-llama-8b",
    "deepseek-r1-distill-qwen-14b",
    "deepseek-r1-distill-qwen-32b",
    "deepseek-r1-distill-llama-70b",
    "deepseek-v2-lite",
    "deepseek-v2",
    "deepseek-v3",
    "deepseek-r1",
    "deepseek-v3.1",
)
MODELS = (
    *OF_DOCUMENTS,
    "llama-3.1-8b",
    "llama-3.1-70b",
    "llama-3.1-405b",
    "llama-4-scout",
    "mistral-7b-v0.3",
    "mistral-small-24b-2501",
    "mixtral-8x7b",
    "qwen2.5-7b",
    "qwen2.5-32b",
    "qwen2.5-72b",
    "qwen3-8b",
    "qwen3-32b",
    "qwen3-30b-a3b",
    "qwen3-235b-a22b",
    "qwen3-coder-480b-a35b",
    "qwen3-next-80b-a3b",
    "qwen3.5-35b-a3b",
    "qwen3.5-397b-a17b",
    "gpt-oss-20b",
    "gpt-oss-120b",
    "gemma-3-12b",
    "gemma-3-27b",
    "phi-4",
    "glm-4.5-air",
    "glm-4.6",
    "kimi-k2",
    "minimax-m2",
    "nemotron-3-nano-30b-a3b",
    "deepseek-v3.2",
)
HARDWARE = (
    "a100-80gb-sxm",
    "h100-sxm",
    "h200-sxm",
    "h20",
    "b200-sxm",
    "mi300x",
    "l40s",
    "ascend-910b",
    "h100-pcie",
    "b300-sxm",
    "mi325x",
    "mi355x",
    "gaudi3",
    "rtx-pro-6000-server",
    "rtx-4090",
    "l4",
)
FORMATS = ("bf16", "fp8", "int8-w8a8", "int4-awq", "nvfp4")
WORKLOAD = {"batch": 32, "isl": 1024, "osl": 1024}


def activations_for(weights: str) -> str:
    """Number format of the activations that goes with a weight format: its own if it has a rate."""
    record = load("formats", weights)
    return "bf16" if record.about["weight_only"] else weights


class Combination(NamedTuple):
    """One model on one device in one weight format; ``refused`` says why it cannot be stated."""

    model: str
    hardware: str
    weights: str
    case: Scenario | None
    refused: str = ""

    @property
    def name(self) -> str:
        return f"{self.model}/{self.hardware}/{self.weights}"

    @property
    def obstacles(self) -> list[str]:
        """Say why it cannot run; empty if it can."""
        return self.case.obstacles if self.case else [self.refused]


def combinations(models: str, hardware: str, formats: str, **workload) -> Iterator[Combination]:
    """Yield every combination of a matrix, each on the fewest devices that hold it."""
    asked = [
        matching(kind, pattern)
        for kind, pattern in (("models", models), ("hardware", hardware), ("formats", formats))
    ]
    for model, device, weights in product(*asked):
        try:
            both = {"weights": weights, "activations": activations_for(weights)}
            case, refused = choose_devices(model, device, **both, **workload), ""
        except BadInput as error:
            case, refused = None, str(error)
        yield Combination(model, device, weights, case, refused)


CHOICES = (
    "model",
    "hardware",
    "weights",
    "activations",
    "kv",
    "tp",
    "ep",
    "batch",
    "isl",
    "osl",
    "grid",
    "provider",
)


def parameters_of(case: Scenario) -> dict[str, object]:
    """Return the parameters that open a case in the scenario notebook."""
    return {name: getattr(case, name) for name in CHOICES}


def target_of(case: Scenario, folder: store.Place = SWEEP) -> store.Place:
    """Return where the notebook of a combination goes."""
    return store.under(folder, case.model, f"{case.hardware}--{case.weights}.ipynb")


def job_for(case: Scenario, folder: store.Place = SWEEP) -> Job:
    """Return the run of the scenario notebook for one combination."""
    parameters = parameters_of(case)
    # a price or a measured constant that appears is a change, too
    awaited = (f"prices/{case.hardware}.yaml", f"assumptions/energy-{case.hardware}.yaml")
    read = keys.records(case.records(), {f"data/{path}": keys.ABSENT for path in awaited})
    return _job(SCENARIO, target_of(case, folder), parameters, {"record": read})


def chapter_job(name: str) -> Job:
    """Return the run of a notebook that is a page of the book, with its own parameters."""
    source = NOTEBOOKS / f"{name}.ipynb"
    read = {"record": keys.records(records_named(source))}
    if samples := sorted(word for word in uses.strings(source) if word.startswith(SAMPLES)):
        read["file"] = keys.files(ROOT / word for word in samples)
    return _job(source, CHAPTERS / source.name, {}, read)


def records_named(source: Path) -> list[Record]:
    """Return the records that a notebook with its own parameters may read.

    Those of models and hardware that a string in it names, with * for any letters, and all of
    the small kinds.
    """
    words = uses.strings(source)
    models, hardware = (
        {id for word in words for id in fnmatch.filter(ids(kind), word)}
        for kind in ("models", "hardware")
    )
    found = [load("models", id) for id in models] + [load("hardware", id) for id in hardware]
    found += [load("prices", id) for id in hardware & set(ids("prices"))]
    return found + [load(kind, id) for kind in SMALL for id in ids(kind)]


SAMPLES = "data/samples/"  # how a notebook names a file of its own
SMALL = ("formats", "grids", "assumptions", "constants")


def _job(source: Path, target: store.Place, parameters: dict, read: dict) -> Job:
    parts = {**_code(source, source.stat().st_mtime_ns), **read}
    if constants.__name__ in parts["module"].items:
        more = _predicts_with()
        own = parts["file"].items if "file" in parts else {}
        parts |= {**more, "file": keys.group({**more["file"].items, **own})}
    if parameters:
        parts["parameter"] = keys.group(parameters)
    return Job(source, target, keys.key(parts), parameters, parts)


@lru_cache
def _code(source: Path, _modified: int) -> dict[str, keys.Group]:
    """Parts that all runs of a notebook share."""
    return {kind: keys.group(items) for kind, items in uses.of(source)._asdict().items()}


def _predicts_with() -> dict[str, keys.Group]:
    """Parts that a notebook rests on which predicts: the constants in use, the names of records."""
    return _constants(tuple(_clock(f"{constants.FOLDER}/{name}") for name in keys.CONSTANTS))


def _clock(path: str) -> tuple[int, int] | None:
    """Return what changes when a file does; asked for each job, so without a detour."""
    try:
        seen = os.stat(path)
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_size


@lru_cache
def _constants(_seen: tuple) -> dict[str, keys.Group]:
    return {"constants": keys.constants_in_use(), "file": keys.files([NAMES])}
