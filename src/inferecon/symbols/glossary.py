"""The glossary: how a symbol is declared, and what is known of each."""

from typing import NamedTuple

import pint
import sympy as sp

from ..units import coherent


class Entry(NamedTuple):
    unit: pint.Unit
    latex: str
    meaning: str
    topic: str
    part: str | None


GLOSSARY: dict[sp.Symbol, Entry] = {}
SYMBOLS: dict[str, sp.Symbol] = {}
PARTS: dict[str, list[sp.Symbol]] = {}
_heading = {"topic": "", "part": None}


def section(topic: str, part: str | None = None) -> None:
    """Start a group of declarations; ``part`` names a part that a model may lack."""
    _heading.update(topic=topic, part=part)


def declare(name: str, unit: str, latex: str, meaning: str, *, signed: bool = False) -> sp.Symbol:
    """Add one symbol to the glossary and return it: positive, or zero where a part is absent.

    ``signed`` is for the few that may be negative, such as a correlation.
    """
    if name in SYMBOLS:
        raise ValueError(f"{name} is declared twice")
    part = _heading["part"]
    sign = {"real": True} if signed else {"nonnegative": True} if part else {"positive": True}
    symbol = sp.Symbol(name, **sign)
    GLOSSARY[symbol] = Entry(coherent(unit), latex, meaning, _heading["topic"], part)
    SYMBOLS[name] = symbol
    if part:
        PARTS.setdefault(part, []).append(symbol)
    return symbol
