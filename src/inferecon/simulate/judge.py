"""How far off is the simulator from services that others measured?

A row of a closed loop names its clients, one of an open loop its rate; both are served here by
the policy that engines use, and the figures are held against each other.  Lengths that a row
states are means, so they are drawn: as benchmarks of a closed loop draw them, and with the
spread of a log-normal in an open loop.
"""

import numpy as np
import pandas as pd
import yaml

from ..calibration import arrivals
from ..calibration.inputs import NODE
from ..calibration.rows import read
from ..files import DATA
from ..predictions import ENGINES
from ..scenario import Scenario
from .arrivals import Lengths
from .plan import Load, Service
from .run import report, simulate
from .steps import Steps, tabled

OPEN = 500  # requests of each run of an open loop: as many as were measured
MOST = 16384  # sequences of a decode unit
TURNS = 10  # requests of each client
DRAWN = (0.8, 1.0)  # lengths of a closed loop over those that are stated
SPREAD = 0.5  # of lengths of an open loop, whose rows state means of a data set
FIGURES = {
    "ttft_ms": ("ttft", "mean"),
    "ttft_mean_ms": ("ttft", "mean"),
    "tpot_ms": ("itl", "mean"),
    "itl_mean_ms": ("gap", "mean"),
}
# What one run has in common with another row of it.
KEYS = ["model_id", "hardware_id", "engine", "weight_dtype", "act_dtype", "kv_dtype"]
KEYS += ["n_gpus", "tp", "pp", "ep", "isl", "osl", "notes", "rate", "batch_or_concurrency"]


def measured(every: int = 1) -> pd.DataFrame:
    """Return the rows of services in ``data/truth``: all of an open loop, some of closed ones."""
    rows = read(DATA / "truth" / "timing.csv")
    rows = rows.assign(rate=[arrivals.stated(notes) for notes in rows.notes])
    known = (rows.model_id != "") & (rows.hardware_id != "") & ~(rows.pp > 1)
    opened = rows[known & np.isfinite(rows.rate) & ~rows.static]
    closed = rows[known & rows.notes.str.contains("closed-loop") & ~rows.static]
    closed = closed[closed.metric.isin(FIGURES) & np.isfinite(closed.batch_or_concurrency)]
    number = closed.groupby(KEYS, dropna=False, sort=False).ngroup()
    return pd.concat([opened, closed[number % every == 0]], ignore_index=True)


def judged(rows: pd.DataFrame) -> pd.DataFrame:
    """Return each row with what a simulation of its service gives; NaN if that is saturated."""
    found = rows.assign(simulated=np.nan, saturated=False)
    for _, some in rows.groupby(KEYS, dropna=False, sort=False):
        told = served(some.iloc[0])
        for place, metric in some.metric.items():
            found.loc[place, "saturated"] = bool(told["saturated"])
            found.loc[place, "simulated"] = figure(told, metric)
    return found


def figure(told: dict, metric: str) -> float:
    """Return the figure of a metric from a run, NaN for none."""
    if metric == "output_throughput_tok_s":
        return told["tps"] or np.nan
    latency, kind = FIGURES[metric]
    spread = told["latency_s"][latency]
    return np.nan if spread is None else spread[kind] * 1e3


def served(row: pd.Series) -> dict:
    """Simulate the service of a row, and return its report."""
    isl, osl = float(row.isl), float(row.osl)
    clients = row.batch_or_concurrency
    closed = np.isfinite(clients)
    batch = int(clients) if closed else OPEN
    if closed:
        draw = np.random.default_rng(1).uniform(*DRAWN, (4096, 2))
        lengths = Lengths(isl, osl, rows=np.rint(draw * (isl, osl)))
    else:
        lengths = Lengths(isl, osl, SPREAD, SPREAD, most=int(8 * (isl + osl)))
    tables = of(row, batch, lengths.longest)
    case = Scenario(row.model_id, row.hardware_id)
    replicas = int(max(round(row.total / tables.devices), 1))
    service = Service(case, ENGINES_OF.get(row.family, "vllm"), batch=batch, replicas=replicas)
    if closed:  # a benchmark measures from its first request, when all clients ask at once
        load = Load(lengths, clients=int(clients), count=TURNS * int(clients), warm=0.0)
    else:
        load = Load(lengths, rate=row.rate, count=OPEN, warm=0.0)
    return report(simulate(service, load, tables=tables))


ENGINES_OF = {name.split(".")[0]: name for name in ENGINES}


def of(row: pd.Series, batch: int, context: int) -> Steps:
    """Return the step times of what a row describes."""
    whole = row.to_frame().T.infer_objects().reset_index(drop=True)

    def rows(batches: np.ndarray, contexts: np.ndarray) -> pd.DataFrame:
        found = whole.loc[np.zeros(len(batches), int)].reset_index(drop=True)
        return found.assign(batch_or_concurrency=batches, context=contexts)

    return tabled(str(row.id), rows, batch, context)


# DeepSeek's service: phases on workers of their own ----------------------------------------------

TURN = 4  # prompts that wait for each group of a prefill unit: it is never idle


def published() -> pd.DataFrame:
    """Return the rates of a node that DeepSeek published, and those of two simulated units.

    The prompt and the answer are those that the day's totals and its mean context leave; a
    decode unit holds as many sequences as write at the speed that was published.
    """
    day = yaml.safe_load((DATA / "truth" / "deepseek_service.yaml").read_text("utf-8"))
    rows = read(DATA / "truth" / "services.csv").iloc[:2]
    ratio = day["tokens_in"] / day["tokens_out"]
    isl = day["mean_context"] / (1 + 1 / (2 * ratio))  # prompt and half an answer
    hit = day["tokens_in_cached"] / day["tokens_in"]
    step = 2 / sum(day["output_speed"])
    found = [_prefills(rows.iloc[0], isl, hit), _decodes(rows.iloc[1], isl, isl / ratio, step)]
    return rows.assign(simulated=found)[["id", "metric", "model", "value", "simulated"]]


def _prefills(row: pd.Series, isl: float, hit: float) -> float:
    """Return prompt tokens a second of a node, cached ones counted, of a unit kept busy."""
    tables = of(row, 1, int(2 * isl))
    clients = TURN * int(tables.groups)
    service = Service(
        Scenario(row.model_id, row.hardware_id), batch=clients, prefix=hit, chunk=10**9
    )
    load = Load(Lengths(isl, 1), clients=clients, count=20 * clients)
    rps = report(simulate(service, load, tables=tables))["rps"]
    return rps * isl / tables.devices * NODE


def _decodes(row: pd.Series, isl: float, osl: float, step: float) -> float:
    """Return output tokens a second of a node, of a unit whose prompts come over a link."""
    context = isl + osl / 2
    tables = of(row, MOST, int(2 * (isl + osl)))
    batch = sum(tables.decode(one, context) <= step for one in range(1, MOST + 1))
    tables.prefills = tables.attentions = [0.0, 0.0]
    tables.request_gap = 0.0
    service = Service(Scenario(row.model_id, row.hardware_id), batch=batch, chunk=10**9)
    load = Load(Lengths(isl, osl), clients=batch, count=8 * batch)
    return report(simulate(service, load, tables=tables))["tps"] / tables.devices * NODE
