"""Pictures of what a model asks for: weights, cache, arithmetic, traffic."""

import numpy as np

from .. import figures
from .. import symbols as s
from ..figures import Column, meaning
from ..figures.meaning import CACHE, PARTS, WEIGHTS
from ..laws import SERVICE
from ..numbers import digits, number
from ..scenario import Scenario

DEVICE = "h200-sxm"  # no picture here rests on the device
COUNTED = {  # models of the plane, and where their names stand
    "deepseek-r1-distill-qwen-1.5b": "right",
    "llama-3.1-8b": "right",
    "llama-3.1-70b": "left",
    "llama-3.1-405b": "left",
    "mixtral-8x7b": "right",
    "gpt-oss-120b": "below",
    "qwen3-30b-a3b": "right",
    "qwen3-235b-a22b": "below",
    "deepseek-v3": "left",
    "kimi-k2": "below",
}
ATTENTIONS = {  # one model a kind of attention
    "phi-3.5-mini": "heads of their own",
    "llama-3.1-8b": "grouped heads",
    "gemma-3-12b": "five windows in six layers",
    "deepseek-v3": "latent",
    "qwen3-next-80b-a3b": "a state in three layers of four",
}
LENGTHS = [1024 * 2**n for n in range(8)]


def parameters():
    """Weights that a token meets over weights that there are."""
    rows = []
    for id, side in COUNTED.items():
        counted = Scenario(id, DEVICE).values
        total, active = (number(x, counted[x]).value for x in (s.params_total, s.params_active))
        row = {"name": meaning.short_model(id)}
        rows.append(row | {"x": total, "y": active, "family": meaning.family(id), "side": side})
    sparse = min(rows, key=lambda row: row["y"] / row["x"])
    share = 100 * sparse["y"] / sparse["x"]
    return figures.renamed(
        figures.cloud(
            rows,
            "all weights (10⁹)",
            "weights that a token meets (10⁹)",
            f"A token meets {digits(share, 2)} % of the weights of {sparse['name']}",
            ["on the dashed line it meets all of them: a dense model"],
            diagonal=True,
        ),
        "weights met by a token",
        {
            "name": Column("model"),
            "all weights (10⁹)": Column("params_total", "Gelem", "all weights"),
            "weights that a token meets (10⁹)": Column("params_active", "Gelem", "met"),
        },
    )


def cache():
    """Cache of a sequence over its length, as bytes for each of its tokens."""
    rows, hues = [], {}
    for id, says in ATTENTIONS.items():
        case, name = Scenario(id, DEVICE, isl=1, osl=1), meaning.short_model(id)
        lengths = np.float64([n for n in LENGTHS if n <= case.model_record["max_context"]])
        grown = SERVICE.solve({**case.given(), s.isl: lengths, s.osl: 0 * lengths})[s.kv_bytes]
        group = f"{says}: {name}"
        hues[group] = meaning.colour_of(id)
        rows += [
            {"x": int(n), "y": float(held / n / 1e3), "group": group}
            for n, held in zip(lengths, grown, strict=True)
        ]
    longest = max(row["x"] for row in rows)
    ends = {row["group"]: row["y"] for row in rows if row["x"] == longest}
    ratio = digits(max(ends.values()) / min(ends.values()), 2)
    chart = figures.lines(
        rows,
        "tokens of the sequence",
        "cache for each token (kB)",
        f"A token keeps {digits(min(ends.values()))} to {digits(max(ends.values()))} kB: "
        "attention decides, not size",
        [f"16 bits an element; {ratio} times apart at {longest:,} tokens"],
        log=True,
        colours=hues,
    )
    named = {"group": Column("model"), "x": Column("context", "token", "tokens")}
    named["y"] = Column("kv_bytes over context", "kB/token", "cache for each token")
    return figures.renamed(chart, "cache for each token", named)


def arithmetic():
    """FLOP of a decoded token over the tokens it attends to, in multiples of those of the first."""
    rows, hues, doubled = [], {}, {}
    for id in ("phi-3.5-mini", "llama-3.1-8b", "llama-3.1-70b", "deepseek-v3"):
        case, name = Scenario(id, DEVICE, isl=1, osl=1), meaning.short_model(id)
        lengths = np.float64([n for n in LENGTHS if n <= case.model_record["max_context"]])
        given = case.given() | {s.osl: 1.0}
        least = float(SERVICE.solve({**given, s.isl: 1.0})[s.flop_decode])
        done = SERVICE.solve({**given, s.isl: lengths})[s.flop_decode] / least
        hues[name] = meaning.colour_of(id)
        doubled[name] = float(np.interp(2.0, done, lengths)) if done[-1] > 2 else np.inf
        rows += [
            {"x": int(n), "y": float(y), "group": name} for n, y in zip(lengths, done, strict=True)
        ]
    first = min(doubled, key=doubled.get)
    chart = figures.lines(
        rows,
        "tokens attended to",
        "FLOP of a token (times those without context)",
        f"Attention doubles the FLOP of a token of {first} at {digits(doubled[first], 2)} tokens",
        ["decode; two FLOP a weight that the token meets are the rest"],
        log=True,
        colours=hues,
    )
    named = {"group": Column("model"), "x": Column("context", "token", "tokens attended to")}
    named["y"] = Column("flop_decode over that without context", "", "FLOP of a token")
    return figures.renamed(chart, "flop over context", named)


def traffic():
    """Bytes that a decode step moves for each token, over the batch."""
    case = Scenario("llama-3.1-8b", DEVICE, isl=4096, osl=1024)
    batches = [2**n for n in range(9)]
    given = case.given() | {s.batch: np.float64(batches)}
    moved = SERVICE.solve(given)[s.decode_bytes_device] / batches / 1e9
    bare = {s.kv_width: 0.0, s.state_width: 0.0}
    weights = SERVICE.solve(given | bare)[s.decode_bytes_device] / batches / 1e9
    parts = {CACHE: moved - weights, WEIGHTS: weights}
    rows = [
        {"batch": batch, "part": part, "value": float(value)}
        for part, found in parts.items()
        for batch, value in zip(batches, found, strict=True)
    ]
    over = next(b for b, w, c in zip(batches, weights, parts[CACHE], strict=True) if c > w)
    chart = figures.stack(
        rows,
        "GB moved for each token",
        f"A batch shares the weights, never the caches: from {over:,} sequences caches are more",
        [f"{case.model_record.name}, bf16, {case.isl:,} tokens in, {case.osl:,} out"],
        PARTS,
    )
    value = {"value": Column("decode_bytes_device over batch", "GB/token", "moved")}
    return figures.renamed(chart, "bytes for each token", value)
