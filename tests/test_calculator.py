"""The calculator of the page computes what Python computes: in Node, and in a browser."""

import base64
import json
import math
import subprocess
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

from inferecon.calculator import bundle, records
from inferecon.errors import BadInput
from inferecon.forecast import outlook
from inferecon.laws import SERVICE
from inferecon.matrix import CHOICES, activations_for
from inferecon.numbers import PREDICTED, digits
from inferecon.pace import PACE, by_operator
from inferecon.pages.katex_node import node
from inferecon.records import ids
from inferecon.scenario import Scenario, opened

HERE = Path(__file__).parent / "calculator"
CASES = 11_000
ENOUGH = 10_000  # of them that can be computed
SYMBOLS = list(SERVICE.laws)
SHOWN = (*records.RESULTS, *records.BOUNDS)


# The same scenarios on both sides --------------------------------------------------------------


def drawn(count: int) -> list[dict]:
    """Return random choices, as a reader makes them: many are fine, some are impossible."""
    draw, roles = np.random.default_rng(7), records.roles()

    def one_of(these):
        return these[draw.integers(len(these))]

    def about(most):
        return int(np.exp(draw.uniform(0, np.log(most))))

    found = []
    for _ in range(count):
        wild = draw.random() < 0.05
        tp = one_of((1, 2, 4, 8))
        devices = [(None, None), (tp, None), (tp, 1), (None, None)]
        if wild:
            devices = [(3, None), (16, 16), (tp, tp * one_of((1, 2, 4, 5))), (None, 2), (1, 0)]
        weights = one_of(roles["weights"])
        goes_along = [activations_for(weights), "bf16", one_of(roles["activations"])]
        activations = one_of([x for x in goes_along if x in roles["activations"]])
        hardware, (tp, ep) = one_of(ids("hardware")), one_of(devices)
        offers = [one["provider"] for one in records.data()["hardware"][hardware]["offers"]]
        found.append(
            {
                "model": one_of(ids("models")),
                "hardware": hardware,
                "weights": weights,
                "activations": activations,
                "kv": one_of(roles["kv"]),
                "tp": tp,
                "ep": ep,
                "batch": about(2048),
                "isl": about(200_000 if wild else 2_000),
                "osl": about(20_000 if wild else 1_000),
                "grid": one_of(ids("grids")),
                "provider": one_of([*offers, ""]),
            }
        )
    return found


def told(choices: dict) -> tuple[dict, Scenario | None]:
    """Return what Python says of choices, and the scenario if there is one."""
    try:
        case = opened(**choices)
    except BadInput as wrong:
        return {"wrong": str(wrong)}, None
    missing = {x.name: sorted(m.name for m in case.missing(x)) for x in SHOWN}
    said = {"wrong": "", "tp": case.tp, "ep": case.ep, "obstacles": case.obstacles}
    return {**said, "missing": missing}, case


@pytest.fixture(scope="module")
def cases():
    """Choices, what Python says of each, and all values as a table."""
    choices = drawn(CASES)
    found = [told(one) for one in choices]
    given = [case.given() if case else {} for _, case in found]
    inputs = {x: np.float64([one.get(x, math.nan) for one in given]) for x in SERVICE.inputs}
    values = SERVICE.solve(inputs)
    table = np.stack([values[x] * np.ones(CASES) for x in SYMBOLS], axis=1)
    table[[case is None for _, case in found]] = math.nan
    return choices, [words for words, _ in found], table


def question(choices: list[dict]) -> str:
    names = [symbol.name for symbol in SYMBOLS]
    return json.dumps({"records": records.data(), "cases": choices, "symbols": names})


def same(cases, said: list[dict], values: np.ndarray) -> None:
    """Compare words and numbers; of the numbers the last bits may differ."""
    choices, words, expected = cases
    for one, theirs, ours in zip(choices, said, words, strict=True):
        assert {key: theirs[key] for key in ours} == ours, one
    computed = [n for n, one in enumerate(words) if not one["wrong"]]
    assert ENOUGH <= len(computed) < CASES
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=0)
    assert np.isfinite(expected[computed]).mean() > 0.8  # facts are missing, too


def test_node_computes_what_python_computes(cases, modules, tmp_path):
    (tmp_path / "data.json").write_text(question(cases[0]), encoding="utf-8")
    out = tmp_path / "values"
    command = [node(), HERE / "parity.mjs", modules, tmp_path / "data.json", out]
    subprocess.run(command, check=True)
    values = np.fromfile(out).reshape(len(cases[0]), -1)
    same(cases, json.loads(out.with_suffix(".json").read_text()), values)


def test_a_browser_computes_what_python_computes(cases, browser, tmp_path):
    together = (HERE / "together.mjs").read_text(encoding="utf-8")
    script = bundle.bundled("together.mjs", {**bundle.modules(), "together.mjs": together})
    asked = f"const asked = {question(cases[0])};"  # as a file: arguments take a minute
    (tmp_path / "page.html").write_text(f"<script>{script}{asked}</script>", encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    said, values = page.evaluate(
        """() => {
            const {said, values} = together.computed(asked.records, asked.cases, asked.symbols);
            const bytes = new Uint8Array(values.buffer), parts = [];
            for (let at = 0; at < bytes.length; at += 32768)
                parts.push(String.fromCharCode(...bytes.subarray(at, at + 32768)));
            return [JSON.stringify(said), btoa(parts.join(''))];
        }"""
    )
    table = np.frombuffer(base64.b64decode(values)).reshape(len(cases[0]), -1)
    same(cases, json.loads(said), table)
    page.close()


# Pure modules ------------------------------------------------------------------------------------


def test_modules_in_node(modules, node_test):
    draw = np.random.default_rng(5)
    values = [*(10.0 ** draw.uniform(-9, 9, 3000)), *map(float, range(0, 3000, 7))]
    values += (
        [n + 0.5 for n in range(60, 130)] + [n / 8 for n in range(800)] + [-1.5, 999.5, 9995.0]
    )
    asked = {
        "records": records.data(),
        "vectors": [[value, digits(value)] for value in values],
        "presets": records.PRESETS,
    }
    node_test(HERE / "pure.test.mjs", modules, asked)


# Operators -------------------------------------------------------------------------------------


def test_operators_take_in_the_page_what_they_take_in_python(modules, tmp_path):
    """The bounds of operators are the same on both sides, and add up to those of their phase."""
    cases = [case for _, case in map(told, drawn(400)) if case is not None]
    asked = [{name: getattr(case, name) for name in CHOICES} for case in cases]
    question = {"records": records.data(), "cases": asked}
    (tmp_path / "asked.json").write_text(json.dumps(question), encoding="utf-8")
    command = [node(), HERE / "pace.mjs", modules, tmp_path / "asked.json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    bounds = [x for x in PACE.laws if x.name.startswith("t_")]
    for case, theirs in zip(cases, json.loads(ran.stdout), strict=True):
        ours = by_operator(case.values)
        assert theirs.keys() == ours.keys()
        for bound in bounds:
            mine = [one[bound] for one in ours.values()]
            said = [
                math.nan if x is None else x for x in (one[bound.name] for one in theirs.values())
            ]
            np.testing.assert_allclose(said, mine, rtol=1e-12, err_msg=f"{case} {bound}")
            np.testing.assert_allclose(sum(mine), case.values[bound], rtol=1e-12)
    assert len(cases) > 300


# Predictions -----------------------------------------------------------------------------------


def test_what_is_predicted_is_what_python_predicts(modules, tmp_path):
    choices, expected = [], []
    for one, weights in zip(
        drawn(450), cycle(records.data()["predictions"]["weights"]), strict=False
    ):
        both = {"weights": weights, "activations": activations_for(weights)}
        _, case = told(one | both)
        if case is None or case.obstacles:
            continue
        found = outlook(case, "vllm", [case.batch], [case.isl])
        choices.append({name: getattr(case, name) for name in CHOICES})
        expected.append(found)
    assert len(choices) > 100
    asked = {"records": records.data(), "cases": choices}
    (tmp_path / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    command = [node(), HERE / "predictions.mjs", modules, tmp_path / "asked.json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    compared = 0
    for one, theirs, ours in zip(choices, json.loads(ran.stdout), expected, strict=True):
        for symbol in PREDICTED:
            ends = np.float64([end[0] for end in ours.symbols[symbol]])
            if np.isfinite(ends).all():
                assert theirs["known"] == ours.known[0]
                np.testing.assert_allclose(
                    theirs["values"][symbol.name], ends, rtol=1e-8, err_msg=f"{one} {symbol}"
                )
                compared += 1
            else:
                assert symbol.name not in theirs["values"], (one, symbol)
        if not any(np.isfinite(x[0][0]) for x in ours.symbols.values()):
            assert theirs["reason"] in ours.reason[0], one
    assert compared > 500
