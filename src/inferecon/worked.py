"""Worked examples: which case shows a law or a derivation best, and the numbers put in.

A case is a scenario, completed by what no scenario states: a few records, and the
choices of ``book/examples.yaml``, which are no facts.  All laws are solved together,
so the numbers of one example are those of the next.
"""

import math
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import sympy as sp
import yaml

from . import symbols as s
from .compiled import compiled
from .errors import BadInput
from .files import ROOT
from .givens import format_facts
from .law import NAME, Derivation, Law, System
from .laws.catalogue import CHAPTERS, LAWS
from .matrix import WORKLOAD, activations_for
from .numbers import digits
from .records import load
from .scenario import Scenario, choose_devices
from .substitution import substituted
from .symbols import GLOSSARY, SYMBOLS
from .units import ureg

EVERYTHING = System(LAWS)
DENSE = "deepseek-r1-distill-llama-8b/h200-sxm/bf16"
# The first that has what a law is about shows it: experts and latents, a dense model on one
# device, then one model for each part that those two lack.
CASES = (
    "deepseek-v3/h200-sxm/fp8",
    DENSE,
    "llama-2-7b/h200-sxm/bf16",
    "deepseek-v3.2/h200-sxm/fp8",
    "deepseek-v4-flash/h200-sxm/fp8",
    "gpt-oss-120b/h200-sxm/bf16",
    "gemma-3-27b/h200-sxm/bf16",
    "qwen3-next-80b-a3b/h200-sxm/bf16",
    "kimi-linear-48b-a3b/h200-sxm/bf16",
    "kimi-k3/h200-sxm/bf16",
    "minimax-m1/h200-sxm/bf16",
    "minimax-m3/h200-sxm/bf16",
    "nemotron-3-nano-30b-a3b/h200-sxm/bf16",
    "nemotron-3-super-120b-a12b/h200-sxm/bf16",
    "qwen3.5-35b-a3b/h200-sxm/bf16",
    "opt-30b/h200-sxm/bf16",
)
EDGE = "deepseek-r1-distill-qwen-1.5b/jetson-orin-nano-super/int4-awq"
# A chapter about a dense model on one device, or about a small one, begins with it.
FIRST = {
    "weights": "deepseek-v3/b200-sxm/nvfp4",
    "load": DENSE,
    "speculation": DENSE,
    "quantisation": DENSE,
    "edge": EDGE,
}
# Records that no scenario uses: the making of a device, and the water of a site.
BESIDE = (("assumptions", "embodied-h100-sxm"), ("assumptions", "wue-aws"))


class Case:
    """A scenario with everything that the laws beside it need; ``substituted`` reads it."""

    def __init__(self, name: str):
        self.name = name
        self.scenario = scenario(name)

    @cached_property
    def values(self) -> dict[sp.Symbol, float]:
        beside = {x: v for kind, id in BESIDE for x, v in load(kind, id).given.items()}
        beside |= format_facts(
            self.scenario.weights, int(self.scenario.model_record["hidden_size"])
        )
        found = EVERYTHING.solve({**beside, **chosen(), **self.scenario.given()})
        return {x: float(value) for x, value in found.items()}

    def missing(self, symbol: sp.Symbol) -> list[sp.Symbol]:
        needed = EVERYTHING.inputs_of(symbol)
        return sorted((x for x in needed if math.isnan(self.values.get(x, math.nan))), key=NAME)


class Example:
    """An equation in a case: its LaTeX with the numbers put in, and what to know about them.

    Raises BadInput where the case lacks an input, or a part that the equation divides by.
    """

    def __init__(self, case: Case, eq: sp.Eq, holds: sp.Basic, result: bool):
        self.case, self.eq = case, eq
        values = {x: case.values.get(x, math.nan) for x in eq.rhs.free_symbols | holds.free_symbols}
        absent = {x: 0 for x, value in values.items() if value == 0}
        lacking = [str(x) for x, value in values.items() if math.isnan(value)]
        if lacking or (absent and eq.rhs.subs(absent).has(sp.nan, sp.zoo, sp.oo)):
            raise BadInput(f"{case.name} lacks {', '.join(lacking) or 'a part'}")
        law = EVERYTHING.laws.get(eq.lhs)
        known = law is not None and law.eq.rhs == eq.rhs
        self.value = case.values[eq.lhs] if known else value_of(eq.rhs, case.values)
        laws = EVERYTHING.laws if result else {}
        self.remark = remark(case.values, eq, holds, laws, self.value)
        whole = case.values[eq.lhs] if eq.lhs in laws else self.value
        self.distance = 0.0 if whole == self.value else math.inf
        if self.value > 0 and whole > 0:
            self.distance = abs(math.log(self.value / whole))

    @cached_property
    def latex(self) -> str:
        return substituted(self.case, self.eq, short=True)

    @property
    def chosen(self) -> list[sp.Symbol]:
        """Inputs that are a choice, seen through all laws."""
        given = (EVERYTHING.inputs_of(x) for x in self.eq.rhs.free_symbols)
        return sorted(frozenset().union(*given) & chosen().keys(), key=str)

    @property
    def records(self) -> list[str]:
        """Records beside the scenario that a value came from."""
        needed = frozenset().union(*(EVERYTHING.inputs_of(x) for x in self.eq.rhs.free_symbols))
        needed -= self.case.scenario.given().keys() | chosen().keys()
        return [f"{kind}/{id}" for kind, id in BESIDE if needed & load(kind, id).given.keys()]


def scenario(name: str) -> Scenario:
    """Return the scenario MODEL/HARDWARE/FORMAT with the workload of the default sweep."""
    parts = name.split("/")
    if len(parts) != 3:
        raise BadInput(f"scenario {name!r}: write MODEL/HARDWARE/FORMAT")
    model, hardware, weights = parts
    activations = activations_for(weights)
    return choose_devices(model, hardware, weights=weights, activations=activations, **WORKLOAD)


@cache
def sources() -> list[Path]:
    """Return the files of the records that the examples use."""
    names = {*CASES, *FIRST.values()}
    records = {record.path for name in names for record in scenario(name).records()}
    records |= {load(kind, id).path for kind, id in BESIDE}
    return [ROOT / "data" / path for path in sorted(records)]


@cache
def choices() -> dict[sp.Symbol, str]:
    """Return the choices of the examples as they are written."""
    found = yaml.safe_load((ROOT / "book" / "examples.yaml").read_text(encoding="utf-8"))
    return {SYMBOLS[name]: str(text) for name, text in found.items()}


@cache
def chosen() -> dict[sp.Symbol, float]:
    """Return the choices of the examples in base units."""
    return {symbol: _base(text, symbol) for symbol, text in choices().items()}


def _base(text: str, symbol: sp.Symbol) -> float:
    value, _, unit = text.partition(" ")
    return float(ureg.Quantity(float(value), unit).to(GLOSSARY[symbol].unit).m)


@cache
def case(name: str) -> Case:
    return Case(name)


@cache
def of_law(law: Law) -> Example:
    """Return the example of a law: the first case that has what the law is about."""
    chapter = next(name for name, laws in CHAPTERS.items() if law in laws)
    parts = [x for x in law.eq.rhs.free_symbols if GLOSSARY[x].part]

    def fits(found: Example) -> bool:
        absent = [x for x in parts if found.case.values[x] == 0]
        return found.value != 0 and 2 * len(absent) <= len(parts) and not found.remark

    cases = dict.fromkeys([FIRST.get(chapter, CASES[0]), *CASES])
    return next(filter(fits, _examples(cases, law.eq, law.holds)), None) or next(
        _examples(cases, law.eq, law.holds)
    )


@cache
def of_derivation(proof: Derivation) -> Example:
    """Return the example of a derivation's last line: the case that comes nearest to it.

    One that ends in another letter than it began with asks for a threshold; there is
    nothing to compare it with.
    """
    symbols = {law.symbol for law in LAWS if law.eq.rhs == proof.eq.rhs} | {proof.eq.lhs}
    edge = any(law.symbol in symbols for law in CHAPTERS["edge"])
    result = proof.eq.lhs == proof.steps[0][0].lhs
    cases = dict.fromkeys([*([EDGE] if edge else []), DENSE, *CASES])
    alone = s.link_latency in proof.eq.rhs.free_symbols  # one device has nobody to talk to
    return min(
        (
            found
            for found in _examples(cases, proof.eq, proof.holds, result)
            if found.value > 0 and not (alone and found.case.values[s.tp] == 1)
        ),
        key=lambda found: ("hold" in found.remark, round(found.distance, 9)),
    )


def _examples(names, eq, holds, result=False) -> Iterator[Example]:
    """Yield the example in each case that has every input."""
    for name in names:
        try:
            yield Example(case(name), eq, holds, result)
        except BadInput:
            continue


def value_of(expr: sp.Expr, values: dict[sp.Symbol, float]) -> float:
    """Return the value of an expression in base units; zero for a part that is absent."""
    needed = list(expr.free_symbols)
    with np.errstate(all="ignore"):
        (value,) = compiled(needed, [expr])(*(np.float64(values[x]) for x in needed))
    return float(value)


def remark(values: dict, eq: sp.Eq, holds: sp.Basic, laws, special: float) -> str:
    """Say where a special case, of value ``special``, is not the case, compared with ``laws``."""
    said = []
    if holds.subs({x: values[x] for x in holds.free_symbols if x in values}) == sp.false:
        said.append(f"does not hold here: it needs {holds}")
    whole = values[eq.lhs] if eq.lhs in laws else math.nan
    if not math.isclose(whole, special, rel_tol=1e-9) and not math.isnan(whole):
        if not special:
            return "; ".join([*said, "a special case that is not this one: nothing of it is here"])
        ratio = f" ({digits(special / whole)} to 1)" if whole else ""
        said.append(f"a special case: here the law of {eq.lhs} gives another value{ratio}")
    return "; ".join(said)
