"""Tiers and uses as the source documents advise them, and whether the advice is the best found.

A preset says only what its document says: a limit, a kind of device, a model.
"""

import fnmatch
from dataclasses import dataclass

from ..errors import BadInput, nearest
from .choose import Plan

EDGE = "jetson-*,apple-*,snapdragon-*"


@dataclass(frozen=True)
class Preset:
    """What a document proposes; empty fields are left to whoever asks.

    ``advises`` names the devices of the advice, ``batch`` its batch.
    """

    claim: str
    says: str
    model: str = ""
    slo: str = ""
    hardware: str = ""
    formats: str = ""
    modes: str = ""
    by: str = ""
    advises: str = ""
    batch: int = 0


TIERS = {
    "online": Preset("s1-tier-online", "an H100 cluster", slo="ttft=200ms", advises="h100-*"),
    "near-line": Preset("s1-tier-nearline", "an A100 cluster", advises="a100-*"),
    "edge": Preset(  # a token in a tenth of a second is as fast as a person reads
        "s1-tier-edge",
        "Jetson devices",
        slo="itl=100ms",
        hardware=EDGE,
        formats="bf16,int4-awq",
        modes="together",
        by="kwh",
        advises="jetson-*",
    ),
}
USES = {
    "edge": Preset(
        "s3-select-edge",
        "DeepSeek-V2-Lite in INT4",
        model="deepseek-v2-lite",
        hardware=EDGE,
        formats="int4-awq",
        modes="together",
        by="kwh",
    ),
    "enterprise": Preset(
        "s3-select-enterprise",
        "DeepSeek-V2 with batch 32",
        model="deepseek-v2",
        batch=32,
    ),
    "hyperscale": Preset(
        "s3-select-hyperscale",
        "DeepSeek-V3.1 on several devices",
        model="deepseek-v3.1",
    ),
}


def chosen(tier: str, use: str) -> list[Preset]:
    """Return the presets of a tier and of a use.  Raises BadInput for an unknown one."""
    found = []
    for flag, name, known in (("tier", tier, TIERS), ("use", use, USES)):
        if name and name not in known:
            raise BadInput(f"--{flag}: no {flag} {name!r}{nearest(name, known)}")
        if name:
            found.append(known[name])
    return found


def filled(presets: list[Preset], field: str, asked: str, otherwise: str) -> str:
    """Return what was asked, else what a preset says, else something else."""
    return asked or next((x for x in (getattr(p, field) for p in presets) if x), otherwise)


def promised(presets: list[Preset], asked: str) -> str:
    """Return the limits that were asked for, and those of the presets on other latencies."""
    own = [part.strip() for part in asked.split(",") if part.strip()]
    names = {part.partition("=")[0].strip().lower() for part in own}
    for preset in presets:
        for part in filter(None, preset.slo.split(",")):
            if part.partition("=")[0] not in names:
                own.append(part)
    return ",".join(own)


def advice(plan: Plan, preset: Preset) -> str | None:
    """Say how the advice of a document compares with the plan; None where it names no choice."""
    if plan.winner is None or not (preset.advises or preset.batch):
        return None
    won = plan.winner.candidate
    head = f"{preset.claim} advises {preset.says}: "

    def fits(one) -> bool:
        named = not preset.advises or fnmatch.fnmatch(one.option.hardware, preset.advises)
        return named and (not preset.batch or one.batch == preset.batch)

    if fits(won):
        return head + "the winner is such a one."
    able = [(one.score(plan.ask.by), one) for one in plan.standing if fits(one)]
    if not able:
        return head + "none of it keeps the promise and can be ranked."
    least, best = min(able, key=lambda pair: pair[0])
    over = least / plan.winner.score(plan.ask) - 1
    unit = {"usd": "USD", "kwh": "kWh", "kg": "kg"}[plan.ask.by]
    return f"{head}the best of it, {best.name}, takes {over:.0%} more {unit} than the winner."
