"""The mathematics for programs: every law, derivation and symbol in one JSON file.

``sympy`` is text to read and ``srepr`` rebuilds the same expression with
``sympy.sympify``; the schema beside the file is exported from these classes.
"""

import json
from pathlib import Path

import sympy as sp
from pydantic import BaseModel, ConfigDict, Field

from . import worked
from .anchors import published
from .cite import url, words
from .edition import edition
from .files import replace_text
from .law import latex
from .laws.catalogue import CHAPTERS, DERIVATIONS
from .limits import own
from .symbols import GLOSSARY

NAME, SCHEMA = "derivations.json", "derivations.schema.json"


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Equation(Part):
    """``left = right`` in three writings."""

    latex: str
    sympy: str = Field(description="left and right side as text, an equals sign between them")
    left: str = Field(description="srepr of the left side")
    right: str = Field(description="srepr of the right side")


class LimitEntry(Part):
    """What a quantity tends to, in LaTeX."""

    variable: str
    point: str
    value: str
    slope: str | None = Field(description="growth for each unit of the variable, if unbounded")
    holds: list[str]


class Worked(Part):
    """The equation with numbers put in."""

    case: str = Field(description="model/hardware/format, or the workload beside it")
    latex: str
    value: float = Field(description="in the base unit")
    chosen: list[str] = Field(description="symbols whose value was chosen for the example")


class LawEntry(Part):
    id: str
    chapter: str
    symbol: str
    equation: Equation
    unit: str = Field(description="base unit of the symbol; empty for a pure number")
    counts: str = Field(description="the unit that a counting law counts, else empty")
    says: str
    source: str
    holds: str = Field(description="condition under which it is true; True: always")
    needs: list[str] = Field(description="symbols of the right side and of the condition")
    limits: list[LimitEntry]
    example: Worked
    url: str


class Step(Part):
    id: str
    equation: Equation
    why: str
    by: list[str] = Field(description="ids of the laws used, or the rule of algebra")
    url: str


class DerivationEntry(Part):
    id: str
    steps: list[Step]
    holds: str
    unit: str = Field(description="base unit of the last line, checked at each step")
    source: str
    limits: list[LimitEntry]
    example: Worked
    url: str


class SymbolEntry(Part):
    name: str
    latex: str
    unit: str
    meaning: str
    topic: str
    part: str | None = Field(description="part of a model that may be absent, then zero")
    law: str | None = Field(description="law that defines it; null: given by a record or a choice")


class Mathematics(Part):
    """All laws, derivations and symbols of one edition of inferecon."""

    edition: str
    laws: list[LawEntry]
    derivations: list[DerivationEntry]
    symbols: list[SymbolEntry]
    ids: list[str] = Field(description="everything here that can be cited")


def mathematics() -> Mathematics:
    """Collect everything, in the order of the chapters."""
    laws = [
        LawEntry(
            id=law.id,
            chapter=chapter,
            symbol=law.symbol.name,
            equation=_equation(law.eq),
            unit=_unit(law.symbol),
            counts=law.counts,
            says=law.says,
            source=law.source,
            holds=str(law.holds),
            needs=sorted(symbol.name for symbol in law.needs),
            limits=_limits(law.eq, law.holds),
            example=_worked(worked.of_law(law)),
            url=url(law.id),
        )
        for chapter, members in CHAPTERS.items()
        for law in members
    ]
    derivations = [
        DerivationEntry(
            id=id,
            steps=[
                Step(
                    id=f"{id}/step {n}",
                    equation=_equation(eq),
                    why=why,
                    by=[by] if isinstance(by, str) else [law.id for law in by],
                    url=url(f"{id}/step {n}"),
                )
                for n, ((eq, why), by) in enumerate(zip(proof.steps, proof.by, strict=True), 1)
            ],
            holds=str(proof.holds),
            unit=_unit(proof.eq.lhs) if proof.eq.lhs in GLOSSARY else "",
            source="derived",
            limits=_limits(proof.eq, proof.holds),
            example=_worked(worked.of_derivation(proof)),
            url=url(id),
        )
        for id, proof in DERIVATIONS.items()
    ]
    defined = {law.symbol: law.id for law in laws}
    symbols = [
        SymbolEntry(
            name=symbol.name,
            latex=entry.latex,
            unit=_unit(symbol),
            meaning=entry.meaning,
            topic=entry.topic,
            part=entry.part,
            law=defined.get(symbol.name),
        )
        for symbol, entry in GLOSSARY.items()
    ]
    return Mathematics(
        edition=edition(), laws=laws, derivations=derivations, symbols=symbols, ids=published()
    )


def _limits(eq, holds) -> list[LimitEntry]:
    return [
        LimitEntry(
            variable=found.variable.name,
            point=latex(found.point),
            value=latex(found.value),
            slope=None if found.slope is None else latex(found.slope),
            holds=[latex(condition) for condition in found.holds],
        )
        for found in own(eq, holds)
    ]


def _worked(found: worked.Example) -> Worked:
    return Worked(
        case=words(found.case.scenario),
        latex=found.latex,
        value=float(found.value),
        chosen=[symbol.name for symbol in found.chosen],
    )


def _equation(eq: sp.Eq) -> Equation:
    left, right = eq.args
    return Equation(
        latex=latex(eq),
        sympy=f"{left} = {right}",
        left=sp.srepr(left),
        right=sp.srepr(right),
    )


def _unit(symbol: sp.Symbol) -> str:
    return f"{GLOSSARY[symbol].unit:~}".replace(" ", "")


def write(folder: Path) -> None:
    """Write the file and its schema beside the pages."""
    text = mathematics().model_dump_json(indent=1)
    replace_text(folder / NAME, text + "\n")
    schema = Mathematics.model_json_schema()
    replace_text(folder / SCHEMA, json.dumps(schema, indent=1, sort_keys=True) + "\n")
