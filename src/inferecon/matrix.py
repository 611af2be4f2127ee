"""The default sweep: which combinations the report holds, and when one must run again."""

import hashlib
import json
from functools import cache
from pathlib import Path

from .calibration.constants import fingerprint
from .errors import BadInput
from .records import ROOT, load, matching
from .results import edition
from .scenario import Scenario, choose_devices
from .sweep import Job

NOTEBOOKS = ROOT / "notebooks"
SWEEP = ROOT / "_build" / "sweep"
CHAPTERS = ROOT / "book" / "chapters"

# The DeepSeek models of the three source documents, on the hardware they are run on.
MODELS = (
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
HARDWARE = (
    "a100-80gb-sxm",
    "h100-sxm",
    "h200-sxm",
    "h20",
    "b200-sxm",
    "mi300x",
    "l40s",
    "ascend-910b",
)
FORMATS = ("bf16", "fp8", "int8-w8a8", "int4-awq", "nvfp4")
WORKLOAD = {"batch": 32, "isl": 1024, "osl": 1024}


def activations_for(weights: str) -> str:
    """Number format of the activations that goes with a weight format: its own if it has a rate."""
    record = load("formats", weights)
    return "bf16" if record.about["weight_only"] else weights


def cases(models: str, hardware: str, formats: str, **workload) -> tuple[list[Scenario], list[str]]:
    """Return the scenarios of a matrix, and one sentence for each that cannot even be stated."""
    found, refused = [], []
    for model in matching("models", models):
        for device in matching("hardware", hardware):
            for weights in matching("formats", formats):
                try:
                    found.append(
                        choose_devices(
                            model,
                            device,
                            weights=weights,
                            activations=activations_for(weights),
                            **workload,
                        )
                    )
                except BadInput as error:
                    refused.append(f"{model}/{device}/{weights}: {error}")
    return found, refused


def job_for(case: Scenario, folder: Path = SWEEP) -> Job:
    """Return the run of the scenario notebook for one combination."""
    choices = (
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
    parameters = {name: getattr(case, name) for name in choices}
    source = NOTEBOOKS / "scenario.ipynb"
    target = folder / case.model / f"{case.hardware}--{case.weights}.ipynb"
    records = {record.path: record.hash for record in case.records()}
    return Job(source, target, key(source, parameters, records), parameters)


def chapter_job(name: str) -> Job:
    """Return the run of a notebook that is a page of the book, with its own parameters."""
    source = NOTEBOOKS / f"{name}.ipynb"
    return Job(source, CHAPTERS / source.name, key(source, {}, {"data": _data()}), {})


def key(source: Path, parameters: dict, records: dict) -> str:
    """Return the fingerprint of everything a notebook's result depends on."""
    rests_on = [fingerprint(), _names()]  # what its predictions are made with
    parts = [source.read_text(), parameters, records, edition(), _code(), _lock(), rests_on]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


@cache
def _code() -> str:
    """Fingerprint of the modules that a notebook runs: all up to ``book`` and what stands on it."""
    package = Path(__file__).parent
    above = {
        "build",
        "cli",
        "cli_measured",
        "engine",
        "engine_child",
        "matrix",
        "pages",
        "parameters",
    }
    above |= {"anchors", "cite", "citebox", "claims", "export"}
    above |= {"limits", "measure", "naming", "numberbox", "worked"}
    above |= {"query", "report", "results", "sweep", "trace"}
    files = [
        path
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0].removesuffix(".py") not in above
    ]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


@cache
def _names() -> str:
    return hashlib.sha256((ROOT / "data" / "truth" / "names.yaml").read_bytes()).hexdigest()


@cache
def _lock() -> str:
    return hashlib.sha256((ROOT / "requirements.txt").read_bytes()).hexdigest()


@cache
def _data() -> str:
    files = sorted((ROOT / "data").rglob("*.yaml"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
