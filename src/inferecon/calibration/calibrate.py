"""Fit all constants to the measured rows of the report, and judge them on rows held out.

Times first, then energies at the fitted times.  Rows are held out in two ways:
one row in four, and whole combinations of model and card.  What they miss by is
the interval of every prediction, and the validation chapter.
"""

import csv
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from ..errors import BadInput, nearest
from ..files import DATA
from ..laws import SERVICE
from ..records import ids
from . import constants as c
from .fit import fit
from .inputs import CALIBRATED, Inputs, inputs
from .names import record_of
from .predict import ENERGIES, TIME_METRICS, energies, times
from .rows import read
from .validate import CELLS, FEWEST, HELD, NAMED, SCATTER, kind, reasons

TRUTH = ("timing.csv", "energy.csv", "lab_h200.csv")
HELD_OUT = c.FOLDER / "held_out.csv"
KEY = c.FOLDER / "key.txt"
FOLDS = 4


def training() -> pd.DataFrame:
    """Return the rows of the report that constants are fitted to."""
    tables = [read(DATA / "truth" / name) for name in TRUTH]
    return usable(pd.concat(tables, ignore_index=True))


def usable(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that can be predicted, were measured, and carry no flag."""
    found = inputs(rows)
    good = (reasons(rows, found) == "") & (rows.value.to_numpy(float) > 0)
    good &= np.isin(rows.metric, (*TIME_METRICS, *ENERGIES))
    good &= ((rows.flag == "") & (rows.part == "")).to_numpy()
    return rows[good].reset_index(drop=True)


def fitted(rows: pd.DataFrame, found: Inputs) -> dict[str, c.Fitted]:
    """Return the constants of times, and those of energies at these times."""
    timed = np.isin(rows.metric, TIME_METRICS)
    clock = _fit(c.TIME, rows, found, timed, times)
    if timed.all():
        return {"time": clock}
    return {"time": clock, "energy": _fit(c.ENERGY, rows, found, ~timed, at_times(clock))}


def _fit(priors, rows, found, where, model) -> c.Fitted:
    some, its = rows[where].reset_index(drop=True), found.take(where)
    centre = c.Design(priors, some)
    start = c.summed(centre.places(some), np.array(centre.centre), len(some))
    known = np.isfinite(model(some, its, start))
    return fit(priors, some[known].reset_index(drop=True), its.take(known), model)


def at_times(clock: c.Fitted) -> Callable:
    """Return the model of energies whose times are those of ``clock``."""

    def model(rows, found, constants):
        return energies(rows, found, clock.constants(rows)[0] | constants)

    return model


def predicted(groups: dict[str, c.Fitted], rows: pd.DataFrame, found: Inputs) -> np.ndarray:
    """Return the figure of each row."""
    timed = np.isin(rows.metric, TIME_METRICS)
    figure = times(rows, found, groups["time"].constants(rows)[0])
    if timed.all():
        return figure
    model = at_times(groups["time"])
    return np.where(timed, figure, model(rows, found, groups["energy"].constants(rows)[0]))


def parts(rows: pd.DataFrame, how: str, folds: int = FOLDS) -> Iterator[np.ndarray]:
    """Yield which rows to hold out: by row, cell (model and card), model, card or engine.

    Names are dealt out in order of their hash: always the same, and never by size or source.
    """
    names = {
        "row": rows.id + "|" + rows.metric,
        "cell": rows.model_id + "|" + rows.hardware_id,
        "model": rows.model_id,
        "card": rows.hardware_id,
        "engine": rows.generation,
    }[how]
    order = sorted(names.unique(), key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    part = names.map({name: i % folds for i, name in enumerate(order)}).to_numpy()
    for fold in range(folds):
        yield part == fold


def held_out(rows: pd.DataFrame, found: Inputs, how: str, say=print) -> np.ndarray:
    """Return the figure of each row from constants that were fitted without it."""
    figure = np.full(len(rows), np.nan)
    for number, out in enumerate(parts(rows, how), 1):
        groups = fitted(rows[~out].reset_index(drop=True), found.take(~out))
        figure[out] = predicted(groups, rows[out].reset_index(drop=True), found.take(out))
        say(f"held out by {how}: {number} of {FOLDS}")
    return figure


def judge(rows: pd.DataFrame, found: Inputs, say=print) -> pd.DataFrame:
    """Return each row with what constants fitted without it say, one column a way to hold out."""
    columns = ["id", "metric", "value", "model_id", "hardware_id", "generation", "precision"]
    judged = rows[[*columns, "source"]].copy()
    for how in ("row", "cell", "model", "card", "engine"):
        judged[how] = held_out(rows, found, how, say)
    return judged


def scatters(judged: pd.DataFrame) -> list[dict]:
    """Return half a 90 % interval for each kind of figure, and each engine with enough rows."""
    classes = judged.metric.map(kind)
    keyed = [(classes, 0)] + [(classes + "|" + judged.generation, FEWEST)]
    lines = []
    for keys, fewest in keyed:
        for key, part in judged.groupby(keys):
            if len(part) >= fewest:
                line: dict = {"class": key, "rows": len(part)}
                for how in HELD:
                    gap = np.abs(np.log(part[how] / part.value)).dropna()
                    line[how] = f"{np.quantile(gap, 0.9):.4f}"
                lines.append(line)
    return sorted(lines, key=lambda line: line["class"])


def write(name: Path, lines: list[dict]) -> None:
    with name.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, lines[0], lineterminator="\n")
        table.writeheader()
        table.writerows(lines)


def key() -> str:
    """Fingerprint of what the constants rest on: rows, laws, priors, and the code between."""
    print_ = hashlib.sha256()
    for name in (*TRUTH, "names.yaml"):
        print_.update((DATA / "truth" / name).read_bytes())
    for symbol, law in {**SERVICE.laws, **CALIBRATED.laws}.items():
        print_.update(f"{symbol}={law.eq.rhs}".encode())
    for priors in c.GROUPS.values():
        print_.update(repr([(x.name, p) for x, p in priors.items()]).encode())
    for name in ("rows", "names", "inputs", "predict", "fit", "constants", "calibrate"):
        print_.update((Path(__file__).parent / f"{name}.py").read_bytes())
    return print_.hexdigest()[:16]


def stale(what: str = "fitted") -> bool:
    """Say whether rows or laws changed since the constants were ``fitted``, or ``judged``."""
    lines = KEY.read_text(encoding="utf-8").splitlines() if KEY.is_file() else []
    return f"{what} {key()}" not in lines


def calibrate(judging: bool = True, say=print) -> None:
    """Fit, judge and write ``data/calibration``; nothing is written before all is done."""
    rows = training()
    found = inputs(rows)
    say(f"{len(rows)} rows")
    groups = fitted(rows, found)
    say("constants fitted")
    judged = judge(rows, found, say) if judging else None
    c.FITTED.parent.mkdir(exist_ok=True)
    c.save(groups)
    write(CELLS, together(rows))
    if judged is not None:
        write(SCATTER, scatters(judged))
        judged.round(6).to_csv(HELD_OUT, index=False, lineterminator="\n", float_format="%.6g")
    lines = [] if judging or not KEY.is_file() else KEY.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line.startswith("judged")]
    new = [f"fitted {key()}"] + ([f"judged {key()}"] if judging else kept)
    KEY.write_text("\n".join(new) + "\n", encoding="utf-8")


def own(path: Path, hardware: str, folder: Path) -> tuple[pd.DataFrame, Path]:
    """Fit with a reader's rows added, write the constants into a folder of the reader's.

    Returns the reader's rows with both predictions, and where the constants are: with
    ``INFERECON_CALIBRATION`` naming that folder, every prediction uses them.  Raises BadInput
    if the file has no row of this card that can be predicted.
    """
    card = record_of("hardware", hardware)
    if not card and hardware not in ids("hardware"):
        raise BadInput(
            f"no record of the card {hardware!r}{nearest(hardware, ids('hardware'))}; a card of "
            "your own needs hardware/ID.yaml in a folder that INFERECON_DATA names"
        )
    card = card or hardware
    ours = training()
    mine = usable(read(path))
    if not (mine.hardware_id == card).any():
        raise BadInput(f"{path.name} has no row of {card} that the laws can predict")
    rows = pd.concat([ours, mine], ignore_index=True)
    groups = fitted(rows, inputs(rows))
    its = inputs(mine)
    table = mine[["id", "metric", "value"]].assign(
        before=predicted(c.load(), mine, its), after=predicted(groups, mine, its)
    )
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / c.FITTED.name
    c.save(groups, place)
    for name in (SCATTER, HELD_OUT):
        if name.is_file():
            (folder / name.name).write_bytes(name.read_bytes())
    write(folder / CELLS.name, together(rows))
    return table, place


def together(rows: pd.DataFrame) -> list[dict]:
    """Return which model, card, engine and class of weight format were fitted together."""
    columns = (rows.model_id, rows.hardware_id, rows.generation, rows.precision)
    return [dict(zip(NAMED, cell, strict=True)) for cell in sorted(set(zip(*columns, strict=True)))]
