"""The dataset: one row a combination and grid point, as one Parquet file.

Units stand in the schema, records and edition beside every row, so a file that travels alone
still says what it holds and what it rests on.  A combination that does not run has one row that
says why.  The bytes depend on the rows only: not on the number of jobs, nor on who ended first.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from . import store, uses
from .edition import edition
from .numbers import GRID, SHOWN
from .predicting import UNITS as PREDICTED

SHARD = 500  # combinations in a part
ROWS = 100_000  # rows in a row group of the finished file
TEXT = ("combination", "model", "hardware", "weights", "activations", "kv", "grid", "provider")
COUNTS = ("tp", "ep", "osl", "batch", "isl")
CHOICES = (*TEXT[1:], "tp", "ep", "osl")
BESIDE = ("known", "engine", "unpredicted", "constants", "obstacle", "edition", "records")
NO_GRID = {"columns": [], "rows": []}
FILE, PARTS = "results.parquet", "parts"
MADE_FROM = b"made_from"  # in the file's metadata: the fingerprint of all combinations and keys


def schema(units: Mapping[str, str] | None = None) -> pa.Schema:
    """Return the columns; ``units`` are those of the quantities, by default of the report's."""
    units = units or {symbol.name: SHOWN[symbol] for symbol in GRID} | PREDICTED
    fields = [pa.field(name, pa.string()) for name in TEXT]
    fields += [pa.field(name, pa.int64()) for name in COUNTS]
    fields += [pa.field(n, pa.float64(), metadata={"unit": unit}) for n, unit in units.items()]
    fields += [pa.field(name, pa.string()) for name in BESIDE]
    about = {"batch": "", "isl": "token", **units}
    return pa.schema(fields, metadata={"edition": edition(), "units": json.dumps(about)})


def table_of(found: Mapping[str, dict]) -> pa.Table:
    """Return the rows of combinations by id, sorted, from what they published."""
    columns: dict[str, list] = {field.name: [] for field in schema()}
    for id in sorted(found):
        item = found[id]
        grid, forecast = item.get("grid", NO_GRID), item.get("predicted", {})
        beside = forecast.get("grid", NO_GRID)
        points = grid["rows"] or [[None] * len(grid["columns"])]
        fixed = {"combination": id, **{n: item["parameters"].get(n) for n in CHOICES}}
        fixed |= {
            "obstacle": "; ".join(item.get("obstacles", [])) or None,
            "edition": edition(),
            "records": json.dumps(item.get("records", {}), sort_keys=True),
            "engine": forecast.get("engine"),
            "unpredicted": forecast.get("reason") or None,
            "constants": forecast.get("constants"),
        }
        said = {tuple(row[:2]): row for row in beside["rows"]}
        nothing = [None] * len(beside["columns"])
        more = [said.get(tuple(point[:2]), nothing) for point in points]
        moving = dict(zip(beside["columns"], zip(*more, strict=True), strict=True))
        moving |= dict(zip(grid["columns"], zip(*points, strict=True), strict=True))
        for name, column in columns.items():
            column += moving.get(name) or [fixed.get(name)] * len(points)
    return pa.table(columns, schema=schema())


def compact(tables: Iterable[pa.Table], target: store.Place, columns: pa.Schema) -> int:
    """Write tables, in the order given, as one file whole or not at all; return the rows.

    Row groups have a fixed number of rows, wherever one table ends and the next begins.
    """
    floats = [field.name for field in columns if field.type == pa.float64()]
    others = [field.name for field in columns if field.name not in floats]
    folder = target.parent if isinstance(target, Path) else None
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(suffix=".part", prefix=".", dir=folder)
    os.close(handle)
    rows, waiting = 0, []
    try:
        with pq.ParquetWriter(
            name,
            columns,
            compression="zstd",
            use_dictionary=others,
            use_byte_stream_split=floats,
        ) as file:
            for table in tables:
                waiting.append(table.replace_schema_metadata(columns.metadata))
                rows += table.num_rows
                if sum(part.num_rows for part in waiting) >= ROWS:
                    whole = pa.concat_tables(waiting)
                    end = whole.num_rows - whole.num_rows % ROWS
                    file.write_table(whole.slice(0, end).combine_chunks(), row_group_size=ROWS)
                    waiting = [whole.slice(end)]
            if waiting:
                file.write_table(pa.concat_tables(waiting).combine_chunks(), row_group_size=ROWS)
        os.chmod(name, 0o644)
        store.move_in(Path(name), target)
    finally:
        Path(name).unlink(missing_ok=True)
    return rows


def write_dataset(target: store.Place, found: Mapping[str, dict]) -> int:
    """Write what combinations published as one file; return the number of rows."""
    ids = sorted(found)
    shards = (ids[start : start + SHARD] for start in range(0, len(ids), SHARD))
    return compact((table_of({id: found[id] for id in ids}) for ids in shards), target, schema())


def as_bytes(table: pa.Table) -> bytes:
    """Return a table as a Parquet file."""
    out = pa.BufferOutputStream()
    pq.write_table(table, out, compression="zstd")
    return out.getvalue().to_pybytes()


class Dataset:
    """The dataset of a sweep while it grows: a part for each shard that is complete.

    ``keys`` has for each combination a text that changes with its rows; ``read`` fetches what a
    combination published whose result was kept.  Memory holds the shards that are not complete.
    """

    def __init__(self, out: store.Place, keys: Mapping[str, str], read: Callable[[str], dict]):
        self.out, self.read, self.keys = out, read, keys
        ids = sorted(keys)
        self.shards = [ids[start : start + SHARD] for start in range(0, len(ids), SHARD)]
        self.shard_of = {id: n for n, shard in enumerate(self.shards) for id in shard}
        self.found: list[dict[str, dict | None]] = [{} for _ in self.shards]
        self.parts = [self._part(shard) for shard in self.shards]
        there = set(store.names(store.under(out, PARTS)))
        self.whole = {n for n, part in enumerate(self.parts) if part in there}
        self.made_from = uses.sha("\n".join(self.parts))
        self.finished = self._rows_there()
        for stranger in sorted(there - set(self.parts)):
            store.remove(store.under(out, PARTS, stranger))

    def _part(self, shard: Sequence[str]) -> str:
        text = "\n".join(f"{id} {self.keys[id]}" for id in shard)
        return f"{shard[0].replace('/', '--')}-{uses.sha(edition() + text)}.parquet"

    def add(self, id: str, found: dict | None) -> None:
        """Take in what a combination published; None is a result that was kept."""
        n = self.shard_of[id]
        if self.finished is not None or n in self.whole:
            return
        self.found[n][id] = found
        if len(self.found[n]) == len(self.shards[n]):
            store.write(store.under(self.out, PARTS, self.parts[n]), as_bytes(self._table(n)))
            self.found[n] = {}
            self.whole.add(n)

    def _rows_there(self) -> int | None:
        """Return the rows of the file that is there, None if it was made from something else."""
        try:
            with store.opened(store.under(self.out, FILE)) as file:
                about = pq.read_metadata(file)
        except (OSError, pa.ArrowException):
            return None
        same = (about.metadata or {}).get(MADE_FROM) == self.made_from.encode()
        return about.num_rows if same else None

    def _table(self, n: int) -> pa.Table:
        if n in self.whole:
            data = pa.BufferReader(store.read(store.under(self.out, PARTS, self.parts[n])))
            return pq.read_table(data).cast(schema())
        return table_of({id: found or self.read(id) for id, found in self.found[n].items()})

    def finish(self) -> int:
        """Write the one file of all that is done; return its rows.  Parts go when all are there.

        A file that was made from the same combinations and keys stays as it is.
        """
        if self.finished is not None:
            return self.finished
        columns, complete = schema(), len(self.whole) == len(self.shards)
        if complete:
            columns = columns.with_metadata({**columns.metadata, MADE_FROM: self.made_from})
        tables = (self._table(n) for n in range(len(self.shards)))
        rows = compact(tables, store.under(self.out, FILE), columns)
        if complete:
            for part in self.parts:
                store.remove(store.under(self.out, PARTS, part))
            if isinstance(self.out, Path) and (self.out / PARTS).is_dir():
                (self.out / PARTS).rmdir()
        return rows
