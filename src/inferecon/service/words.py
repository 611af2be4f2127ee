"""How the metrics of a log are told in a terminal."""

from ..numbers import digits
from .metrics import LATENCIES, PERCENTILES

MOST = 5  # violations that are named
COLUMNS = ("mean", *(f"p{p}" for p in PERCENTILES), "max")


def table(latency: dict[str, dict | None]) -> list[str]:
    """Return a table of latencies in milliseconds, a line each."""
    lines = [f"{'ms':<26}" + "".join(f"{name:>10}" for name in COLUMNS)]
    for name, says in LATENCIES.items():
        found = latency[name]
        cells = ["missing"] if found is None else [digits(found[c] * 1e3) for c in COLUMNS]
        lines.append(f"{says:<26}" + "".join(f"{cell:>10}" for cell in cells))
    return lines


def as_text(found: dict) -> str:
    """Return counts, rates, latencies and what does not hold."""
    done, failed = found["requests"], found["failed"]
    lines = [
        f"{found['log']}: {done:,} requests completed"
        + (f", {failed:,} failed" if failed else "")
        + f", in {digits(found['window_s'])} s",
        f"{found['input_tokens']:,} tokens in, {found['output_tokens']:,} out",
        "",
        *table(found["latency_s"]),
        "",
        f"{'TPS, throughput':<26}{digits(found['tps']):>10} output tokens/s",
        f"{'RPS':<26}{digits(found['rps']):>10} requests/s",
    ]
    if found["met"]:
        if found["good_requests"] is None:
            lines.append(f"{'goodput':<26}{'missing':>10}: this log has no gaps between tokens")
        else:
            asked = done + failed
            lines.append(
                f"{'goodput':<26}{digits(found['goodput_rps']):>10} requests/s that kept "
                f"{', '.join(found['met'])}: {found['good_requests']:,} of {asked:,}"
            )
            each = (f"{limit} by {count:,}" for limit, count in found["met"].items())
            if len(found["met"]) > 1:
                lines.append(f"{'':<26}{'':>10} kept apart: {', '.join(each)}")
    return "\n".join([*lines, *found["remarks"]])


def broken(found: list[str]) -> str:
    """Say which identities do not hold, the first few by name."""
    more = f" … and {len(found) - MOST:,} more" if len(found) > MOST else ""
    return f"{len(found):,} of the log's statements cannot be: " + "; ".join(found[:MOST]) + more
