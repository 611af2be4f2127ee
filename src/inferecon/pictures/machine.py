"""Pictures of what a machine makes of it: links, steps, room, queues, a single reader."""

import numpy as np

from .. import figures
from .. import symbols as s
from ..figures import Column, meaning
from ..figures.meaning import FLOP, INK, PARTS, WEIGHTS
from ..laws import SERVICE, queueing
from ..laws import communication as links
from ..laws import edge as alone
from ..numbers import digits, number
from ..scenario import Scenario

RING_OF = 8  # devices of an all-reduce
LINKED = ("a100-80gb-sxm", "h100-sxm", "b200-sxm", "mi300x")
ALONE = {  # devices with one reader, and where their names stand
    "snapdragon-8-gen3": "right",
    "jetson-agx-orin-64gb": "right",
    "apple-m4-max": "left",
    "apple-m2-ultra": "right",
    "rtx-4090": "right",
    "rtx-5090": "left",
    "rx-7900-xtx": "left",
    "l4": "right",
    "h100-sxm": "left",
    "mi300x": "left",
}


def communication():
    """Time of a ring all-reduce over the size of its message, device by device."""
    sizes = np.float64([2.0**n for n in range(10, 29, 2)])
    rows, even = [], {}
    for id in LINKED:
        given = Scenario("llama-3.1-8b", id).given()
        rate, wait = given[s.link_bandwidth], given[s.link_latency]
        told = {s.tp: RING_OF, s.message: sizes, s.link_bandwidth: rate, s.link_latency: wait}
        times = links.RING(told)
        even[id] = wait * RING_OF * rate
        rows += [
            {"x": float(q) / 1e3, "y": float(t) * 1e6, "group": meaning.short_device(id)}
            for q, t in zip(sizes, times, strict=True)
        ]
    least = digits(min(even.values()) / 1e3, 2)
    chart = figures.lines(
        rows,
        "message (kB)",
        "all-reduce (µs)",
        f"Below {least} kB an all-reduce waits for latency, on any link",
        [f"a ring of {RING_OF} devices at the link's peak rate"],
        log=True,
    )
    named = {
        "group": Column("device"),
        "x": Column("message", "kB"),
        "y": Column("ring_time", "µs"),
    }
    return figures.renamed(chart, "all-reduce over message", named)


def latency():
    """Arithmetic, traffic and the step that the longer of them makes, over the batch."""
    case = Scenario("llama-3.1-8b", "h100-sxm", isl=128, osl=128)
    batches = [2**n for n in range(11)]
    v = SERVICE.solve(case.given() | {s.batch: np.float64(batches)})
    lines = {
        "ITL, the longer of both": (s.itl, INK),
        "traffic from memory": (s.t_memory_decode, PARTS[WEIGHTS]),
        "arithmetic": (s.t_math_decode, PARTS[FLOP]),
    }
    rows = [
        {"x": b, "y": number(symbol, t).value, "group": name}
        for name, (symbol, _) in lines.items()
        for b, t in zip(batches, np.broadcast_to(v[symbol], len(batches)), strict=True)
    ]
    slower = v[s.t_math_decode] > v[s.t_memory_decode]
    over = batches[int(np.argmax(slower))]
    chart = figures.lines(
        rows,
        "batch (sequences)",
        "time of a decode step (ms)",
        f"Up to batch {over // 2:,} memory sets the pace, from {over:,} arithmetic",
        [f"{case.model_record.name}, bf16, on one {case.device.name}, short prompts"],
        log=True,
        colours={name: colour for name, (_, colour) in lines.items()},
    )
    named = {"group": Column("part"), "x": Column("batch"), "y": Column("time", "ms")}
    return figures.renamed(chart, "decode step over batch", named)


def memory():
    """Sequences that fit over their length, for devices that hold the model."""
    rows, lengths = [], np.float64([1024 * 2**n for n in range(7)])
    for id in ("l40s", "h100-sxm", "h200-sxm", "mi300x"):
        case = Scenario("llama-3.1-8b", id, isl=1, osl=1)
        most = SERVICE.solve({**case.given(), s.isl: lengths, s.osl: 0 * lengths})[s.largest_batch]
        rows += [
            {"x": int(n), "y": float(b), "group": meaning.short_device(id)}
            for n, b in zip(lengths, most, strict=True)
            if b >= 1
        ]
    at = {row["group"]: row["y"] for row in rows if row["x"] == 8192}
    least, most = min(at, key=at.get), max(at, key=at.get)
    chart = figures.lines(
        rows,
        "tokens of a sequence",
        "sequences that fit",
        f"Twice the context is half the batch: at 8,192 tokens {at[least]:,.0f} fit on "
        f"{least}, {at[most]:,.0f} on {most}",
        ["Llama-3.1-8B in bf16 on one device"],
        log=True,
    )
    named = {"group": Column("device"), "x": Column("context", "token", "tokens of a sequence")}
    named["y"] = Column("largest_batch", "", "sequences that fit")
    return figures.renamed(chart, "sequences that fit", named)


def load():
    """Mean wait for one server over its utilisation, in services."""
    busy = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9]
    laws = {
        "service times that vary, exponential": queueing.WAIT_MEMORYLESS,
        "service times all equal": queueing.WAIT_FIXED,
    }
    rows = [
        {"x": rho, "y": float(law({s.utilisation: rho, s.service_time: 1.0})), "group": name}
        for name, law in laws.items()
        for rho in busy
    ]
    most, least = (row["y"] for row in rows if row["x"] == busy[-1])
    chart = figures.lines(
        rows,
        "utilisation",
        "mean wait (services)",
        f"A server busy nine tenths of the time makes all wait {digits(least)} or {digits(most)} "
        "services",
        ["one server, requests that arrive independently"],
    )
    named = {"group": Column("services"), "x": Column("utilisation")}
    named["y"] = Column("wait over service_time", "", "mean wait in services")
    return figures.renamed(chart, "wait over utilisation", named)


def edge():
    """Tokens a second of one reader over the memory bandwidth, in a four-bit format."""
    rows = []
    for id, side in ALONE.items():
        case = Scenario("llama-3.1-8b", id, weights="int4-awq")
        v = case.values
        rate = float(alone.EDGE_RATE({**v, s.token_weights: alone.READ(v)}))
        row = {"name": meaning.short_device(id), "x": v[s.hbm_bandwidth] / 1e9, "y": rate}
        rows.append(row | {"class": meaning.device_class(id), "side": side})
    rows.sort(key=lambda row: row["x"])
    slow, fast = rows[0], rows[-1]
    chart = figures.cloud(
        rows,
        "memory bandwidth (GB/s)",
        "tokens a second, at most",
        f"Bandwidth alone sets the pace: {digits(slow['y'], 2)} tokens a second on "
        f"{slow['name']}, {digits(fast['y'], 2)} on {fast['name']}",
        ["Llama-3.1-8B with int4 weights, one reader, short context"],
    )
    named = {
        "name": Column("device"),
        "memory bandwidth (GB/s)": Column("hbm_bandwidth", "GB/s", "memory bandwidth"),
        "tokens a second, at most": Column("edge_rate", "token/s", "at most"),
    }
    return figures.renamed(chart, "tokens a second over bandwidth", named)
