"""What programs read of the built site leads to what is there; this needs no browser."""

import json
from functools import cache

import pandas as pd
import pytest
from conftest import REQUIRED, UNTESTED, obstacle

from inferecon.files import DATASET
from inferecon.html import HTML


@cache
def text(page):
    return (HTML / page).read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def built():
    if why := obstacle():
        (pytest.fail if REQUIRED else pytest.skip)(f"{UNTESTED}: {why}")


def test_the_address_of_every_id_is_an_anchor():
    places = json.loads((HTML / "anchors.json").read_text(encoding="utf-8"))
    wrong = []
    for place in places.values():
        page, _, anchor = place.partition("#")
        if f'id="{anchor}"' not in text(page):
            wrong.append(place)
    assert places and wrong == []


def test_every_page_has_a_title_and_a_description_and_every_file_is_there():
    index = json.loads((HTML / "index.json").read_text(encoding="utf-8"))
    assert [page["path"] for page in index["pages"] if not (HTML / page["path"]).exists()] == []
    assert [one["path"] for one in index["datasets"] if not (HTML / one["path"]).exists()] == []
    assert len(index["datasets"]) == 6
    executed = {f"{path.parent.name}/{path.stem}" for path in HTML.glob("sweep/*/*.ipynb")}
    run = pd.read_parquet(HTML / "dataset" / DATASET.name, columns=["combination", "itl"]).dropna()
    assert {"--".join(name.rsplit("/", 1)) for name in run["combination"]} == executed
    assert [page["path"] for page in index["pages"] if not page["title"]] == []
    said = [page["path"] for page in index["pages"] if page["description"]]
    assert len(said) > 0.9 * len(index["pages"])
