"""Read the log of a run: a CSV of requests, vLLM's and SGLang's benchmarks, AIPerf's export.

Which of them a file is, is seen from what is in it.  A mistake is one sentence that says what
is wrong, where, and what would do.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..errors import BadInput
from .log import Log, joined
from .table import read_table

MOST_BYTES = 2**30
LONGEST = 300  # digits of a number; a double holds 308
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0}
DETAILS = ("input_lens", "output_lens", "ttfts", "itls")


def read_log(path: Path, run: int = 0) -> Log:
    """Return the requests of a file; ``run`` picks one of several runs in it, the first is 1.

    Raises BadInput for a file that is none of the four, or has no completed request.
    """
    if not path.is_file():
        raise BadInput(f"no file {str(path)!r}")
    if path.stat().st_size > MOST_BYTES:
        raise BadInput(f"{path.name} is larger than {MOST_BYTES // 2**20} MiB")
    try:
        log = _read(path, run)
    except UnicodeDecodeError:
        raise BadInput(f"{path.name} is no text in UTF-8") from None
    except RecursionError:
        raise BadInput(f"{path.name} is nested too deeply for a log") from None
    if not len(log.ttft):
        raise BadInput(f"{path.name} has no completed request")
    return log


def _read(path: Path, run: int) -> Log:
    with path.open(encoding="utf-8-sig") as file:
        first = next((line for line in file if line.strip()), "")
    if first.lstrip()[:1] not in ("{", "["):
        if run:
            raise BadInput(f"--run {run}: {path.name} is a table of requests, with one run")
        return read_table(path)
    objects = list(_objects(path))
    where, head = objects[0]
    if isinstance(head, dict) and {"metadata", "metrics"} <= head.keys():
        return aiperf(path.name, objects)
    if run > len(objects) or run < 0:
        raise BadInput(f"--run {run}: {path.name} has {len(objects)} runs")
    if len(objects) > 1 and not run:
        raise BadInput(f"{path.name} has {len(objects)} runs: name one, --run 1 to {len(objects)}")
    where, found = objects[max(run, 1) - 1]
    return benchmark(f"{path.name}{where}", found)


def _objects(path: Path) -> Iterator[tuple[str, object]]:
    """Yield the JSON of a file: one object, or one a line, each with its place."""
    text = path.read_text(encoding="utf-8-sig")
    try:
        yield "", json.loads(text, parse_int=_whole)
        return
    except json.JSONDecodeError as error:
        if not text.lstrip().partition("\n")[0].rstrip().endswith("}"):
            raise BadInput(f"{path.name} is no JSON: {error.msg}, line {error.lineno}") from None
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield f", line {number}", json.loads(line, parse_int=_whole)
            except json.JSONDecodeError as error:
                raise BadInput(f"{path.name}, line {number}, is no JSON: {error.msg}") from None


def _whole(digits: str) -> int | float:
    """Return a whole number; one that no double holds is none."""
    return int(digits) if len(digits) < LONGEST else math.nan


# vLLM and SGLang: one object a run, a list with an element a request ------------------------------


def benchmark(place: str, found: object) -> Log:
    """Return a run of vLLM's or SGLang's serving benchmark.

    Both write times in seconds and one list for each quantity; a request that failed has a text
    in ``errors``.  The time of the last token is the first plus the gaps.
    """
    if not isinstance(found, dict):
        raise BadInput(f"{place} holds no run; give a serving benchmark's JSON, or a CSV")
    if "time_to_first_token" in found:
        raise BadInput(f"{place} holds totals only; give AIPerf's profile_export.jsonl")
    kind = "SGLang" if "total_output_tokens_retokenized" in found else "vLLM"
    if lacking := [name for name in DETAILS if not isinstance(found.get(name), list)]:
        if "output_throughput" not in found:
            raise BadInput(
                f"{place} has no list {lacking[0]!r}; known are a CSV of requests, the JSON of "
                "vLLM's and SGLang's serving benchmarks, and AIPerf's profile_export.jsonl"
            )
        flag = "--output-details" if kind == "SGLang" else "--save-detailed"
        raise BadInput(f"{place} holds totals only; run the benchmark with {flag}")
    count = len(found["ttfts"])
    for name in (*DETAILS, "errors", "start_times"):
        listed = found.get(name)
        if isinstance(listed, list) and len(listed) != count:
            raise BadInput(f"{place}: {len(listed)} {name} for {count} ttfts")
    isl, osl, ttft = (_numbers(place, name, found[name]) for name in DETAILS[:3])
    errors = found.get("errors") or [""] * count
    done = np.array([not error for error in errors], bool) & (osl > 0)
    numbers = np.flatnonzero(done)
    gaps, bounds = joined([_numbers(place, f"itls[{i}]", found["itls"][i]) for i in numbers])
    number = np.diff(bounds)
    talks = any("chat" in str(found.get(name)) for name in ("backend", "endpoint_type", "endpoint"))
    starts = found.get("start_times")
    arrival = np.full(count, math.nan) if not starts else _numbers(place, "start_times", starts)
    window = found.get("duration")
    if window is not None and not 0 < _number(window) < math.inf:
        raise BadInput(f"{place}: duration is {json.dumps(window)[:40]}, no time above zero")
    return Log(
        kind=kind,
        places=[f"request {i + 1}" for i in numbers],
        arrival=arrival[done],
        ttft=ttft[done],
        e2e=np.full(len(numbers), math.nan),
        isl=isl[done],
        osl=osl[done],
        gaps=gaps,
        bounds=bounds,
        window=_number(window),
        others=arrival[~done],
        stated=_stated(found),
        # a chunk with the role alone opens an answer of a chat
        opening=bool((number == osl[done]).all() or talks and (number == osl[done]).any()),
    )


def _stated(found: dict) -> dict[str, float]:
    window, each = _number(found.get("duration")), {}
    for name, key, factor in (
        ("requests completed", "completed", 1.0),
        ("output tokens", "total_output_tokens", 1.0),
        ("input tokens", "total_input_tokens", 1.0),
        ("TPS · window", "output_throughput", window),
        ("RPS · window", "request_throughput", window),
        ("mean TTFT, s", "mean_ttft_ms", 1e-3),
        ("mean E2EL, s", "mean_e2el_ms", 1e-3),
        ("mean E2EL, s", "mean_e2e_latency_ms", 1e-3),
    ):
        value = _number(found.get(key)) * factor
        if math.isfinite(value):
            each[name] = value
    return each


def _number(value: object) -> float:
    return float(value) if type(value) in (int, float) else math.nan  # no true, which is 1


def _numbers(place: str, name: str, listed: object) -> np.ndarray:
    # numpy would take true for 1, and "7" for 7
    known = isinstance(listed, list) and all(type(one) in (int, float) for one in listed)
    found = np.array(listed if known else [math.nan], float)
    if not np.isfinite(found).all():
        raise BadInput(f"{place}: {name} holds something that is no number")
    return found


# AIPerf: one object a request --------------------------------------------------------------------


def aiperf(name: str, objects: list[tuple[str, object]]) -> Log:
    """Return the requests of AIPerf's profile_export.jsonl: measured ones, no warm-up."""
    places, rows, gaps, others = [], [], [], []
    origin = None
    for where, record in objects:
        place = f"{name}{where}"
        if not isinstance(record, dict) or not {"metadata", "metrics"} <= record.keys():
            raise BadInput(f"{place} has no metadata and metrics, as the first line has")
        about, metrics = record["metadata"] or {}, record["metrics"] or {}
        phase = about.get("benchmark_phase", about.get("credit_phase", "profiling"))
        if phase != "profiling":
            continue
        start = about.get("request_start_ns", about.get("timestamp_ns"))
        broken = record.get("error") or about.get("was_cancelled")
        if type(start) is not int and not broken:
            raise BadInput(f"{place} has no request_start_ns")
        if type(start) is int and origin is None:
            origin = start
        if broken:
            others.append((start - origin) * 1e-9 if type(start) is int else math.nan)
            continue
        tokens = "output_sequence_length"
        tokens = tokens if tokens in metrics else "output_token_count"
        rows.append(
            [(start - origin) * 1e-9]  # whole numbers until here: nanoseconds since 1970
            + [
                _metric(place, metrics, key)
                for key in ("time_to_first_token", "request_latency", "input_sequence_length")
            ]
            + [_metric(place, metrics, tokens)]
        )
        if "inter_chunk_latency" in metrics:
            gaps.append(np.atleast_1d(_metric(place, metrics, "inter_chunk_latency")))
        elif rows[-1][4] == 1:
            gaps.append(np.empty(0))
        places.append(where.removeprefix(", ") or "line 1")
    whole = np.array(rows, float).reshape(len(rows), 5)
    flat, bounds = joined(gaps) if len(gaps) == len(rows) else (np.empty(0), np.empty(0, int))
    arrival, ttft, e2e, isl, osl = whole.T
    return Log(
        "AIPerf", places, arrival, ttft, e2e, isl, osl, flat, bounds, others=np.array(others)
    )


def _metric(place: str, metrics: dict, key: str):
    found = metrics.get(key)
    if not isinstance(found, dict) or "value" not in found:
        raise BadInput(f"{place} has no {key}; AIPerf writes it for streamed answers")
    unit = str(found.get("unit", "")).lower()
    factor = 1.0 if unit.startswith("token") else SECONDS.get(unit)
    if factor is None:
        raise BadInput(f"{place}: {key} is in {unit!r}; known: {', '.join(SECONDS)}")
    value = found["value"]
    if isinstance(value, list):
        return _numbers(place, key, value) * factor
    if not math.isfinite(_number(value)):
        raise BadInput(f"{place}: {key} is no number")
    return _number(value) * factor
