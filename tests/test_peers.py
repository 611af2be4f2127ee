"""Other tools on the same rows: their files are whole, and errors are what they are said to be."""

import pandas as pd
import pytest

from inferecon.calibration import peers
from inferecon.errors import BadInput
from inferecon.files import DATA

HEAD = "id,metric,value,predicted\n"
ABOUT = "ran:\n  tool: {name: Tool, version: 1.2}\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "peers.yaml").write_text(ABOUT, encoding="utf-8")
    rows = "a,tpot_ms,10,12\nb,tpot_ms,10,5\nc,tpot_ms,20,22\nd,ttft_ms,100,300\n"
    (tmp_path / "tool.csv").write_text(HEAD + rows, encoding="utf-8")
    held = "id,metric,value,row,cell\na,tpot_ms,10,11,12\nb,tpot_ms,10,9,8\nc,tpot_ms,20,21,26\n"
    (tmp_path / "held_out.csv").write_text(held + "e,tpot_ms,1,9,9\n", encoding="utf-8")
    return tmp_path


def test_errors_of_a_tool_and_ours_are_of_the_same_rows(folder):
    (line,) = peers.table(folder, folder / "held_out.csv")  # d is held out nowhere

    assert ("tool", "Tool", 1.2, "tpot_ms", 3) == tuple(line.values())[:5]
    # the tool: 2/10, 5/10, 2/20; ours: 1/10, 1/10, 1/20 by row and 2/10, 2/10, 6/20 by cell
    assert (0.2, 0.8 / 3) == pytest.approx((line["median"], line["mape"]))
    assert (0.1, 0.25 / 3) == pytest.approx((line["row_median"], line["row_mape"]))
    assert (0.2, 0.7 / 3) == pytest.approx((line["cell_median"], line["cell_mape"]))


@pytest.mark.parametrize(
    "text, says",
    [
        ("id,value\na,1\n", "has not the columns"),
        (HEAD + "a,tpot_ms,1,1\na,tpot_ms,1,1\n", "'a' twice"),
    ],
)
def test_a_file_that_is_not_one_is_refused(folder, text, says):
    (folder / "tool.csv").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=says):
        peers.table(folder, folder / "held_out.csv")


def test_every_row_of_a_tool_was_measured_and_held_out():
    files = [DATA / "truth" / f"{name}.csv" for name in ("timing", "energy")]
    truth = pd.concat([pd.read_csv(file, usecols=["id", "metric", "value"]) for file in files])
    truth = truth.set_index("id")
    held = pd.read_csv(peers.HELD_OUT, usecols=["id"]).id
    found = {file.stem for file in peers.PEERS.glob("*.csv")}

    assert set(peers.named()) == found
    for peer in found:
        rows = peers.read(peer)
        said = truth.loc[rows.id]
        assert set(rows.id) <= set(held)
        assert list(said.metric) == list(rows.metric)
        assert list(said.value) == pytest.approx(list(rows.value), rel=1e-6)
        assert (rows.predicted > 0).all()


def test_every_tool_states_where_it_is_from_and_is_in_the_table():
    wanted = {"name", "version", "licence", "source", "date", "driver", "command", "options"}
    for peer, about in peers.named().items():
        assert wanted <= set(about)
        assert about["covered"] >= about["asked"] >= len(peers.read(peer))
        assert (DATA.parent / about["driver"]).is_file()
    assert set(peers.named()) == {line["peer"] for line in peers.table()}
