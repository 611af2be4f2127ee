"""Pictures of what is done about it: drafts, formats, joules, dollars, and what is predicted."""

import numpy as np

from .. import figures, gallery
from .. import symbols as s
from ..book import Case
from ..figures import Column
from ..figures.meaning import INK
from ..forecast import outlook
from ..laws import SERVICE
from ..laws import speculation as drafts
from ..numbers import digits, number
from ..scenario import Scenario

BATCHES = [2**n for n in range(9)]
FORMATS = ("bf16", "fp8", "int4-awq")
JUDGED = Scenario("llama-3.1-8b", "h100-sxm", weights="fp8", activations="fp8")


def speculation():
    """Speed-up over the acceptance of a draft, by the number of drafts; verification is free."""
    accepted, cost = [0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95], 0.1
    rows = []
    for count in (1, 2, 4, 8):
        for a in accepted:
            told = {s.acceptance: a, s.draft_tokens: count, s.draft_cost: cost, s.verify_cost: 1.0}
            gain = drafts.SPEEDUP({**told, s.tokens_per_step: drafts.TOKENS(told)})
            name = f"{count} draft{'s' * (count > 1)}"
            rows.append({"x": a, "y": float(gain), "group": name})
    at = {row["group"]: row["y"] for row in rows if row["x"] == 0.6}
    best, most = max(at, key=at.get), [*at][-1]
    chart = figures.lines(
        rows,
        "drafts accepted (share)",
        "speed-up (times)",
        f"Of drafts accepted six times in ten {best} pay best, {digits(at[best])} times; "
        f"{most} make {digits(at[most])}",
        [f"small batches: verification free, a draft costs {cost:g} of a step"],
        floor=True,
    )
    named = {"group": Column("drafts"), "x": Column("acceptance"), "y": Column("spec_speedup")}
    return figures.renamed(chart, "speed-up by drafts", named)


def quantisation():
    """How much faster a step gets in a narrower format, over the batch."""
    times = {}
    for weights in FORMATS:
        acts = "fp8" if weights == "fp8" else "bf16"
        case = Scenario("llama-3.1-8b", "h200-sxm", weights=weights, activations=acts)
        times[weights] = SERVICE.solve(case.given() | {s.batch: np.float64(BATCHES)})[s.itl]
    rows = [
        {"x": b, "y": float(slow / t), "group": weights}
        for weights in FORMATS
        for b, slow, t in zip(BATCHES, times["bf16"], times[weights], strict=True)
    ]
    last = [row["y"] for row in rows if row["group"] == FORMATS[-1]]
    chart = figures.lines(
        rows,
        "batch (sequences)",
        "decode, times as fast as bf16",
        f"Four bits decode {digits(last[0])} times as fast alone and {digits(last[-1])} times "
        f"at batch {BATCHES[-1]:,}",
        [f"{case.model_record.name} on one {case.device.name}, caches in bf16, 1,024 tokens in"],
        log=True,
        floor=True,
    )
    named = {"group": Column("format"), "x": Column("batch"), "y": Column("itl of bf16 over itl")}
    return figures.renamed(chart, "speed of formats over batch", named)


def energy():
    """What the energy of a token is made of, over the batch."""
    case = Case(model="deepseek-r1-distill-llama-8b", hardware="h200-sxm")
    return gallery.energy(case, BATCHES)


def cost():
    """What prefill and decode of an answer token cost, over the batch."""
    case = Case(model="deepseek-r1-distill-llama-8b", hardware="h200-sxm", isl=4096, osl=1024)
    return gallery.cost(case, BATCHES)


def calibration():
    """The bound of a step, what is predicted with its interval, and what was measured."""
    found = outlook(JUDGED, "vllm", BATCHES, [JUDGED.isl] * len(BATCHES)).metrics["tpot_ms"]
    bound = SERVICE.solve(JUDGED.given() | {s.batch: np.float64(BATCHES)})[s.itl]
    names = ("bound, derived", "vLLM, predicted, 90 % interval")
    rows = [
        {"x": b, "y": number(s.itl, t).value, "group": names[0]}
        for b, t in zip(BATCHES, bound, strict=True)
    ]
    ends = zip(BATCHES, *(1e3 * end for end in found), strict=True)
    rows += [
        {"x": b, "y": float(t), "low": float(low), "high": float(high), "group": names[1]}
        for b, t, low, high in ends
    ]
    ratio = found.value / bound
    chart = figures.lines(
        rows,
        "batch (sequences)",
        "time of a token (ms)",
        f"An engine takes {digits(min(ratio))} to {digits(max(ratio))} times the bound",
        [f"{JUDGED.model_record.name}, fp8, on one {JUDGED.device.name}, 1,024 tokens in and out"],
        log=True,
        colours={names[0]: INK, names[1]: INK},
    )
    named = {"group": Column("figure"), "x": Column("batch"), "y": Column("itl", "ms", "time")}
    return figures.renamed(chart, "bound and prediction over batch", named)
