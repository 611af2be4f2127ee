"""How many sequences are in flight where a row states how many requests arrive?

Little's law: a sequence stays for its answer, one step a token, and the step
itself lasts longer the more stay.  The calibrated step stands where the chapter
on load has its straight line, and the batch that is on both sides is found by
halving.  A service that cannot keep up fills its memory, and its queue grows
with the run.
"""

import re

import numpy as np
import pandas as pd

from .. import symbols as s
from ..law import System
from ..laws import queueing
from .constants import Fitted
from .inputs import Inputs, inputs
from .predict import FIRST_MS, solve
from .rows import each

RATE = re.compile(r"open-loop request rate (\d+(?:\.\d+)?) req/s", re.I)
OUTPUT = "output_throughput_tok_s"
HALVINGS = 20
QUEUE = System([queueing.UTILISATION, queueing.WAIT_FIXED, queueing.TOKEN_RATE])
OVERLOADED = (
    "more requests arrive than can be served: every figure grows with the length of the run"
)


def stated(notes: str) -> float:
    """Return the arrival rate that a note states, in requests a second; NaN for none."""
    found = RATE.search(notes)
    return float(found[1]) if found else np.nan


def joined(rows: pd.DataFrame, clock: Fitted) -> pd.DataFrame:
    """Return the rows with ``rate``, and the batch that arrivals lead to where none is stated.

    ``overloaded`` says of which rows more arrives than can be served.
    """
    rate = each(rows.notes, stated).astype(float)
    rate[np.isfinite(rows.batch_or_concurrency.to_numpy(float)) | ~(rate > 0)] = np.nan
    rows = rows.assign(rate=rate, overloaded=False)
    where = np.flatnonzero(np.isfinite(rate))
    if len(where):
        some = rows.iloc[where].reset_index(drop=True)
        batch, overloaded = settled(some, clock.constants(some)[0])
        rows.loc[rows.index[where], "batch_or_concurrency"] = batch
        rows.loc[rows.index[where], "overloaded"] = overloaded
    return rows


def settled(rows: pd.DataFrame, constants: dict) -> tuple[np.ndarray, np.ndarray]:
    """Return the batch that a new sequence meets and joins, and which services are overloaded.

    ``constants`` are those of the rows, on the inner scale.  NaN where a record lacks a fact.
    """
    found = inputs(rows)
    tokens = QUEUE.solve({s.arrival_rate: rows.rate.to_numpy(float), s.osl: found.osl})
    most = np.maximum(found.batch, 1.0)

    def stays(batch):
        """Sequences in flight if each of them is in a batch of this size."""
        met = inputs(rows.assign(batch_or_concurrency=batch))
        return tokens[s.token_rate] * solve(met, constants)[s.served_step]

    overloaded = (stays(most) + 1 > most) | (queue(rows, found, constants)[s.utilisation] >= 1)
    low, high = np.zeros(len(rows)), np.log(most)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        more = stays(np.exp(middle)) + 1 > np.exp(middle)  # a sequence meets the mean, and itself
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return np.exp(high), overloaded


def queue(rows: pd.DataFrame, found: Inputs, constants: dict) -> dict:
    """Return what a prompt waits for: the queue of its group, and its service without a burst."""
    alone = constants | {s.queue_share: np.full(len(rows), -np.inf)}
    got = solve(found, alone)
    queues = got[s.groups] * found.batch / found.values[s.batch]  # a prompt joins one of them
    arriving = {s.arrival_rate: rows.rate.to_numpy(float) / queues}
    return QUEUE.solve(got | arriving | {s.service_time: got[s.prefill_time]})


def decided(rows: pd.DataFrame, constants: dict, figure: np.ndarray) -> np.ndarray:
    """Return the figures with those replaced that arrivals decide: first token, output rate."""
    rate = rows.rate.to_numpy(float)
    if not np.isfinite(rate).any():
        return figure
    found = inputs(rows)
    got = queue(rows, found, constants)
    first = (got[s.served_first] + got[s.wait_fixed]) * 1e3
    arriving = np.isfinite(rate)
    figure = np.where(arriving & np.isin(rows.metric, FIRST_MS), first, figure)
    return np.where(arriving & (rows.metric == OUTPUT), rate * found.osl, figure)
