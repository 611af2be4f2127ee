"""SQL on the dataset."""

from pathlib import Path

import duckdb
import pandas as pd

from .errors import BadInput
from .records import ROOT


def answer(sql: str, data: Path | None = None) -> pd.DataFrame:
    """Return the rows of a query on the table ``results``.

    The query sees that table and nothing else: no file, no network, no setting.
    """
    path = data or ROOT / "_build" / "results.parquet"
    if not path.is_file():
        raise BadInput(f"{path} does not exist; make report or inferecon sweep writes it")
    connection = duckdb.connect()
    try:
        connection.read_parquet(str(path)).to_table("results")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        statements = connection.extract_statements(sql)
        if [one.type for one in statements] != [duckdb.StatementType.SELECT]:
            raise BadInput("a query is one SELECT on the table results")
        return connection.execute(statements[0]).df()
    except duckdb.Error as error:
        raise BadInput(f"the query fails: {str(error).splitlines()[0]}") from error
