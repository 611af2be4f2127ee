"""The nouns of the mathematics: a Law, the Derivation that proves one, a System of many."""

from .equations import (
    NAME,
    Derivation,
    Eq,
    Law,
    Max,
    Min,
    OutOfRegime,
    check_dimensions,
    declared_unit,
    display,
    latex,
    solution,
)
from .system import System

__all__ = [
    "NAME",
    "Derivation",
    "Eq",
    "Law",
    "Max",
    "Min",
    "OutOfRegime",
    "System",
    "check_dimensions",
    "declared_unit",
    "display",
    "latex",
    "solution",
]
