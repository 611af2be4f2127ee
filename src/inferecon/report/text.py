"""Pieces of a generated page: escaped text, quoted numbers, tables, facts with their sources."""

from collections.abc import Iterable

from ..escape import plain
from ..records import Record
from ..symbols import GLOSSARY, SYMBOLS
from ..tables import lines
from ..units import ureg

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
UNVERIFIED = "?"  # stands behind a value that nobody verified


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


def fact_text(record: Record, key: str) -> str:
    """A recorded value as written, marked if nobody verified it; a dash if it is missing."""
    if key not in record.facts:
        return "–"
    fact = record.facts[key]
    value = f"{fact.value:,}" if isinstance(fact.value, int) else str(fact.value)
    return plain(value) + ("" if fact.verified else f" {UNVERIFIED}")


def fact_in(record: Record, key: str, unit: str) -> str:
    """A recorded value as a bare number in the unit of its column."""
    if key not in record.facts:
        return "–"
    base = GLOSSARY[SYMBOLS[key.partition("@")[0]]].unit
    value = ureg.Quantity(record[key], base).to(unit).m
    return f"{value:,.5g}" + ("" if record.facts[key].verified else f" {UNVERIFIED}")


def cited(keys: Iterable[str]) -> str:
    """Link source keys to the registry."""
    return ", ".join(f"{{ref}}`{key} <source-{key.lower()}>`" for key in keys)


def facts_section(record: Record) -> list[str]:
    text = [
        "## What is on record",
        "",
        ":::{div} wide-table",
        "| fact | meaning | value | source | place |",
        "|---|---|---:|---|---|",
    ]
    for key, fact in record.facts.items():
        name, _, case = key.partition("@")
        meaning = GLOSSARY[SYMBOLS[name]].meaning + (f", {case}" if case else "")
        if fact.value == 0:
            continue
        place = plain(fact.where) + (f" (printed: {plain(fact.printed)})" if fact.printed else "")
        text.append(
            f"| `{key}` | {meaning} | {fact_text(record, key)} | {cited(fact.source)} | {place} |"
        )
    text += [
        ":::",
        "",
        f"`data/{record.path}` · {UNVERIFIED} marks a value that nobody verified; "
        "zeros are left out.",
        "",
    ]
    if record.disputes:
        text += ["**Other values in circulation**", ""]
        text += [f"- `{d.fact}`: {plain(d.value)}, says {plain(d.says)}" for d in record.disputes]
    if record.notes:
        text += ["", "**Notes**", "", *(f"- {plain(note)}" for note in record.notes)]
    return [*text, ""]
