"""The explorer shows the dataset, digit for digit, and its pure modules do what they say."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from inferecon.calculator import bundle
from inferecon.explorer import columns
from inferecon.figures import meaning
from inferecon.matrix import HARDWARE, MODELS
from inferecon.numbers import digits
from inferecon.pages import explorer

HERE = Path(__file__).parent / "explorer"


@pytest.fixture(scope="module")
def rows(dataset):
    """The points of the dataset in the digits of the report, read without the explorer."""
    table = pd.read_parquet(dataset)
    found = []
    for row in table[table["itl"].notna()].to_dict("records"):
        id = f"{row['combination']}/{row['batch']:.0f}/{row['isl']:.0f}"
        # g CO2e of a kWh on the world's mean grid, PUE included: as the derived columns have it
        share = row["carbon_at_limit"] / row["energy_at_limit"]
        for end in columns.ENDS:
            row[f"carbon_per_token_{end}"] = row[f"energy_per_token_{end}"] * share
        shown = {symbol.name: digits(row[symbol.name]) for symbol in columns.METRICS}
        for symbol in columns.FORETOLD:
            ends = [row[f"{symbol.name}_{end}"] for end in columns.ENDS]
            shown[f"{symbol.name}_predicted"] = [digits(end) for end in ends]
        found.append({"id": id, "known": row["known"] or "", **shown})
    return found


def test_modules_in_node(dataset, rows, tmp_path, node_test):
    draw = np.random.default_rng(3)
    values = [*10 ** draw.uniform(-8, 8, 5000), *map(float, range(1, 3000, 7)), np.nan]
    values += [
        0.9995,
        9.995,
        99.95,
        999.5,
        0.1,
        1.0,
        1e6,
        1.005,
        2.675,
        0.09996,
        1.0002,
        76.98,
        77.02,
        999.6,
    ]
    vectors = {
        "values": [digits(value) for value in values],
        "codes": columns.packed(columns.codes(values)),
    }
    asked = {"data": columns.data(dataset), "rows": rows, "vectors": vectors}
    for name, text in bundle.texts(bundle.MODULES, explorer.MODULES).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    node_test(HERE / "pure.test.mjs", tmp_path, asked)


def test_every_device_of_the_report_has_a_shape_and_every_family_a_colour(dataset):
    data = columns.data(dataset)
    families, known = {name for name, _ in data["families"]}, meaning.FAMILIES
    assert {columns._model(id)["family"] for id in MODELS} == families == {*known}
    assert {columns._device(id)["class"] for id in HARDWARE} == set(meaning.CLASSES)


def test_presets_ask_for_what_there_is(dataset):
    keys = {symbol.name for symbol in columns.METRICS} | {"batch"}
    for _, choices in explorer.PRESETS:
        assert {choices.get("x", "itl"), choices.get("y", "itl")} <= keys
        assert set(choices.get("model", [])) <= set(MODELS)
        assert set(choices.get("device", [])) <= set(HARDWARE)


def test_without_a_dataset_there_are_no_points(tmp_path):
    data = columns.data(tmp_path / "absent.parquet")
    assert data["of"] == data["columns"]["itl"] == "" and data["models"] == []


def test_the_same_dataset_gives_the_same_bytes(dataset):
    assert explorer.scripts(dataset) == explorer.scripts(dataset)
