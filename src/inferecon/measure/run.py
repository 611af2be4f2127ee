"""A run: every point of a plan timed on one device, its rows kept as soon as they are there."""

import time
from collections.abc import Callable, Iterator
from datetime import date
from itertools import groupby
from pathlib import Path

from ..errors import BadInput
from . import plan, rows
from .plan import Point
from .shapes import Model, bytes_of

HOLD, QUICK_HOLD = 2.0, 1.2  # seconds a point runs at least: the counter moves every 0.1 s


def machine():
    """Return the CUDA device.  Raises BadInput, in one sentence, where there is none."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise BadInput(
            "inferecon measure needs PyTorch with a CUDA device, and no PyTorch is installed:"
            " pip install torch nvidia-ml-py"
        ) from None
    from .clock import Card

    return Card()


def measure(
    model: Model,
    points: list[Point],
    card,
    where: rows.Where,
    out: Path,
    *,
    hold: float = HOLD,
    minutes: float = 0,
    say: Callable[[str], None] = print,
    tick: Callable[[Point], None] = lambda point: None,
) -> list[dict]:
    """Time the points that are not in the file, and return all rows of it.

    ``minutes`` bounds the run: no point begins that would not end in time if it took as long
    as the longest so far.
    """
    found, start, longest = rows.read(out), time.perf_counter(), 0.0
    open_ = [point for point in points if not rows.done(found, where, point)]
    for point in points:
        if point not in open_:
            tick(point)
    at = time.perf_counter()
    for point, answer in _timed(model, open_, card, where.layers, hold):
        if isinstance(answer, str):
            say(f"left out: {point.name}: {answer}")
        else:
            reading, part, notes = answer
            found += rows.rows(where, point, reading, part, notes)
            rows.write(out, found)
        tick(point)
        now = time.perf_counter()
        longest, at = max(longest, now - at), now
        left = len(open_) - open_.index(point) - 1
        if minutes and left and now - start + longest > minutes * 60:
            say(f"time is up: {left} points are left; run the same command again to go on")
            break
    return found


def _timed(model: Model, points: list[Point], card, layers: int, hold: float) -> Iterator:
    """Yield each point with its reading, part and notes, or with why there is none."""
    for format, same in groupby(points, lambda point: point.format):
        some = list(same)
        most = layers or len(model.layers)
        places = plan.fitting(model, format, card.free(), most, some)
        if not places:
            yield from ((point, "not one layer fits into the device's memory") for point in some)
            continue
        yield from _format(model, some, places, card, hold)


def _format(model: Model, points: list[Point], places: list[int], card, hold: float) -> Iterator:
    """Make the weights of one format, and time its points with them."""
    from .model import Built

    built = Built(model, places, points[0].format, card.device, card.fused)
    for point in points:
        built.caches = {}  # those of the point before make room first
        chosen = plan.timed(model, point, places, card.free())
        if not chosen:
            yield point, "its cache does not fit beside one layer"
            continue
        try:
            built.ready(point, chosen)
            reading = card.time(built.step, point.phase == "decode", hold)
        except RuntimeError as error:  # PyTorch's, out of memory among them
            yield point, (str(error).strip() or repr(error)).splitlines()[0]
            continue
        yield point, (reading, plan.part(model, chosen), notes(model, point, chosen, card))


def notes(model: Model, point: Point, places: list[int], card) -> str:
    """Say what stands behind a row: kernels, what is left out, power at rest."""
    mixers = {model.layers[i].mixer for i in places}
    said = ["random weights, real shapes", "embedding and LM head in sixteen bits"]
    if point.format == "fp8":
        said.append("W8A8 e4m3 per tensor, cast at run time")
    if mixers - {"mla"}:
        said.append("attention by scaled_dot_product_attention")
    if "mla" in mixers:
        decode = point.phase == "decode"
        said.append("MLA absorbed, two products and a softmax" if decode else "MLA expanded")
        if point.format == "fp8":
            said.append("KV up-projections in bf16")
    if any(model.layers[i].feed == "moe" for i in places):
        fused = card.fused and point.format != "fp8"
        said.append("uniform random routing")
        said.append("experts as a grouped product" if fused else "experts one by one")
    if any("sinks" in model.layers[i].shapes for i in places):
        said.append("attention sinks left out")
    read = sum(bytes_of(model.layers[i].shapes, point.format) for i in places)
    if point.phase == "decode" and read < 4 * card.cache:
        said.append("weights small enough to stay in the L2 cache in part")
    at_rest = f"idle {card.idle:.1f} W" if card.idle == card.idle else card.unsaid
    return "; ".join([*said, at_rest])


def whose(hardware: str, name: str) -> str:
    """Return the record of the card: the one named, or the one that the device's name stands for.

    Raises BadInput for a name that is no record.
    """
    from ..calibration.names import record_of
    from ..records import load

    if hardware:
        return record_of("hardware", hardware) or load("hardware", hardware).id
    found = record_of("hardware", name)
    if not found:
        raise BadInput(f"no record stands for the device {name!r}: name one with --hardware")
    return found


def today() -> str:
    return date.today().isoformat()
