"""The dataset: the same bytes in whatever order it came, whole or not there."""

import pyarrow.parquet as pq
import pytest

from inferecon import dataset
from inferecon.dataset import Dataset, write_dataset
from inferecon.numbers import GRID, SHOWN


@pytest.fixture
def found():
    """What 1,234 combinations published: some cannot run."""
    return {f"m{n:04}/h/f": one(n) for n in range(1234)}


def one(n):
    parameters = {"model": f"m{n:04}", "hardware": "h", "weights": "f", "tp": n % 8 + 1}
    if n % 3 == 0:
        return {"parameters": parameters, "obstacles": [f"too large by {n}"]}
    columns = ["batch", "isl", *(symbol.name for symbol in GRID)]
    rows = [[b, 1024, *(n / (b + i + 1) for i in range(len(GRID)))] for b in (1, 4)]
    return {"parameters": parameters, "grid": {"columns": columns, "rows": rows}, "records": {}}


@pytest.fixture
def small(monkeypatch):
    """Shards and row groups so small that several are needed."""
    monkeypatch.setattr(dataset, "SHARD", 100)
    monkeypatch.setattr(dataset, "ROWS", 512)


def test_the_order_of_endings_changes_no_byte(found, small, tmp_path):
    write_dataset(tmp_path / "at-once.parquet", found)
    expected = set()
    for name, order in (("a", sorted(found)), ("b", sorted(found, reverse=True))):
        data = Dataset(tmp_path / name, dict.fromkeys(found, "k"), found.__getitem__)
        for n, id in enumerate(order):
            data.add(id, found[id] if n % 2 else None)  # None: read again, as a kept result
        assert data.finish() == 1234 // 3 + 1 + 2 * (1234 - 1234 // 3 - 1)
        file = tmp_path / name / "results.parquet"
        expected.add(file.read_bytes())
        assert pq.read_table(file).equals(pq.read_table(tmp_path / "at-once.parquet"))
        assert sorted(p.name for p in (tmp_path / name).iterdir()) == ["results.parquet"]
    assert len(expected) == 1
    groups = pq.ParquetFile(tmp_path / "at-once.parquet").metadata
    assert {groups.row_group(n).num_rows for n in range(groups.num_row_groups - 1)} == {512}


def test_whole_parts_are_taken_up_and_those_of_other_inputs_are_not(found, small, tmp_path):
    keys = dict.fromkeys(found, "k")
    ids = sorted(found)
    first = Dataset(tmp_path, keys, found.__getitem__)
    for id in ids[:350]:
        first.add(id, found[id])
    assert first.finish() == pq.read_table(tmp_path / "results.parquet").num_rows
    assert len(list((tmp_path / "parts").iterdir())) == 3
    asked = []
    again = Dataset(tmp_path, keys | {ids[0]: "other"}, lambda id: asked.append(id) or found[id])
    assert len(list((tmp_path / "parts").iterdir())) == 2
    for id in ids:
        again.add(id, None)
    again.finish()
    assert sorted(asked) == ids[:100] + ids[300:]
    assert not (tmp_path / "parts").exists()


def test_a_file_made_from_the_same_keys_stays_as_it_is(found, small, tmp_path):
    keys = dict.fromkeys(found, "k")
    first = Dataset(tmp_path, keys, found.__getitem__)
    for id in found:
        first.add(id, None)
    rows, target = first.finish(), tmp_path / "results.parquet"
    before = target.stat().st_mtime_ns
    again = Dataset(tmp_path, keys, lambda id: pytest.fail("nothing need be read"))
    for id in found:
        again.add(id, None)
    assert again.finish() == rows and target.stat().st_mtime_ns == before
    other = Dataset(tmp_path, keys | {"m0001/h/f": "other"}, found.__getitem__)
    for id in found:
        other.add(id, None)
    assert other.finish() == rows and target.stat().st_mtime_ns != before


def test_a_failure_leaves_the_older_dataset(found, tmp_path):
    target = tmp_path / "results.parquet"
    write_dataset(target, {"a": one(1)})
    before = target.read_bytes()
    broken = {"a": one(1), "b": {**one(2), "grid": {"columns": ["batch"], "rows": [["no"]]}}}
    with pytest.raises(ValueError):
        write_dataset(target, broken)
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["results.parquet"]


def test_units_and_edition_travel_with_the_file(found, tmp_path):
    write_dataset(tmp_path / "x.parquet", {"a": one(1)})
    schema = pq.read_schema(tmp_path / "x.parquet")
    assert {s.name: schema.field(s.name).metadata[b"unit"].decode() for s in GRID} == {
        symbol.name: SHOWN[symbol] for symbol in GRID
    }
    assert {b"edition", b"units"} <= schema.metadata.keys()
