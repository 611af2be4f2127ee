"""Speed changes no result: compiled laws, blocks of arrays, and algebra kept on disk."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import sympy as sp

from inferecon import stored
from inferecon import symbols as s
from inferecon.compiled import compiled
from inferecon.law.system import BLOCK
from inferecon.laws import SERVICE
from inferecon.laws.catalogue import LAWS
from inferecon.scenario import Scenario

CASE = dict(weights="fp8", activations="fp8", tp=8, ep=8, batch=32)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.id)
def test_a_law_is_compiled_as_sympy_compiles_it(law):
    """SymPy's own compiler is the outside value; half of the points lack the optional parts."""
    inputs, draw = sorted(law.needs, key=str), np.random.default_rng(3)
    exprs = [law.eq.rhs, law.holds]
    reference = sp.lambdify(inputs, exprs, "numpy")
    for part in (1, 1, 0):
        at = [np.float64(draw.integers(1, 9) * (part if x.is_zero is None else 1)) for x in inputs]
        with np.errstate(all="ignore"):
            expected, got = reference(*at), compiled(inputs, exprs)(*at)
        np.testing.assert_allclose(float(got[0]), float(expected[0]), rtol=1e-12)
        assert bool(got[1]) == bool(expected[1])


def test_arrays_in_blocks_are_the_same_points_one_by_one():
    given = Scenario("deepseek-v3", "h200-sxm", **CASE).given()
    batch = np.arange(1.0, 2 * BLOCK + 6).reshape(1, -1)
    isl = np.float64([[512], [4096]])
    together = SERVICE.solve({**given, s.batch: batch, s.isl: isl})
    assert together[s.itl].shape == (2, 2 * BLOCK + 5)
    assert np.ndim(together[s.params_total]) == 0, "no array goes into it"
    for i, j in ((0, 0), (1, BLOCK - 1), (0, BLOCK), (1, 2 * BLOCK + 4)):
        alone = SERVICE.solve({**given, s.batch: batch[0, j], s.isl: isl[i, 0]})
        for symbol in SERVICE.laws:
            value = together[symbol][i, j] if np.ndim(together[symbol]) else together[symbol]
            np.testing.assert_allclose(value, alone[symbol], rtol=1e-12, err_msg=symbol.name)


def test_a_missing_input_is_missing_in_every_block():
    given = Scenario("deepseek-v3", "h200-sxm", **CASE).given()
    bandwidth = np.full(3 * BLOCK, given[s.hbm_bandwidth])
    bandwidth[-1] = np.nan
    values = SERVICE.solve({**given, s.hbm_bandwidth: bandwidth})
    assert np.isnan(values[s.itl][-1]) and not np.isnan(values[s.itl][:-1]).any()
    assert not np.isnan(values[s.flop_decode]).any()


def test_what_no_law_is_written_with_is_refused():
    x = sp.Symbol("x")
    with pytest.raises(TypeError, match="gamma cannot be compiled"):
        compiled([x], [sp.gamma(x)])


def test_symbols_that_python_cannot_name_keep_apart():
    names = sp.symbols("lambda np laws _0 x", positive=True)
    twin = sp.Symbol("x", real=True)
    (value,) = compiled([*names, twin], [sum(10**n * x for n, x in enumerate((*names, twin)))])(
        *(np.float64(n) for n in range(1, 7))
    )
    assert value == 654321  # 1 + 20 + 300 + 4,000 + 50,000 + 600,000


PRINT_ALL = """
import hashlib, sympy as sp
from inferecon.laws.catalogue import DERIVATIONS, LAWS
text = [(law.id, sp.srepr(law.eq), sp.srepr(law.holds)) for law in LAWS]
text += [(id, [(sp.srepr(eq), why) for eq, why in d.steps]) for id, d in DERIVATIONS.items()]
print(hashlib.sha256(repr(text).encode()).hexdigest())
"""


def laws_with(cache) -> str:
    """Import all laws in a new process and return the digest of every equation and step."""
    ran = subprocess.run(
        [sys.executable, "-c", PRINT_ALL],
        env={**os.environ, "INFERECON_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stderr == ""
    return ran.stdout


def test_laws_are_the_same_from_a_cold_a_warm_a_damaged_and_no_cache(tmp_path):
    expected = laws_with("")
    assert laws_with(tmp_path / "new") == expected
    files = sorted((tmp_path / "new").rglob("*"))
    answers = [path for path in files if path.suffix == ".json"]
    assert len(answers) > 40 and all(path.is_dir() or path in answers for path in files)
    assert laws_with(tmp_path / "new") == expected
    damage = (
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"answer": [', '"answer": ["Add", 1, '),
        lambda text: "[]",
        lambda text: json.dumps({**json.loads(text), "answer": "batch"}),
        lambda text: "\0",
    )
    whole = [path.read_text() for path in answers]
    for n, path in enumerate(answers):
        path.write_text(damage[n % len(damage)](path.read_text()))
    assert laws_with(tmp_path / "new") == expected
    assert [path.read_text() for path in answers] == whole, "rebuilt"
    (tmp_path / "file").write_text("no folder")
    assert laws_with(tmp_path / "file") == expected


def test_an_expression_comes_back_part_by_part():
    x, y = s.batch, s.isl
    for expr in (2 * (x + y) ** 2 / 3, sp.Max(x, y, 1) - sp.log(y), sp.sqrt(x * y), -(x + y)):
        same = stored.expression(json.loads(json.dumps(stored.tree(expr))))
        assert same == expr and sp.srepr(same) == sp.srepr(expr)
    with pytest.raises(stored.NotStorable):
        stored.tree(sp.Symbol("batch"))  # not the declared one
    with pytest.raises(stored.NotStorable):
        stored.tree(sp.sin(x))


def test_an_answer_is_asked_for_once(tmp_path, monkeypatch):
    monkeypatch.setenv("INFERECON_CACHE", str(tmp_path))
    asked = []
    for _ in range(2):
        assert stored.kept(["q"], lambda: asked.append(1) or ["a"]) == ["a"]
    assert asked == [1]
    monkeypatch.setattr(stored, "version", lambda: "another")
    stored.kept(["q"], lambda: asked.append(2) or ["b"])
    assert asked == [1, 2]
