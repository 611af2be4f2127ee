"""Cards: every law and derivation says where it holds, and shows numbers and limits that agree."""

import math
import re
from functools import cache

import pytest
import sympy as sp

from inferecon import symbols as s
from inferecon.anchors import slug
from inferecon.edition import pages
from inferecon.laws import SERVICE
from inferecon.laws.catalogue import BY_ID, CHAPTERS, DERIVATIONS, LAWS
from inferecon.limits import SHARES, own
from inferecon.pages import cards
from inferecon.pages.laws import derivation_text, law_text, list_text
from inferecon.report.elasticities import elasticities
from inferecon.symbols import GLOSSARY, SYMBOLS
from inferecon.worked import EVERYTHING, choices, chosen, of_derivation, of_law

every_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.id)
every_derivation = pytest.mark.parametrize("name", DERIVATIONS)
REGIME = re.compile(r"^Holds (everywhere its [a-z ]+|where \$.+\$)\.", re.MULTILINE)


@cache
def listed(chapter):
    return list_text(chapter, set())


def text_of(law):
    """What the page of a law has about it: its card, or its place in the list."""
    if law.id in pages():
        return law_text(law, set())
    (text,) = (listed(chapter) for chapter, laws in CHAPTERS.items() if law in laws)
    return text.partition(f'id="row-{law.id.lower()}"')[2].partition('<a id="row-')[0]


# What stands on a card -------------------------------------------------------------------------


@every_law
def test_a_law_has_regime_dimensions_example_and_box(law):
    text = text_of(law)
    assert REGIME.search(text) and "Dimensions checked: " in text
    assert text.count("<summary>Worked example</summary>") == 1
    assert text.count('class="cite"') == 1
    assert text.count("<details") == text.count("</details>")


@every_derivation
def test_a_derivation_has_regime_example_box_and_the_law_of_each_step(name):
    text = derivation_text(name)
    assert REGIME.search(text) and "Dimensions were checked at each step." in text
    assert text.count("<summary>Worked example</summary>") == 1 and f"**{name}**" in text
    steps = len(DERIVATIONS[name].steps)
    assert text.count('class="cite"') == 1 + steps and text.count("]{.by}") == steps


def test_a_step_names_the_law_it_used():
    text = derivation_text("ITL-MEMORY-BOUND")
    assert "traffic at peak bandwidth [law {ref}`TIME-MEMORY-DECODE <law-time-memory" in text
    assert "[law {ref}`ITL <law-itl>`]{.by}" in text  # the premise is that law
    assert "[one branch of the maximum]{.by}" in text
    assert "result of {ref}`SPEC-ONE-DRAFT" in derivation_text("SPEC-EVEN-PROOF")


@every_derivation
def test_the_law_of_a_step_is_one_of_the_report(name):
    for by in DERIVATIONS[name].by:
        known = by in cards.ALGEBRA if isinstance(by, str) else all(x in LAWS for x in by)
        assert known, by


def test_a_link_to_elasticities_has_its_anchor():
    page = elasticities()
    linked = [law for law in LAWS if cards.elasticities(law)]
    assert len(linked) > 50
    assert [x.id for x in linked if f"(elasticity-{slug(x.id)})=" not in page] == []


# Examples --------------------------------------------------------------------------------------


def test_every_input_of_an_example_is_given_by_a_record_or_chosen():
    beside = set(EVERYTHING.inputs) - set(SERVICE.inputs)
    assert chosen().keys() - beside <= {s.weight_share}  # nothing chosen that a scenario states
    assert all(GLOSSARY[x] for x in choices())


@every_law
def test_the_example_of_a_law_is_what_the_law_computes(law):
    found = of_law(law)
    assert found.remark == "" and math.isfinite(found.value)
    assert float(law(found.case.values)) == pytest.approx(found.value, rel=1e-9)


@every_derivation
def test_the_example_of_a_derivation_holds_there(name):
    found = of_derivation(DERIVATIONS[name])
    assert found.value > 0 and "does not hold" not in found.remark


def test_examples_by_hand():
    # 12 requests a second of 50 ms each: 0.6 busy, 0.6 / 0.4 x 50 ms = 75 ms
    assert of_law(BY_ID["UTILISATION"]).value == pytest.approx(0.6)
    assert of_law(BY_ID["WAIT-MM1"]).value == pytest.approx(0.075)
    assert "75.0" in of_law(BY_ID["WAIT-MM1"]).latex
    # one draft, eight in ten right: 1.8 tokens
    assert of_law(BY_ID["SPEC-TOKENS"]).value == pytest.approx(1.8)
    # a dense model: no experts in the substituted line
    assert "cases" not in of_law(BY_ID["BYTES-DECODE"]).latex


# Limits ----------------------------------------------------------------------------------------

NEAR = 1e-7


def near(variable, point):
    """A value close to a point, on the side from which it is approached."""
    if point == sp.oo:
        return 1e13
    return float(point) * (1 - NEAR) if variable in SHARES and point == 1 else float(point) + NEAR


def equations():
    for law in LAWS:
        yield law.id, law.eq, law.holds
    for name, proof in DERIVATIONS.items():
        yield name, proof.eq, proof.holds


EQUATIONS = {id: (eq, holds) for id, eq, holds in equations()}


@pytest.mark.parametrize("id", EQUATIONS)
def test_a_limit_is_where_the_equation_goes(id):
    eq, holds = EQUATIONS[id]
    for found in own(eq, holds):
        if found.variable in (s.tp, s.n_devices):
            continue  # devices become one together: see the test below
        base = {x: 0.37 + 0.011 * i for i, x in enumerate(sorted(eq.rhs.free_symbols, key=str))}
        base |= {s.mac: 1.0, s.one_token: 1.0, s.element: 1.0}
        base |= {x: base[x] / 3 for x in (s.top_k,) if x in base}
        point = found.point.subs(s.one_token, 1)
        for scale in (1.0, 30.0, 1 / 30, 900.0):
            others = {
                x: v * (1 if x in SHARES or x in (s.mac, s.one_token, s.element) else scale)
                for x, v in base.items()
            }
            at = others | {found.variable: near(found.variable, point)}
            if all(c.subs(at) == sp.true for c in found.holds):
                break
        else:
            continue
        rhs = eq.rhs.replace(sp.ceiling, lambda x: x).replace(sp.floor, lambda x: x)
        if rhs.has(sp.Piecewise, sp.Max, sp.Min) and not found.holds:
            continue  # one of several regimes: which one, depends on the numbers
        reached = complex(rhs.subs(at)).real
        if found.slope is not None:
            expected = float(found.slope.subs(others)) * at[found.variable]
            assert reached == pytest.approx(expected, rel=1e-5), found
        elif found.value == sp.oo:
            assert abs(reached) > 1e5, found
        else:
            expected = float(found.value.subs(others))
            assert reached == pytest.approx(expected, rel=1e-4, abs=1e-4), found


def test_one_device_is_the_equation_with_one_device():
    checked = 0
    for eq, holds in EQUATIONS.values():
        for found in own(eq, holds):
            if found.variable not in (s.tp, s.n_devices):
                continue
            values = {x: 1.3 + 0.07 * i for i, x in enumerate(sorted(SYMBOLS.values(), key=str))}
            values |= {s.tp: 1.0, s.ep: 1.0, s.n_devices: 1.0}
            needed = {x: values[x] for x in eq.rhs.free_symbols | found.value.free_symbols}
            if not all(c.subs(values) == sp.true for c in found.holds):
                continue
            rhs = eq.rhs.replace(sp.ceiling, lambda x: x).replace(sp.floor, lambda x: x)
            assert float(found.value.subs(needed)) == pytest.approx(float(rhs.subs(needed)))
            checked += 1
    assert checked > 20


def only(id, variable, point):
    (value,) = (
        found.value
        for found in own(BY_ID[id].eq, BY_ID[id].holds)
        if (found.variable, found.point) == (variable, sp.sympify(point))
    )
    return value


def test_limits_by_hand():
    # an empty server: nobody waits; a full one: for ever
    assert only("WAIT-MG1", s.utilisation, 0) == 0
    assert only("WAIT-MG1", s.utilisation, 1) == sp.oo
    # each draft accepted: all of them and one more; none: that one
    assert only("SPEC-TOKENS", s.acceptance, 1) == s.draft_tokens + 1
    assert only("SPEC-TOKENS", s.acceptance, 0) == 1
    # endless drafts: a geometric series
    assert only("SPEC-TOKENS", s.draft_tokens, sp.oo) == 1 / (1 - s.acceptance)
    # one token: the prefill alone
    assert only("E2E", s.osl, s.one_token) == s.ttft
    assert only("COMM-DECODE", s.n_devices, 1) == only("RING", s.tp, 1) == 0
    # weights of no width: the caches remain
    rest = (s.step_weights + s.step_caches) / s.step_caches
    assert sp.simplify(only("QUANT-DECODE", s.width_ratio, 0) - rest) == 0
