"""Table of whole services: experts over many nodes, as their operators publish them."""

import pandas as pd

from ..calibration.rows import read
from ..calibration.validate import predict
from ..escape import plain
from ..files import DATA
from ..numbers import digits
from .text import table

SERVICES = DATA / "truth" / "services.csv"
HEAD = """\
## Whole services

What do the laws say of services that deal their experts out to tens of devices?
No constant was fitted to these rows, and no row of the fit has more than one node.
Yet they are no blind test: that host work hides beyond one node, and the most tokens that are \
dispatched at once, were settled with these rows in view.
{ref}`How often a token crosses the network <law-network-decode>` and \
{ref}`that two halves of a batch take turns <law-micro-batches>` come from the report of the \
model's makers, the share of the network's port from the tests of their library.
A prediction is what the devices can do; a mean over days of production is less by as much as \
they had less to do, and the sources do not state how much that is.
"""
COLUMNS = ["what", "measured", "predicted", "90 % interval", "predicted / measured", "source"]
PHASE = {"prefill": "prompt tokens", "decode": "output tokens"}


def section() -> list[str]:
    """Return the table, one row a published rate."""
    rows = read(SERVICES)
    said = predict(rows)
    body = [_line(row, answer) for row, answer in zip(_each(rows), _each(said), strict=True)]
    return [HEAD, *table(COLUMNS, body, 1, 4), ""]


def _each(rows: pd.DataFrame):
    return rows.itertuples(index=False)


def _line(row, answer) -> list[str]:
    phase, _, where = row.metric.partition("_throughput_tok_s_per_")
    what = f"{row.model} on {row.hardware}, {row.engine}, {PHASE[phase]} a second and {where}"
    return [
        plain(f"{what}: {row.notes}"),
        digits(row.value),
        digits(answer.predicted),
        f"{digits(answer.low)} to {digits(answer.high)}",
        f"{answer.predicted / row.value:.2f}",
        plain(row.source),
    ]
