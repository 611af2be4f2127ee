"""When requests arrive and how long they are, in pieces of a few thousand: memory stays flat.

Arrivals are Poisson, Gamma (bursts), or those of a trace; lengths are fixed, log-normal, or those
of a file.  A seed gives the same requests whatever serves them.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from heapq import heappush, heappushpop
from pathlib import Path

import numpy as np

from ..errors import BadInput
from ..opening import table
from ..service.table import WHOLE

PIECE = 4096
CLOCK = 1e-6  # variation of gaps below which they are equal: Gamma has no such shape
ORDERED = 32768  # requests of a trace that may stand in another order than they arrived
# Columns of published traces, in lower case: time, tokens in, tokens out.
LAYOUTS = {
    "Azure LLM inference": ("timestamp", "contexttokens", "generatedtokens"),
    "BurstGPT": ("timestamp", "request tokens", "response tokens"),
    "requests": ("arrival", "input_tokens", "output_tokens"),
}
LENGTHS = ("input_tokens", "output_tokens")
Piece = tuple[np.ndarray, np.ndarray, np.ndarray]  # arrival, tokens in, tokens out


@dataclass
class Changed:
    """Requests that are not served as they were asked for.

    ``cut`` are shortened to the longest that is served, ``silent`` have no token in or out and
    are passed over.
    """

    cut: int = 0
    silent: int = 0


@dataclass(frozen=True)
class Lengths:
    """Tokens in and out: means and coefficients of variation (0: all equal), or rows of a file."""

    isl: float = 1024.0
    osl: float = 256.0
    isl_variation: float = 0.0
    osl_variation: float = 0.0
    most: int = 131072
    rows: np.ndarray | None = None

    def drawn(
        self, draw: np.random.Generator, count: int, changed: Changed | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return whole numbers of tokens, none below one, cut at the longest context."""
        if self.rows is not None:
            rows = self.rows[draw.integers(0, len(self.rows), count)]
            isl, osl = rows[:, 0], rows[:, 1]
        else:
            isl = _lognormal(draw, self.isl, self.isl_variation, count)
            osl = _lognormal(draw, self.osl, self.osl_variation, count)
        isl, osl = np.maximum(np.rint(isl), 1), np.maximum(np.rint(osl), 1)
        if changed is not None:
            changed.cut += int((isl + osl > self.most).sum())
        isl = np.minimum(isl, self.most - 1)
        return isl, np.minimum(osl, self.most - isl)

    @property
    def longest(self) -> int:
        """Tokens that a table of step times must reach."""
        if self.rows is not None:
            return int(min(self.rows.sum(axis=1).max(), self.most))
        if not self.isl_variation and not self.osl_variation:
            return int(min(self.isl + self.osl, self.most))
        return self.most

    @property
    def means(self) -> tuple[float, float]:
        if self.rows is not None:
            return tuple(self.rows.mean(axis=0))
        return self.isl, self.osl


def _lognormal(draw, mean: float, variation: float, count: int) -> np.ndarray:
    if not variation:
        return np.full(count, float(mean))
    sigma = math.sqrt(math.log1p(variation**2))
    return draw.lognormal(math.log(mean) - sigma**2 / 2, sigma, count)


def arriving(
    rate: float,
    variation: float,
    lengths: Lengths,
    count: int,
    seed: int,
    changed: Changed | None = None,
) -> Iterator[Piece]:
    """Yield requests at a mean rate; the gaps between them are Gamma of a variation, 1: Poisson."""
    between, long = (np.random.default_rng(x) for x in np.random.SeedSequence(seed).spawn(2))
    clock = 0.0
    for begin in range(0, count, PIECE):
        size = min(PIECE, count - begin)
        if variation < CLOCK:
            gaps = np.full(size, 1 / rate)
        else:
            shape = variation**-2
            gaps = between.gamma(shape, 1 / (rate * shape), size)
        arrival = clock + np.cumsum(gaps)
        clock = float(arrival[-1])
        yield arrival, *lengths.drawn(long, size, changed)


def traced(
    path: Path,
    count: int,
    speed: float,
    lengths: Lengths | None,
    changed: Changed | None = None,
) -> Iterator[Piece]:
    """Yield the requests of a trace, ``speed`` times as fast, its first at time zero.

    Lengths longer than a context are cut to it.  A request without answer is passed over.
    """
    most, zero, before = (lengths or Lengths()).most, None, -math.inf
    changed = changed or Changed()
    rows: list[tuple[float, float, float]] = []
    for time, place, isl, osl in _ordered(_rows(path)):
        if time < before:
            raise BadInput(f"{place}: it arrives before {ORDERED:,} requests above it")
        before = time
        if osl < 1 or isl < 1:
            changed.silent += 1
            continue
        zero = time if zero is None else zero
        changed.cut += isl + osl > most
        isl = min(isl, most - 1)
        rows.append(((time - zero) / speed, isl, min(osl, most - isl)))
        count -= 1
        if len(rows) == PIECE or not count:
            yield tuple(np.array(rows, float).T)
            rows = []
        if not count:
            return
    if rows:
        yield tuple(np.array(rows, float).T)


def _ordered(rows: Iterator[tuple]) -> Iterator[tuple]:
    """Yield rows by their time; logs have them in the order in which they ended."""
    held: list[tuple] = []
    for row in rows:
        if len(held) < ORDERED:
            heappush(held, row)
        else:
            yield heappushpop(held, row)
    yield from sorted(held)


def _rows(path: Path) -> Iterator[tuple[float, str, float, float]]:
    with table(path) as (head, reader):
        head = [cell.lower() for cell in head]
        layout = next((x for x in LAYOUTS.values() if set(x) <= set(head)), None)
        if layout is None:
            known = "; ".join(f"{name}: {', '.join(x)}" for name, x in LAYOUTS.items())
            raise BadInput(f"{path.name} has none of the known columns; {known}")
        where = [head.index(name) for name in layout]
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            place = f"{path.name}, line {reader.line_num}"
            try:
                time, isl, osl = (cells[i].strip() for i in where)
                yield _seconds(time), place, _tokens(isl), _tokens(osl)
            except (ValueError, IndexError):
                raise BadInput(
                    f"{place} is no time and two numbers of tokens, whole and none below zero"
                ) from None


def _seconds(text: str) -> float:
    """Return a time in seconds: a number, or a date with a time of day."""
    try:
        found = float(text)
    except ValueError:
        moment, dot, fraction = text.partition(".")  # Azure writes seven digits, Python reads six
        digits = fraction.rstrip("Z").partition("+")[0]
        return datetime.fromisoformat(moment).timestamp() + (float(f"0.{digits}") if dot else 0.0)
    if not math.isfinite(found):
        raise ValueError(text)
    return found


def _tokens(text: str) -> float:
    """Return a number of tokens; a ValueError for what is no count of them."""
    found = float(text)
    if not (0 <= found <= WHOLE and found.is_integer()):
        raise ValueError(text)
    return found


def rows_of(path: Path) -> np.ndarray:
    """Return the lengths of a file, two columns; any of the layouts of a trace will do.

    A request without answer, as BurstGPT has them, is passed over.
    """
    with table(path) as (head, reader):
        head = [cell.lower() for cell in head]
        pairs = [LENGTHS, *(layout[1:] for layout in LAYOUTS.values())]
        pair = next((x for x in pairs if set(x) <= set(head)), None)
        if pair is None:
            raise BadInput(f"{path.name} has no columns {' and '.join(LENGTHS)}")
        where, rows = [head.index(name) for name in pair], []
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            try:
                rows.append([_tokens(cells[i]) for i in where])
            except (ValueError, IndexError):
                raise BadInput(
                    f"{path.name}, line {reader.line_num}, is no pair of numbers of tokens, whole "
                    "and none below zero"
                ) from None
    found = np.array([row for row in rows if min(row) >= 1], float)
    if not len(found):
        raise BadInput(f"{path.name} has no request of at least one token in and out")
    return found
