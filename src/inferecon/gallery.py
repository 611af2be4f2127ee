"""What the notebook of figures calls: one picture a law.

A part of a sum is the law itself with the other parts set to zero.
"""

import numpy as np
from IPython.display import HTML

from . import figures
from . import symbols as s
from .book import Case
from .figures import Column, meaning
from .figures.meaning import CACHE, DECODE, FLOP, FULL, GREY, LINKS, PARTS, PREFILL, WEIGHTS
from .laws import SERVICE
from .laws.economics import COST, DEVICE_TIME
from .laws.latency import E2E
from .laws.traffic import EXPERTS_DECODE
from .numbers import SHOWN, digits, number
from .records import load
from .scenario import Scenario, whole

LANES = ["network", "CPU", "GPU", "laws"]
SPANS = {
    "network (schematic)": "#B9B9B9",
    "CPU (schematic)": GREY,
    "prefill": meaning.PHASES[PREFILL],
    "decode step": meaning.PHASES[DECODE],
}
ENDS = {
    WEIGHTS: "weights bind",
    CACHE: "caches bind",
    FLOP: "arithmetic binds",
    LINKS: "links bind",
}
NONE = HTML("<p>No point of this figure can run.</p>")
ENERGY_PARTS = {
    "rest": (s.idle_draw,),
    "traffic": (s.energy_per_byte,),
    "arithmetic": (s.energy_linear, s.energy_expert, s.energy_native),
}
# Traffic is mostly that of the weights, and has their colour.
ENERGIES = {"rest": GREY, "traffic": PARTS[WEIGHTS], "arithmetic": PARTS[FLOP]}


def timeline(case: Case, tokens: int):
    """Draw the first tokens of one request; only the lengths of GPU work are to scale."""
    if not case.runs:
        return case.fit()
    values = case.scenario.values
    count = np.arange(1, max(2, whole("tokens", tokens)) + 1)  # ITL needs two
    ready = E2E({**values, s.osl: count}) * 1e3  # when each token leaves the GPU
    ttft, itl = number(s.ttft, values[s.ttft]), number(s.itl, values[s.itl])
    short = itl.value / 3  # a length that can be seen; nothing was computed for it
    spans = [
        _span("network", -2 * short, -short, "network (schematic)"),
        _span("CPU", -short, 0, "CPU (schematic)"),
        _span("GPU", 0, ready[0], "prefill"),
        *(_span("GPU", a, b, "decode step") for a, b in zip(ready[:-1], ready[1:], strict=True)),
        *(_span("CPU", t, t + short, "CPU (schematic)") for t in ready),
        *(_span("network", t + short, t + 2 * short, "network (schematic)") for t in ready),
    ]
    marks = [
        {
            "lane": "laws",
            "begin": 0,
            "end": float(ready[0]),
            "label": f"TTFT {ttft.text}",
            "side": "left",
            "what": s.ttft.name,
        },
        {
            "lane": "laws",
            "begin": float(ready[-2]),
            "end": float(ready[-1]),
            "label": f"ITL {itl.text}",
            "side": "right",
            "what": s.itl.name,
        },
    ]
    steps = ttft.value / itl.value
    title = f"The first token takes {ttft.text}, as long as {digits(steps, 2)} later ones"
    subtitle = _subtitle(case, "network and CPU not to scale")
    chart = figures.timeline(spans, marks, LANES, title, subtitle, SPANS)
    return figures.renamed(chart, f"timeline {case.scenario.name} batch {case.scenario.batch}")


def cache_growth(hardware: str, models: list[str], tokens: list[int], prompt: int):
    """Draw the cache of one sequence, 16 bits an element, from the prompt through decode."""
    rows = []
    for id in models:
        case = Scenario(id, hardware, isl=1, osl=1)
        kept = [t for t in tokens if t <= case.model_record["max_context"]]
        lengths = np.float64(kept)
        grown = SERVICE.solve({**case.given(), s.isl: lengths, s.osl: 0 * lengths})[s.kv_bytes]
        rows += [
            {"x": t, "y": number(s.kv_bytes, y).value, "group": f"{_kind(case)}: {id}"}
            for t, y in zip(kept, grown, strict=True)
        ]
    last = {row["group"]: row for row in rows}.values()
    most, least = (pick(last, key=lambda row: row["y"]) for pick in (max, min))
    ratio = digits(most["y"] / least["y"], 2)
    title = f"By its attention a sequence keeps {digits(least['y'])} or {digits(most['y'])} MB"
    subtitle = [f"at {most['x']:,} tokens, 16 bits an element: {ratio} times as much"]
    rule = {"x": whole("prompt", prompt), "before": "prefill", "after": "decode"}
    y_title = "KV cache of a sequence (MB)"
    hues = {f"{_kind(Scenario(id, hardware))}: {id}": meaning.colour_of(id) for id in models}
    chart = figures.lines(rows, "tokens so far", y_title, title, subtitle, rule=rule, colours=hues)
    named = {"group": Column("model"), "x": Column(s.context.name, "token", "tokens so far")}
    named["y"] = _column(s.kv_bytes, "cache of a sequence")
    return figures.renamed(chart, "kv cache growth", named)


def roofline(case: Case, batches: list[int]):
    """Draw prefill and decode under the roof of one device, batch by batch."""
    if not case.runs:
        return case.fit()
    batches, v = _solved(case, batches)
    if not batches:
        return NONE
    peak, bandwidth, ridge = v[s.peak_linear], v[s.hbm_bandwidth], v[s.ridge_intensity]
    steps = {
        "decode": v[s.intensity],
        "prefill": v[s.prefill_flop_device] / v[s.prefill_bytes_device],
    }
    points = [
        {
            "intensity": float(x),
            "rate": min(peak, bandwidth * float(x)) / 1e12,
            "phase": phase,
            "label": f"{phase}, batch {batch:,}",
            "text": f"{batch:,}",
        }
        for phase, found in steps.items()
        for batch, x in zip(batches, np.broadcast_to(found, len(batches)), strict=True)
    ]
    ends = (min(p["intensity"] for p in points), ridge, max(p["intensity"] for p in points))
    roof = [{"intensity": x, "rate": min(peak, bandwidth * x) / 1e12} for x in ends]
    below = [p for p in points if p["phase"] == "decode" and p["intensity"] < ridge]
    title = f"Decode waits for memory at {len(below)} of {len(batches)} batches"
    subtitle = _subtitle(case, f"ridge at {digits(ridge)} FLOP/B; beside: batch")
    chart = figures.roofline(roof, points, title, subtitle)
    return figures.renamed(chart, f"roofline {case.scenario.name}")


def experts(models: list[str], batches: list[int]):
    """Draw how many distinct experts of a layer a decode step is expected to wake."""
    rows, half, hues = [], batches[0], {}
    for id in models:
        given = load("models", id).given
        woken = EXPERTS_DECODE({**given, s.batch: batches})
        group = f"E = {given[s.n_experts]:.0f}, k = {given[s.top_k]:.0f}: {id}"
        hues[group] = meaning.colour_of(id)
        rows += [
            {"x": b, "y": float(y), "group": group} for b, y in zip(batches, woken, strict=True)
        ]
        above = [b for b, y in zip(batches, woken, strict=True) if y > given[s.n_experts] / 2]
        half = max(half, min(above, default=max(batches)))
    title = f"A batch of {half:,} wakes more than half of the experts of each"
    subtitle = ["expected in a layer, routing uniform"]
    y_title = "distinct experts of a layer"
    x_title = "batch (sequences)"
    chart = figures.lines(rows, x_title, y_title, title, subtitle, log=True, colours=hues)
    named = {"group": Column("model"), "x": Column(s.batch.name)}
    named["y"] = _column(s.experts_decode, y_title)
    return figures.renamed(chart, "experts over batch", named)


def regimes(case: Case, batches: list[int], contexts: list[int]):
    """Draw which part of a decode step lasts longest, over batch and prompt length."""
    if not case.runs:
        return case.fit()
    scenario = case.scenario
    limit = scenario.model_record["max_context"] - scenario.osl
    contexts = [c for c in contexts if c <= limit]
    if not contexts:
        return NONE
    v = scenario.sweep(batches, contexts)
    empty = {s.kv_width: 0.0, s.state_width: 0.0}
    fixed = SERVICE.solve({**v, **empty})[s.t_memory_decode]
    shape = (len(contexts), len(batches))
    memory = v[s.t_memory_decode] >= v[s.t_math_decode]  # the loser of the two is hidden
    parts = {
        WEIGHTS: np.where(memory, fixed, 0),
        CACHE: np.where(memory, v[s.t_memory_decode] - fixed, 0),
        FLOP: np.where(memory, 0, v[s.t_math_decode]),
        LINKS: np.broadcast_to(v[s.t_comm_decode], shape),
    }
    longest = np.argmax([*parts.values()], axis=0)
    fits = np.broadcast_to(v[s.memory_needed] <= v[s.memory_available], shape)
    rows = [
        {
            "batch": b,
            "context": c,
            "bound": list(parts)[longest[i, j]] if fits[i, j] else FULL,
            "itl": number(s.itl, v[s.itl][i, j]).value if fits[i, j] else None,
        }
        for i, c in enumerate(contexts)
        for j, b in enumerate(batches)
    ]
    won = [row["bound"] for row in rows if row["bound"] != FULL]
    devices = int(v[s.n_devices])
    many = [r["bound"] for r in rows if r["context"] == contexts[0] and r["bound"] != FULL]
    title = f"On {devices} device{'s' * (devices > 1)} {ENDS[won[0]]} a single request"
    title += f" and {ENDS[many[-1]]} a large batch" if many[-1] != won[0] else " and any batch"
    subtitle = _subtitle(case, "longest part of a step, and ITL in ms")
    chart = figures.regimes(rows, [*parts, FULL], title, subtitle)
    return figures.renamed(chart, f"regimes {scenario.name} on {devices}")


def energy(case: Case, batches: list[int]):
    """Draw what a token's energy is made of, batch by batch."""
    if not case.runs:
        return case.fit()
    if missing := case.scenario.missing(s.energy_per_token):
        return HTML(f"<p>No record states {', '.join(x.name for x in missing)}.</p>")
    given, parts = case.scenario.given(), {}
    for part in ENERGY_PARTS:
        others = [x for name, all_ in ENERGY_PARTS.items() if name != part for x in all_]
        alone = {**given, **dict.fromkeys(others, 0.0)}
        fitting, v = _solved(case, batches, alone)
        if not fitting:
            return NONE
        parts[part] = v[s.energy_per_token]
    leaders = [max(parts, key=lambda part: parts[part][i]) for i in range(len(fitting))]
    title = f"A token's energy is mostly {', then '.join(dict.fromkeys(leaders))}"
    return _stacked(case, s.energy_per_token, fitting, parts, title, ENERGIES)


def cost(case: Case, batches: list[int]):
    """Draw what an output token costs for prefill and for decode, batch by batch."""
    if not case.runs:
        return case.fit()
    if missing := case.scenario.missing(s.cost_per_token):
        return HTML(f"<p>No record states {', '.join(x.name for x in missing)}.</p>")
    fitting, v = _solved(case, batches)
    if not fitting:
        return NONE
    parts = {}
    for part, hidden in (("prefill", s.itl), ("decode", s.ttft)):
        time = E2E({**v, hidden: 0})
        parts[part] = COST({**v, s.device_time: DEVICE_TIME({**v, s.e2e: time})})
    dear, cheap = (number(s.cost_per_token, parts["decode"][i]).value for i in (0, -1))
    title = f"Batching takes decode from {digits(dear)} to {digits(cheap)} USD/Mtok"
    larger = parts["prefill"] > parts["decode"]
    if larger.any():
        title = f"Prefill costs more than decode from batch {fitting[int(np.argmax(larger))]:,}"
    return _stacked(case, s.cost_per_token, fitting, parts, title, meaning.PHASES)


def _stacked(case: Case, symbol, batches: list[int], parts: dict, title: str, colours: dict):
    rows = [
        {"batch": b, "part": part, "value": number(symbol, value).value}
        for part, found in parts.items()
        for b, value in zip(batches, found, strict=True)
    ]
    unit = number(symbol, 0.0).text.partition(" ")[2]
    lengths = f"{case.scenario.isl:,} tokens in, {case.scenario.osl:,} out"
    chart = figures.stack(rows, unit, title, _subtitle(case, lengths), colours)
    named = {"value": _column(symbol, "part of it")}
    return figures.renamed(chart, f"{symbol.name} {case.scenario.name}", named)


def _solved(case: Case, batches: list[int], given: dict | None = None) -> tuple[list[int], dict]:
    """Return the batches that fit into memory, and every symbol at each of them."""
    given = given or case.scenario.given()
    v = SERVICE.solve({**given, s.batch: np.float64([whole("batches", b) for b in batches])})
    fits = np.broadcast_to(v[s.memory_needed] <= v[s.memory_available], len(batches))
    kept = [b for b, fit in zip(batches, fits, strict=True) if fit]
    return kept, SERVICE.solve({**given, s.batch: np.float64(kept)})


def _kind(case: Scenario) -> str:
    """Name how the layers of a model keep their past."""
    given = case.model_record.given
    if given[s.n_mla_layers]:
        return "MLA"
    if given[s.n_local_layers]:
        return "sliding window"
    return "MHA" if given[s.n_kv_heads] == given[s.n_heads] else "GQA"


def _subtitle(case: Case, *more: str) -> list[str]:
    c, n = case.scenario, case.scenario.values[s.n_devices]
    return [*more, f"{c.model}, {c.weights}, on {n:.0f} × {c.hardware}"]


def _span(lane: str, begin: float, end: float, what: str) -> dict:
    return {"lane": lane, "begin": float(begin), "end": float(end), "what": what}


def _column(symbol, title: str) -> Column:
    return Column(symbol.name, SHOWN[symbol], title)
