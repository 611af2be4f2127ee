"""SQL on the dataset, read from the file as far as a query needs it."""

import tempfile
from pathlib import Path

import duckdb
import pandas as pd

from .errors import BadInput
from .files import ROOT


def answer(sql: str, data: Path | None = None) -> pd.DataFrame:
    """Return the rows of a query on the table ``results``.

    The query sees that table and nothing else: no other file, no network, no setting.
    """
    path = (data or ROOT / "_build" / "results.parquet").resolve()
    if path.is_dir():
        raise BadInput(f"{path} is a folder; name the results.parquet in it")
    if not path.is_file():
        raise BadInput(f"{path} does not exist; make report or inferecon sweep writes it")
    connection, spill = duckdb.connect(), tempfile.TemporaryDirectory()
    try:
        connection.read_parquet(str(path)).create_view("results")
        connection.execute("SET temp_directory = ?", [spill.name])
        connection.execute("SET allowed_paths = ?", [[str(path)]])
        connection.execute("SET python_enable_replacements = false")  # no frame of this process
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        statements = connection.extract_statements(sql)
        if [one.type for one in statements] != [duckdb.StatementType.SELECT]:
            raise BadInput("a query is one SELECT on the table results")
        return connection.execute(statements[0]).df()
    except duckdb.Error as error:
        said = [line for line in str(error).splitlines() if line.strip() and "^" not in line]
        raise BadInput(f"the query fails: {' '.join(said[:3])}") from error
    finally:
        connection.close()
        spill.cleanup()
