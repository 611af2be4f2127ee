"""What other tools predict of measured rows, and what is predicted here of the same ones.

``data/calibration/peers/`` holds a file a tool, written by the drivers of
``benchmarks/peers/`` in the tool's own environment; ``peers.yaml`` there names
them.  Beside each stand the held-out predictions of ``held_out.csv``: constants
fitted without the row, and without its whole combination of model and card.
"""

from pathlib import Path

import pandas as pd
import yaml

from ..errors import BadInput
from .constants import FOLDER

PEERS = FOLDER / "peers"
HELD_OUT = FOLDER / "held_out.csv"
COLUMNS = ["id", "metric", "value", "predicted"]
OURS = ("row", "cell")  # ways to hold a row out: see data/calibration/README.md


def named(folder: Path = PEERS) -> dict[str, dict]:
    """Return what is known of each tool that ran: its name, version, licence and date."""
    return yaml.safe_load((folder / "peers.yaml").read_text(encoding="utf-8"))["ran"]


def read(peer: str, folder: Path = PEERS) -> pd.DataFrame:
    """Return the rows that a tool predicted.

    Raises BadInput for a file of other columns or with an id twice.
    """
    rows = pd.read_csv(folder / f"{peer}.csv", dtype={"id": str, "metric": str})
    if list(rows.columns) != COLUMNS:
        raise BadInput(f"{peer}.csv has not the columns {', '.join(COLUMNS)}")
    if rows.id.duplicated().any():
        raise BadInput(f"{peer}.csv has {rows.id[rows.id.duplicated()].iloc[0]!r} twice")
    return rows


def table(folder: Path = PEERS, held: Path = HELD_OUT) -> list[dict]:
    """Return one line a tool and metric, as ``{peer, name, version, metric, n, median, ...}``.

    ``median`` and ``mape`` are shares of the measured value, of the tool;
    ``row_median``, ``row_mape``, ``cell_median`` and ``cell_mape`` are ours on the same rows.
    """
    ours = pd.read_csv(held, dtype={"id": str}, usecols=["id", *OURS]).set_index("id")
    lines = []
    for peer, about in named(folder).items():
        rows = read(peer, folder).join(ours, on="id", how="inner").dropna()
        for metric, part in rows.groupby("metric", sort=True):
            line = {"peer": peer, "name": about["name"], "version": about["version"]}
            line |= {"metric": str(metric), "n": len(part)}
            line |= errors(part, "predicted", "")
            for how in OURS:
                line |= errors(part, how, f"{how}_")
            lines.append(line)
    return lines


def errors(rows: pd.DataFrame, column: str, before: str) -> dict[str, float]:
    """Return median and mean of how far a column is from the value, as shares of the value."""
    error = (rows[column] / rows.value - 1).abs()
    return {f"{before}median": float(error.median()), f"{before}mape": float(error.mean())}
