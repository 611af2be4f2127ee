"""A System: laws that define each other, computed together by one compiled function."""

import math
from collections.abc import Iterable
from functools import cache, cached_property
from graphlib import TopologicalSorter

import numpy as np
import sympy as sp

from ..compiled import compiled, javascript
from .equations import NAME, Law

BLOCK = 8192  # points at a time: what a hundred laws put between each other stays in the cache


class System:
    """A set of laws that define each other: one law a symbol, no circle.

    ``solve`` computes every symbol in one pass of one compiled function, over
    scalars or NumPy arrays.  A missing input is NaN and makes NaN of exactly
    the results that depend on it, so a missing fact stays missing.
    """

    def __init__(self, laws: Iterable[Law]):
        by_symbol: dict[sp.Symbol, Law] = {}
        for law in laws:
            if law.symbol in by_symbol:
                raise ValueError(f"{law.symbol} has two laws")
            by_symbol[law.symbol] = law
        order = TopologicalSorter({s: sorted(law.needs, key=NAME) for s, law in by_symbol.items()})
        self.laws = {s: by_symbol[s] for s in order.static_order() if s in by_symbol}
        inputs = {s for law in by_symbol.values() for s in law.needs} - set(self.laws)
        self.inputs = sorted(inputs, key=NAME)

    @property
    def _chain(self) -> list[tuple[sp.Symbol, sp.Basic]]:
        return [(symbol, law.eq.rhs) for symbol, law in self.laws.items()]

    @cached_property
    def _function(self):
        return compiled(self.inputs, list(self.laws), self._chain)

    def javascript(self, name: str) -> str:
        """Return the same function for a page: an object of inputs in, one of all results out."""
        return javascript(name, self.inputs, list(self.laws), self._chain)

    def solve(self, given: dict[sp.Symbol, float]) -> dict:
        """Return ``given`` plus every defined symbol, in base units.

        Arrays broadcast.  A result is an array where an array goes into it.
        """
        arguments = [given.get(s, np.nan) for s in self.inputs]
        if not any(isinstance(a, np.ndarray) for a in arguments):
            arguments = list(np.array(arguments, dtype=float))  # faster than one by one
        else:
            arguments = [a if isinstance(a, np.ndarray) else np.float64(a) for a in arguments]
        with np.errstate(all="ignore"):  # 0/0 of an absent part is cut off by its Piecewise
            values = self._in_blocks(arguments)
        return {**given, **dict(zip(self.laws, values, strict=True))}

    def _in_blocks(self, arguments: list) -> list:
        """Compute all values, a block of points after the other if there are many."""
        shapes = {a.shape for a in arguments if isinstance(a, np.ndarray)}
        shape = np.broadcast_shapes(*shapes) if shapes else ()
        if (size := math.prod(shape)) <= BLOCK:
            return self._function(*arguments)
        flat = [np.broadcast_to(a, shape).reshape(-1) if np.ndim(a) else a for a in arguments]
        whole: list = []
        for begin in range(0, size, BLOCK):
            part = slice(begin, begin + BLOCK)
            values = self._function(*(a[part] if np.ndim(a) else a for a in flat))
            if not whole:
                whole = [np.empty(size, v.dtype) if np.ndim(v) else v for v in values]
            for all_of_it, value in zip(whole, values, strict=True):
                if np.ndim(value):
                    all_of_it[part] = value
        return [v.reshape(shape) if np.ndim(v) else v for v in whole]

    def part(self, *symbols: sp.Symbol) -> "System":
        """Return the laws that these symbols rest on, their own among them."""
        needed, open_ = {}, [x for x in symbols if x in self.laws]
        while open_:
            law = self.laws[open_.pop()]
            if law.symbol not in needed:
                needed[law.symbol] = law
                open_ += [x for x in law.needs if x in self.laws]
        return System(needed[x] for x in self.laws if x in needed)

    @cache  # noqa: B019  a System lives as long as the process
    def inputs_of(self, symbol: sp.Symbol) -> frozenset[sp.Symbol]:
        """Return all given symbols that a symbol rests on."""
        law = self.laws.get(symbol)
        if law is None:
            return frozenset([symbol])
        return frozenset().union(*(self.inputs_of(s) for s in law.needs))
