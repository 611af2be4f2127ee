"""Pieces of a generated page: escaped text, quoted numbers, tables, links to sources."""

from collections.abc import Iterable

from ..escape import plain as plain
from ..tables import lines

# What a row measured, in words; its unit stands beside it.
METRICS = {
    "ttft_ms": "TTFT",
    "ttft_mean_ms": "TTFT, mean",
    "tpot_ms": "TPOT",
    "tpot_mean_ms": "TPOT, mean",
    "itl_mean_ms": "ITL, mean",
    "itl_median_ms": "ITL, median",
    "decode_step_ms": "decode step",
    "e2e_latency_s": "end-to-end latency",
    "decode_tok_s": "decode rate",
    "decode_throughput_tok_s_per_gpu": "decode rate of a device",
    "prefill_throughput_tok_s_per_gpu": "prefill rate of a device",
    "output_throughput_tok_s": "output rate",
    "output_throughput_tok_s_per_gpu": "output rate of a device",
    "avg_power_W": "mean power",
    "energy_per_output_token_J": "energy of an output token",
    "energy_per_request_J": "energy of a request",
    "energy_per_step_J": "energy of a decode step",
    "prefill_energy_J": "energy of a prefill",
}


def has(numbers: dict, id: str) -> bool:
    """Say whether a number was published and is no missing one."""
    return id in numbers and not numbers[id].missing


def quoted(numbers: dict, id: str, role: str = "val") -> str:
    """Quote a published number by id; a missing one is a dash."""
    return f"{{{role}}}`{id}`" if has(numbers, id) else "–"


def table(
    head: list[str], rows: Iterable[list[str]], numeric_from: int = 1, numeric_to: int | None = None
) -> list[str]:
    """Return a table of a page, which scrolls where it is wider than the page."""
    return [":::{div} wide-table", *lines(head, rows, numeric_from, numeric_to), ":::", ""]


def boxed(*lines: str) -> list[str]:
    """Return sentences whose figures open a box, as the tables of their section are told."""
    return [":::{div} told", *lines, ":::", ""]


def cited(keys: Iterable[str]) -> str:
    """Link source keys to the registry."""
    return ", ".join(f"{{ref}}`{key} <source-{key.lower()}>`" for key in keys)
