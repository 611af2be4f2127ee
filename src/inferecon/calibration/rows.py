"""Measured rows: read a table of any column order, say of each row what can be predicted.

Columns are those of ``data/truth``; only ``metric`` and ``model`` must be there.
A cell is data: it is compared with known words or read as a number, nothing else.
"""

import csv
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd

from ..errors import BadInput, nearest
from .names import record_of

TEXT = (
    "id metric unit model weight_dtype act_dtype kv_dtype hardware engine source notes tier flag "
    "part"
).split()
NUMBERS = "value n_gpus tp pp ep batch_or_concurrency isl osl context".split()
WEIGHTS = {
    "fp32": "fp32",
    "fp16": "fp16",
    "bf16": "bf16",
    "fp8": "fp8",
    "fp8-block128": "fp8-block128",
    "nvfp4": "nvfp4",
    "fp4": "nvfp4",
    "mxfp4": "mxfp4",
    "int4": "int4-g32",
    "int4-g32": "int4-g32",
    "awq": "int4-awq",
    "int4-awq": "int4-awq",
    "int4-gptq": "int4-gptq",
    "int8": "int8-w8a16",
    "q4": "gguf-q4-k",
}
ACTIVATIONS = ("fp16", "bf16", "fp8", "nvfp4")
KV_WIDTH = {"fp8": 1.0, "int8": 1.0, "fp16": 2.0, "bf16": 2.0, "16-bit": 2.0}
NARROW = ("fp8", "fp8-block128", "nvfp4", "fp4")
BLOCK_SCALED = ("deepseek-v3", "deepseek-r1", "deepseek-v3.1", "deepseek-v3.2", "kimi-k2")
FAMILIES = (  # an engine's family: the first word found in its name
    ("tensorrt", "trtllm"),
    ("trtllm", "trtllm"),
    ("sglang", "sglang"),
    ("vllm", "vllm"),
    ("llama.cpp", "llama.cpp"),
    ("ollama", "llama.cpp"),
    ("deepspeed (gaudi", "optimum"),
    ("mii", "mii"),
    ("gpt-fast", "gpt-fast"),
    ("pytorch", "lab"),
    ("mlc", "mlc"),
    ("exllama", "exllama"),
    ("transformers", "transformers"),
    ("lmdeploy", "lmdeploy"),
)
SERVED = re.compile(r"closed-loop|steady-state|measured average|request rate|MLPerf", re.I)
STATIC = re.compile(r"static", re.I)
BLANK = ("", "nan", "na", "n/a", "none", "null", "-")
DECODE = ("tpot_ms", "tpot_mean_ms", "itl_mean_ms", "itl_median_ms", "decode_step_ms")
LAYERS = re.compile(r"\b(\d{1,4})(?: of \d+)? layers?\b")  # a part of a model that a row timed
# Conditions that services publish in words: experts and sequences of a phase, prompts reused.
EXPERTS = re.compile(r"\b(prefill|decode)\b[^;]*?\bEP(\d{1,4})\b", re.I)
EACH = re.compile(r"\b(\d{1,5}) req/GPU|\bbs (\d{1,5})/GPU", re.I)
HITS = re.compile(r"\b(\d{1,2}(?:\.\d+)?)\s?% hit\b", re.I)
MOST_BYTES = 256 * 2**20


def read(path: str | Path) -> pd.DataFrame:
    """Return the rows of a CSV with every column named, blanks as NaN or "".

    Raises BadInput, with the name of the file, for one that is not such a table.
    """
    path = Path(path)
    if not path.is_file():
        raise BadInput(f"no file {str(path)!r}")
    if path.stat().st_size > MOST_BYTES:
        raise BadInput(f"{path.name} is larger than {MOST_BYTES // 2**20} MiB")
    try:
        found = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
        with path.open(newline="", encoding="utf-8-sig") as file:
            names = [name.strip().lower() for name in next(csv.reader(file))]
    except (ValueError, csv.Error, StopIteration) as error:  # pandas' and Unicode's are ValueErrors
        why = (str(error) or "nothing in it").splitlines()[0]
        raise BadInput(f"{path.name} is no CSV table: {why}") from None
    if not isinstance(found.index, pd.RangeIndex):
        raise BadInput(f"{path.name} has rows with more cells than its head has columns")
    if len(names) == found.shape[1]:
        found.columns = names  # pandas renames the second of two alike, and hides it
    return prepared(found, path.name)


def prepared(found: pd.DataFrame, name: str = "the table") -> pd.DataFrame:
    """Return rows with every column, numbers read, records found."""
    found = found.rename(columns=lambda column: str(column).strip().lower())
    found = found.drop(columns=[column for column in found.columns if not column])
    twice = found.columns[found.columns.duplicated()]
    if len(twice):
        raise BadInput(f"{name} has the column {twice[0]!r} twice")
    for column in ("metric", "model"):
        if column not in found:
            near = nearest(column, list(found.columns)) if len(found.columns) else ""
            raise BadInput(f"{name} has no column {column!r}{near}")
    read_ = {column: _words(found, column) for column in TEXT}
    unread = np.full(len(found), "", dtype=object)
    for column in NUMBERS:
        read_[column] = _numbers(found, column, unread)
    # made at once: a column put in later costs as much as the rest
    rows = published(pd.DataFrame(read_))
    derived = {
        "unread": unread,
        "model_id": each(rows.model, lambda name: record_of("models", name) or ""),
        "hardware_id": each(rows.hardware, lambda name: record_of("hardware", name) or ""),
        "family": each(rows.engine, family),
        "generation": each(rows.engine, generation),
        "version": each(rows.engine, version),
        "task": [task_of(*both) for both in zip(rows.notes, rows.source, strict=True)],
        "precision": each(rows.weight_dtype, precision),
        "static": _static(rows),
        **devices(rows),
    }
    return pd.concat([rows, pd.DataFrame(derived)], axis=1)


def _words(found: pd.DataFrame, column: str) -> np.ndarray:
    if column not in found:
        return np.full(len(found), "", dtype=object)
    cells = found[column].fillna("").to_numpy(object)
    return np.array([str(cell).strip() for cell in cells], dtype=object)


def _numbers(found: pd.DataFrame, column: str, unread: np.ndarray) -> np.ndarray:
    """Return a column as numbers, NaN for a blank; ``unread`` keeps what is neither."""
    if column not in found:
        return np.full(len(found), np.nan)
    cells = found[column]
    numbers = pd.to_numeric(cells, errors="coerce").to_numpy(float)
    odd = np.flatnonzero(~np.isfinite(numbers))
    numbers = np.where(np.isfinite(numbers), numbers, np.nan)
    for place in odd:
        cell = cells.iloc[place]
        text = "" if pd.isna(cell) else str(cell).strip()
        if not unread[place] and text.lower() not in BLANK:
            unread[place] = f"{column} is {text[:40]!r}, no number"
    return numbers


def each(column: pd.Series, function) -> np.ndarray:
    """Apply a function to each different value once."""
    names, place = np.unique(column.to_numpy(str), return_inverse=True)
    return (
        np.array([function(str(name)) for name in names], dtype=object)[place]
        if len(names)
        else np.array([], dtype=object)
    )


def family(engine: str) -> str:
    name = engine.lower()
    return next((family for word, family in FAMILIES if word in name), "other")


def _release(engine: str) -> tuple[int, int] | None:
    found = re.search(r"(\d+)\.(\d+)", engine)
    return (int(found[1]), int(found[2])) if found else None


def generation(engine: str) -> str:
    """Family and age: an engine that was rewritten is another one."""
    name, kind, release = engine.lower(), family(engine), _release(engine)
    if kind == "vllm":
        if "splitwise" in name or "2023" in name:
            return "vllm-2023"
        if "2024" in name or (release and release < (0, 8)):
            return "vllm-2024"
        return "vllm-2025"
    if kind == "trtllm":
        if release and release[0] >= 5:
            return "trt-mlperf"
        return "trtllm-0" if "tensorrt" in name and (not release or release[0] == 0) else "trtllm-1"
    return kind


def version(engine: str) -> str:
    """Generation with the first two numbers of its version."""
    release = _release(engine)
    number = f" {release[0]}.{release[1]}" if release else ""
    bare = " unstated" if engine.lower() in ("vllm", "sglang", "trtllm") else ""
    return generation(engine) + number + bare


def task_of(notes: str, source: str) -> str:
    """Benchmark task whose prompts are known by name and not by length."""
    found = re.search(r"\btask ([\w-]+)", notes)
    if not found:
        return ""
    return ("v2-" if "leaderboard-v2" in source else "") + found[1]


def precision(weights: str) -> str:
    """Class of a weight format: what unit multiplies it, and what is done to it before."""
    name = weights.lower().removesuffix("-block128")
    if name in ("fp8", "mxfp4", "int8"):
        return name
    if "fp4" in name:
        return "fp4"
    return "16" if name in ("fp16", "bf16", "fp32", "") else "w4"


def _static(rows: pd.DataFrame) -> np.ndarray:
    """Say whether a batch starts and ends together; else requests come and go."""
    served = rows.notes.str.contains(SERVED) & ~rows.notes.str.contains(STATIC)
    return ~(served | rows.source.str.contains("aiconfigurator|leaderboard")).to_numpy()


def published(rows: pd.DataFrame) -> pd.DataFrame:
    """Add what notes say of a phase where no column says it, and the share of prompts reused.

    A service may spread its two phases over different devices, and runs them on
    as many as their experts fill.
    """
    rows["hits"] = each(rows.notes, _hits).astype(float)
    phase = each(rows.metric, lambda name: name.partition("_")[0])
    for place in np.flatnonzero(rows.notes.str.contains("EP|/GPU").to_numpy()):
        row = rows.loc[place]
        wide = {name.lower(): float(count) for name, count in EXPERTS.findall(row.notes)}
        if phase[place] in wide and math.isnan(row.ep):
            rows.loc[place, "ep"] = wide[phase[place]]
        held, devices = EACH.search(row.notes), np.nanmax([row.n_gpus, rows.ep[place], 1.0])
        if held and phase[place] == "decode" and math.isnan(row.batch_or_concurrency):
            rows.loc[place, "batch_or_concurrency"] = float(held[1] or held[2]) * devices
    return rows


def _hits(notes: str) -> float:
    found = HITS.search(notes)
    return float(found[1]) / 100 if found else 0.0


def devices(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return devices of a replica, of a tensor-parallel group and of the experts, row by row."""
    stages, tp, ep, many = (rows[name].to_numpy(float) for name in ("pp", "tp", "ep", "n_gpus"))
    stages = np.fmax(stages, 1.0)
    total = np.where(np.isnan(many), np.where(np.isnan(tp), 1.0, tp * stages), many)
    total = np.fmax(np.fmax(total, 1.0), ep)
    # experts over many devices and no tensor parallelism stated: attention is data-parallel
    alone = np.where(ep > 1, 1.0, total / stages)
    group = np.where(np.isnan(tp), alone, tp)
    return {"stages": stages, "devices": total / stages, "total": total, "group": group}
