"""Which points to time, and how many layers of a model fit beside their cache."""

import re
from collections import Counter
from dataclasses import dataclass

from ..errors import BadInput, nearest
from .shapes import WIDTHS, Model, bytes_of

QUICK_BATCHES, QUICK_CONTEXTS = (1, 8, 32, 128), (1024, 8192)
BATCHES, CONTEXTS = (1, 2, 4, 8, 16, 32, 64, 128, 256), (1024, 8192, 32768)
# (batch, prompt) of a prefill, where the reader names no lengths.
QUICK_PROMPTS = ((1, 512), (1, 2048), (1, 8192), (8, 2048))
PROMPTS = (*QUICK_PROMPTS, (1, 32768))
QUICK_MINUTES = 4.5  # leaves half a minute of five to start and to make the weights
MOST = 1 << 20  # sequences or tokens of a point: beyond, a number is a slip of the hand
FREE = 0.92  # share of free memory that is used; the allocator needs the rest
PREFILL_WIDTHS = 8  # activations of a prefill, in widest rows of sixteen bits a token
CHUNK = 1 << 14  # tokens whose experts are multiplied at a time


@dataclass(frozen=True)
class Point:
    """One thing to time: a decode step over ``context`` cached tokens, or a prefill of as many."""

    phase: str  # decode or prefill
    format: str
    batch: int
    context: int

    @property
    def name(self) -> str:
        length = "c" if self.phase == "decode" else "i"
        return f"{self.phase}-{self.format}-b{self.batch}-{length}{self.context}"


def formats(text: str) -> list[str]:
    """Return the formats named.  Raises BadInput for one that is not built."""
    found = list(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    for name in found:
        if name not in WIDTHS:
            raise BadInput(f"--formats: {name!r} is not measured{nearest(name, WIDTHS)}")
    if not found:
        raise BadInput(f"--formats is empty; known: {', '.join(WIDTHS)}")
    return found


def numbers(text: str, option: str, default: tuple[int, ...]) -> list[int]:
    """Return whole numbers between commas, or the default.  Raises BadInput."""
    if not text:
        return list(default)
    found = []
    for part in text.split(","):
        if not re.fullmatch(r"[0-9]{1,40}", part.strip()):
            raise BadInput(f"{option}: {part.strip()[:40]!r} is no whole number")
        if not 1 <= int(part) <= MOST:
            raise BadInput(f"{option}: {part.strip()} is not between 1 and {MOST:,}")
        found.append(int(part))
    return sorted(set(found))


def points(
    model: Model, chosen: list[str], batches: str = "", contexts: str = "", quick: bool = False
) -> tuple[list[Point], list[str]]:
    """Return the points in order of work, cheap ones first, and why others are left out."""
    many = numbers(batches, "--batches", QUICK_BATCHES if quick else BATCHES)
    lengths = numbers(contexts, "--contexts", QUICK_CONTEXTS if quick else CONTEXTS)
    prompts = [(1, length) for length in lengths] if contexts else list(PROMPTS)
    if quick and not contexts:
        prompts = list(QUICK_PROMPTS)
    wanted = [Point("decode", f, b, c) for f in chosen for c in lengths for b in many]
    wanted += [Point("prefill", f, b, i) for f in chosen for b, i in prompts]
    left, kept = [], []
    longest, window = model["max_context"], model.window
    for point in wanted:
        if longest and point.context > longest:
            left.append(f"{point.name}: the model reads {longest:,} tokens at most")
        elif point.phase == "prefill" and window and point.context > window:
            left.append(f"{point.name}: a prefill beyond the window of {window:,} is not built")
        else:
            kept.append(point)
    order = {name: place for place, name in enumerate(chosen)}
    kept.sort(key=lambda p: (order[p.format], p.phase, p.batch * p.context, p.batch))
    return kept, left


def table_bytes(model: Model) -> int:
    """Bytes of embedding, head and norms: sixteen bits whatever the format."""
    return bytes_of(model.tables, "bf16")


def cache_bytes(layer, batch: int, context: int) -> int:
    """Bytes of one layer's cache in sixteen bits."""
    tokens = min(context, layer.window) if layer.window else context
    return batch * tokens * 2 * sum(groups * width for groups, width in layer.cache)


def working_bytes(model: Model, point: Point) -> int:
    """Bytes of activations: logits of a step, or the widest rows of a prefill."""
    if point.phase == "decode":
        rows = model["vocab_size"] + 4 * model["hidden_size"]
        scores = max(
            (model["n_heads"] * point.context * 8 for x in model.layers if x.mixer == "mla"),
            default=0,
        )
        return point.batch * (8 * rows + scores)
    tokens = point.batch * point.context
    mlp = max(model["dense_width"], model["shared_width"]) * (model["mlp_matrices"] - 1)
    width = max(model["n_heads"] * (model["head_dim"] or 256), mlp, model["hidden_size"])
    routed = 0
    if model["top_k"]:
        wide = 2 * model["expert_width"] * model["mlp_matrices"] + 3 * model["hidden_size"]
        routed = min(tokens, CHUNK) * model["top_k"] * wide * 2
    return tokens * width * 2 * PREFILL_WIDTHS + routed


def spread(whole: int, part: int) -> list[int]:
    """Return ``part`` places out of ``whole``, evenly spaced."""
    return [int((i + 0.5) * whole / part) for i in range(part)]


def fitting(model: Model, format: str, held: int, most: int, points: list[Point]) -> list[int]:
    """Return the places of the layers whose weights fit into ``held`` bytes, for any point.

    Weights are made once a format.  Room is kept for the point that needs least, and the
    layers that a larger point must do without are left out when it is timed.
    """
    if not points:
        return []
    for part in range(min(most, len(model.layers)), 0, -1):
        places = spread(len(model.layers), part)
        if any(needed(model, format, places, point) <= held * FREE for point in points):
            return places
    return []


def needed(model: Model, format: str, places: list[int], point: Point) -> float:
    """Bytes of these layers, their caches, the tables and the activations of a point."""
    layers = [model.layers[place] for place in places]
    weights = sum(bytes_of(layer.shapes, format) for layer in layers)
    caches = sum(cache_bytes(layer, point.batch, point.context) for layer in layers)
    return weights + caches + table_bytes(model) + working_bytes(model, point)


def timed(model: Model, point: Point, places: list[int], held: int) -> list[int]:
    """Return which of the layers that were made also leave room for the point's cache.

    ``held`` is what is free beside the weights.
    """
    for part in range(len(places), 0, -1):
        chosen = [places[i] for i in spread(len(places), part)]
        caches = sum(cache_bytes(model.layers[i], point.batch, point.context) for i in chosen)
        if caches + working_bytes(model, point) <= held * FREE:
            return chosen
    return []


def part(model: Model, places: list[int]) -> str:
    """Say what was timed; empty for the whole model."""
    whole = len(model.layers)
    if len(places) == whole:
        return ""
    kinds = Counter(f"{model.layers[i].mixer} {model.layers[i].feed}" for i in places)
    mixed = len({(layer.mixer, layer.feed) for layer in model.layers}) > 1
    said = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
    return f"{len(places)} of {whole} layers{f' ({said})' if mixed else ''}, no head"
