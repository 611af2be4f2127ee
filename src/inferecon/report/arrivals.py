"""Table of services whose requests arrive at a stated rate: no constant was fitted to them."""

import numpy as np
import pandas as pd

from ..calibration.arrivals import OVERLOADED, stated
from ..calibration.rows import each, read
from ..calibration.validate import predict, score
from ..escape import plain
from ..files import DATA
from .text import METRICS, boxed, table

TIMING = DATA / "truth" / "timing.csv"
HEAD = """\
## Requests at a rate

What happens if requests arrive by themselves, and nobody says how many are served together?
{ref}`Little's law <law-little>` answers with the batch: a sequence stays for one step a token, \
and the step lasts as long as the constants say for just that batch.
The first token waits for {ref}`a server with equal services <law-wait-md1>`.
No row of this table was in the fit; that services which cannot keep up are left out was decided \
with the table in view.
Sources round to whole milliseconds.
"""
COLUMNS = ["figure", "n", "median", "MAPE", "bias", "in 90 %"]


def section() -> list[str]:
    """Return the errors by figure, the sources, and what is left out with the reason."""
    rows = read(TIMING)
    rows = rows[each(rows.notes, lambda notes: stated(notes) > 0).astype(bool)].reset_index(
        drop=True
    )
    said = predict(rows)
    error = np.abs(said.predicted / rows.value - 1)
    judged = pd.concat([rows[["metric", "value", "source"]], said], axis=1).assign(ape=error)
    body = [
        _line(METRICS.get(str(metric), str(metric)), score(part))
        for metric, part in judged[judged.covered].groupby("metric")
    ]
    late = int((judged.reason == OVERLOADED).sum())
    sources = "; ".join(sorted(judged.source.unique()))
    return [
        HEAD,
        *table(COLUMNS, body, 1, 5),
        *boxed(
            f"Of {len(judged)} rows {int(judged.covered.sum())} are predicted; in {late} more "
            "arrives than can be served, and there every figure grows with the length of the run. "
            f"Source: {plain(sources)}."
        ),
    ]


def _line(name: str, found: dict) -> list[str]:
    shares = [f"{100 * found[key]:.1f} %" for key in ("median", "mape", "bias", "inside")]
    return [name, str(found["n"]), *shares]
