"""What is left of a law when something becomes very small or very large, taken by SymPy.

Two questions.  ``own`` takes one equation to its limits while every other letter of it
stands still.  ``limit`` puts in all laws that depend on the variable before.
"""

from functools import cache
from itertools import product
from typing import NamedTuple

import sympy as sp

from . import symbols as s
from .analysis import Regime, regimes
from .laws.cache import GQA_ONLY
from .laws.catalogue import LAWS


class Limit(NamedTuple):
    """What a quantity tends to, or what it grows by for each unit if nothing bounds it."""

    symbol: sp.Basic
    variable: sp.Symbol
    point: sp.Expr
    holds: tuple[sp.Basic, ...]
    value: sp.Expr
    slope: sp.Expr | None


BY_SYMBOL = {law.symbol: law for law in LAWS}
ONE_DEVICE = {s.tp: 1, s.ep: 1, s.n_devices: 1}
ATTENTION = GQA_ONLY | {s.n_csa0_layers: 0, s.n_local_layers: 0}
ATTENTION |= {s.state_elements: 0, s.flop_state: 0}
DENSE = ONE_DEVICE | ATTENTION | {s.n_experts: 0, s.n_moe_layers: 0}
NO_EXPERTS = sp.Eq(s.n_experts, 0)
# Variable, point, what is put in before, and the quantities that are taken to the limit.
TAKEN = (
    (s.batch, 1, ONE_DEVICE, (s.experts_decode, s.decode_bytes_device)),
    (s.batch, 1, DENSE, (s.decode_bytes_device, s.intensity, s.t_math_decode, s.itl, s.ttft)),
    (s.batch, sp.oo, ONE_DEVICE, (s.experts_decode, s.decode_bytes_device)),
    (s.batch, sp.oo, DENSE, (s.intensity, s.t_math_decode, s.itl, s.ttft, s.decode_throughput)),
    (s.batch, sp.oo, DENSE, (s.interactivity, s.cost_per_input_token)),
    (s.context, 0, DENSE, (s.flop_core_decode, s.flop_decode, s.kv_read_device)),
    (s.context, 0, DENSE, (s.decode_bytes_device, s.intensity, s.itl)),
    (s.context, sp.oo, DENSE, (s.flop_core_decode, s.flop_decode, s.kv_read_device)),
    (s.context, sp.oo, DENSE, (s.decode_bytes_device, s.intensity, s.itl, s.interactivity)),
    (s.n_devices, 1, ONE_DEVICE, (s.weight_bytes_device, s.dense_read_device, s.memory_needed)),
    (s.n_devices, 1, ONE_DEVICE, (s.t_comm_decode, s.itl)),
    (s.utilisation, 0, {}, (s.ttft_loaded, s.goodput)),
    (s.utilisation, 1, {}, (s.ttft_loaded, s.goodput)),
    (s.acceptance, 0, {}, (s.spec_speedup,)),
    (s.acceptance, 1, {}, (s.spec_speedup,)),
    (s.itl_limit, sp.oo, {}, (s.throughput_slo,)),
)
# Where the letters of one equation are taken.  A share ends at one, a count begins there.
SHARES = (
    s.utilisation,
    s.acceptance,
    s.prefill_share,
    s.cached_share,
    s.busy_share,
    s.math_share,
    s.quantised_share,
    s.weight_share,
    s.width_ratio,
    s.cache_ratio,
)
COUNTS = (s.batch, s.group_batch, s.draft_tokens, s.peak_ratio)
LENGTHS = (s.isl, s.osl, s.chunk_tokens, s.page_tokens)
POINTS: dict[sp.Symbol, tuple] = {x: (sp.Integer(1), sp.oo) for x in COUNTS}
POINTS |= {x: (s.one_token, sp.oo) for x in LENGTHS} | {x: (0, 1) for x in SHARES}
POINTS |= {s.context: (0, sp.oo), s.token_rate: (0,)}
POINTS |= {s.arrival_rate: (0,), s.itl_limit: (sp.oo,), s.ttft_limit: (sp.oo,)}
REGIMES = 3  # more of them tell a reader nothing
LONG = 40  # operations beyond which SymPy's own search for a limit takes too long
IDLE = 1 - s.top_k / s.n_experts


def limits(only: sp.Symbol | None = None) -> list[tuple[bool, Limit]]:
    """Return limits of the main laws, all laws put in; the flag says "dense model".

    ``only`` asks for those of one symbol.
    """
    return [
        (given is DENSE, found)
        for variable, point, given, symbols in TAKEN
        for symbol in symbols
        if only in (None, symbol)
        for found in limit(symbol, variable, sp.sympify(point), given)
    ]


def limit(symbol: sp.Symbol, variable: sp.Symbol, point: sp.Expr, given: dict) -> list[Limit]:
    """Return the limit of a quantity in each regime, with all laws put in between.

    ``given`` is the special case; where it does not say otherwise, there are experts.
    """
    return [
        Limit(symbol, variable, point, whole.holds, *_limit(rhs, variable, point))
        for whole in _composed(symbol, variable)
        for rhs in _special(whole.rhs, given)
    ]


def own(eq: sp.Eq, condition: sp.Basic = sp.true) -> list[Limit]:
    """Return the limits of one equation in its own letters; none that SymPy does not find.

    ``condition`` is where the equation holds; a strict one may be approached.

    At a finite point the equation stays true with the letters' values there.  Towards
    infinity, or a pole, the others must stand still, so none may depend on the variable.
    Devices become one device together.
    """
    rhs, found = _trend(eq.rhs), []
    loose = tuple(sorted(condition.atoms(sp.Le, sp.Ge), key=str))
    parts = [Regime((*part.holds, *loose), part.rhs) for part in regimes(rhs)]
    for x in (x for x in POINTS if rhs.has(x) and not (x is s.group_batch and rhs.has(s.batch))):
        free = not any(_depends(u, x) for u in rhs.free_symbols)
        for point in map(sp.sympify, POINTS[x]):
            found += _at(eq.lhs, x, point, parts, free)
    if rhs.has(*ONE_DEVICE):
        n = s.n_devices if rhs.has(s.n_devices) else s.tp
        found += _at(eq.lhs, n, sp.Integer(1), regimes(rhs.subs(ONE_DEVICE)), False)
    return found


def _at(y: sp.Basic, x: sp.Symbol, point: sp.Expr, parts: list[Regime], free: bool) -> list[Limit]:
    """Return the limit in each regime that reaches it; one for all if they agree."""
    found = []
    for part in parts:
        holds = [c.subs(x, point) for c in part.holds if c != NO_EXPERTS]
        if len(holds) < len(part.holds) or any(c == sp.false or _nothing(c) for c in holds):
            continue
        taken = _limit(part.rhs, x, point)
        pole = point == sp.oo or part.rhs.subs(x, point).has(sp.nan, sp.zoo, sp.oo)
        if taken is None or (pole and not free) or _below_zero(taken):
            return []
        found.append(Limit(y, x, point, tuple(c for c in holds if c != sp.true), *taken))
    if len({(one.value, one.slope) for one in found}) == 1:
        return [found[0]._replace(holds=())]
    return found if len(found) <= REGIMES else []


def _below_zero(taken) -> bool:
    """Say whether a limit is none: no quantity of this report is negative."""
    value, slope = taken
    return bool(value.is_extended_negative or (slope is not None and slope.is_negative))


def _nothing(condition: sp.Basic) -> bool:
    """Say whether a condition leaves no more than a single value, such as W <= 0."""
    if not isinstance(condition, (sp.Le, sp.Ge)):
        return False
    return condition.gts == 0 and bool(condition.lts.is_nonnegative)


def _composed(symbol: sp.Symbol, variable: sp.Symbol) -> list[Regime]:
    """Put in every law that depends on the variable; a maximum of two times is two regimes."""
    rhs = BY_SYMBOL[symbol].eq.rhs
    inner = sorted((u for u in rhs.free_symbols if _depends(u, variable)), key=str)
    found = []
    for own in regimes(rhs) if rhs.has(sp.Max) else [Regime((), rhs)]:
        used = [_composed(u, variable) for u in inner if u in own.rhs.free_symbols]
        names = [u for u in inner if u in own.rhs.free_symbols]
        for choice in product(*used):
            holds = (*own.holds, *(c for regime in choice for c in regime.holds))
            put = {u: regime.rhs for u, regime in zip(names, choice, strict=True)}
            found.append(Regime(holds, own.rhs.xreplace(put)))
    return found


@cache
def _depends(symbol: sp.Symbol, variable: sp.Symbol) -> bool:
    """Say whether a law stands between the symbol and the variable."""
    law = BY_SYMBOL.get(symbol)
    if law is None or symbol == variable:
        return False
    needs = law.eq.rhs.free_symbols
    return variable in needs or any(_depends(u, variable) for u in needs)


def _special(expr: sp.Expr, given: dict) -> list[sp.Expr]:
    """Put the special case in, one expression a regime; whole numbers follow their trend."""
    expr = _trend(expr.subs(given))
    absent = {u: 0 for u in expr.free_symbols if u in BY_SYMBOL and _vanishes(u, given)}
    expr = expr.subs(absent)
    return [part.rhs for part in regimes(expr) if NO_EXPERTS not in part.holds]


def _trend(expr: sp.Expr) -> sp.Expr:
    return expr.replace(sp.ceiling, lambda x: x).replace(sp.floor, lambda x: x)


def _vanishes(symbol: sp.Symbol, given: dict) -> bool:
    """Say whether a quantity is zero by itself in the special case."""
    return _trend(BY_SYMBOL[symbol].eq.rhs.subs(given)) == 0


def _limit(expr: sp.Expr, x: sp.Symbol, point: sp.Expr):
    """Value at the point, and the slope where there is none; None if SymPy finds neither."""
    if point != sp.oo:
        value = expr.subs(x, point)
        if not value.has(sp.nan, sp.zoo, sp.oo):
            return _short(value), None
        # a share and a load come to one from below, everything else to its point from above
        value = sp.limit(expr, x, point, "-" if x in SHARES and point == 1 else "+")
        return (_short(value), None) if not value.has(sp.Limit) else None
    # an expert stays idle with a probability below one, a draft may be wrong: a power dies out
    expr = expr.replace(
        lambda t: t.is_Pow and t.base in (IDLE, s.acceptance) and t.exp.has(x),
        lambda t: sp.Integer(0),
    )
    try:
        value = _at_infinity(expr, x)
        return value, _at_infinity(expr / x, x) if value == sp.oo else None
    except NotImplementedError:
        if expr.count_ops() > LONG:
            return None
    try:
        value = sp.limit(expr, x, sp.oo)
    except NotImplementedError:
        return None
    return (value, None) if value.is_finite and not value.has(sp.Limit) else None


def _short(value: sp.Expr) -> sp.Expr:
    """Return the shorter of two ways to write a value."""
    forms = [sp.factor_terms(value)]
    if value.count_ops() <= LONG and value.is_rational_function():
        forms.append(sp.cancel(value))
    return min(forms, key=lambda form: form.count_ops())


def _at_infinity(expr: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """Limit of a sum of positive terms and their ratios: that of the leading term."""
    degree, factor = _leading(expr, variable)
    return sp.oo if degree > 0 else factor if degree == 0 else sp.Integer(0)


def _leading(expr: sp.Expr, x: sp.Symbol) -> tuple[int, sp.Expr]:
    """Degree and factor of the term that grows fastest; none of equal degree may cancel."""
    if x not in expr.free_symbols:
        return 0, expr
    if expr == x:
        return 1, sp.Integer(1)
    if expr.is_Pow and expr.exp.is_Integer:
        degree, factor = _leading(expr.base, x)
        return degree * int(expr.exp), factor**expr.exp
    if not (expr.is_Mul or expr.is_Add):
        raise NotImplementedError(f"no limit of {expr}")
    terms = [_leading(arg, x) for arg in expr.args]
    if expr.is_Mul:
        return sum(degree for degree, _ in terms), sp.Mul(*(factor for _, factor in terms))
    most = max(degree for degree, _ in terms)
    return most, sp.Add(*(factor for degree, factor in terms if degree == most))
