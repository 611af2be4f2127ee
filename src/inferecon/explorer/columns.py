"""What the explorer needs of the dataset: columns of codes, three digits a value.

A code is a number of 16 bits: which of the 900 numbers of three digits, which power of ten, and
on which side of them the value was where its writing depends on that (76.98 is written 77.0).
So the page shows what the dataset says, digit for digit, in a fifth of the bytes of JSON; whoever
needs ten digits takes the dataset itself.
"""

import base64
import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from .. import cite, citing
from .. import symbols as s
from ..errors import BuildFailed
from ..figures import meaning
from ..imprint import EDITION, LICENCE
from ..laws import SERVICE
from ..laws.economics import CARBON
from ..numbers import KNOWN, SHOWN, UNIT_NAMES
from ..predictions import ENGINES, SAYS
from ..records import load
from ..units import ureg

# What can stand on an axis and in the table: less is better of each.
METRICS = {
    s.itl: "inter-token latency (ITL)",
    s.ttft: "time to first token (TTFT)",
    s.cost_per_token: "price of output tokens",
    s.energy_per_token: "device energy of output tokens",
    s.carbon_per_token: "emissions of output tokens",
    s.energy_at_limit: "energy at the power limit, an estimate",
    s.carbon_at_limit: "emissions at the power limit, an estimate",
    s.device_time: "device time of output tokens",
}
FORETOLD = (s.itl, s.ttft, s.cost_per_token, s.energy_per_token, s.carbon_per_token)
ENDS = ("predicted", "low", "high")
GRID = ("isl", "batch")  # what moves between the points of a combination
OF = ("model", "hardware", "weights")
SAME = ("kv", "grid", "provider", "osl")  # for the whole report
SMALLEST, STEPS = -9, 900  # power of ten of the first code; numbers of three digits in a power
ABOVE, BELOW = 2**14, 2**15  # bits of a value that is more, or less, than its three digits


def codes(values: Iterable[float]) -> Iterator[int]:
    """Yield the code of each value, rounded once to three digits; 0 for what is missing."""
    return map(_code, values)


def _code(value: float) -> int:
    if not 0 < value < math.inf:
        return 0
    figures, power = f"{value:.2e}".split("e")
    code = 1 + (int(power) - SMALLEST) * STEPS + int(figures.replace(".", "")) - 100
    if not 0 < code < ABOVE:
        raise BuildFailed(f"{value} is beyond what the explorer can show")
    rounded = float(f"{figures}e{power}")
    if value == rounded or not (rounded.is_integer() or figures == "1.00"):
        return code
    return code + (ABOVE if value > rounded else BELOW)


def packed(numbers: Iterable[int]) -> str:
    """Return numbers of 16 bits as text: all high bytes, then all low ones; so they compress."""
    found = np.fromiter(numbers, dtype=np.uint16)
    high, low = (found >> 8).astype(np.uint8), (found & 255).astype(np.uint8)
    return base64.b64encode(high.tobytes() + low.tobytes()).decode()


def data(dataset: Path) -> dict:
    """Return everything that the page shows of a dataset; of one that is not there, no points."""
    rows = _rows(dataset)
    running, first = rows[rows["itl"].notna()], rows.drop_duplicates("combination")
    place = {name: n for n, name in enumerate(first["combination"])}
    points = list(zip(*(running[name].astype(int) for name in GRID), strict=True))
    grid = sorted(set(points))
    kinds, known = ["", *KNOWN], {name: list(dict.fromkeys(first[name])) for name in OF}
    reasons, unpredicted = _indexed(first["unpredicted"])
    obstacles, obstacle = _indexed(first["obstacle"])
    return {
        "edition": f"inferecon {EDITION}",
        "licence": LICENCE,
        "engine": ENGINES["vllm"],
        "metrics": [_metric(symbol, says) for symbol, says in METRICS.items()],
        "marks": {name: {"mark": one.mark, "says": one.says} for name, one in KNOWN.items()},
        "families": [*map(list, meaning.FAMILIES.items())],
        "classes": [*meaning.CLASSES],
        "models": [_model(id) for id in known["model"]],
        "devices": [_device(id) for id in known["hardware"]],
        "formats": known["weights"],
        "combinations": {
            **{name: [known[name].index(one) for one in first[name]] for name in OF},
            **{name: first[name].tolist() for name in ("tp", "ep", "activations")},
            "unpredicted": unpredicted,
            "obstacle": obstacle,
        },
        "reasons": reasons,
        "obstacles": obstacles,
        "same": first[[*SAME]].head(1).to_dict("records"),
        "grid": grid,
        "kinds": kinds,
        "of": packed(place[name] for name in running["combination"]),
        "at": packed(map(grid.index, points)),
        "known": packed(kinds.index(one or "") for one in running["known"]),
        "columns": {name: packed(codes(running[name])) for name in columns()},
        "smallest": SMALLEST,
        "steps": STEPS,
        "sides": [ABOVE, BELOW],
        "bibtex": citing.bibtex(cite.of_page("explorer", "every executed combination, ranked")),
    }


def columns() -> list[str]:
    """Return the names of all columns of values."""
    bounds = [symbol.name for symbol in METRICS]
    return bounds + [f"{symbol.name}_{end}" for symbol in FORETOLD for end in ENDS]


def addresses() -> list[str]:
    """Return where the laws stand that the page links."""
    return [cite.url(SERVICE.laws[symbol].id) for symbol in METRICS]


def _rows(dataset: Path) -> pd.DataFrame:
    """Return the rows in order, with the emissions that follow from the energy predicted."""
    emitted = {
        f"{s.energy_per_token.name}_{end}": f"{s.carbon_per_token.name}_{end}" for end in ENDS
    }
    wanted = ["combination", *OF, *SAME, "activations", "tp", "ep", *GRID]
    wanted += ["known", "unpredicted", "obstacle"]
    wanted += [name for name in columns() if name not in emitted.values()]
    if not dataset.exists():
        return pd.DataFrame(columns=[*wanted, *emitted.values()])
    rows = pd.read_parquet(dataset, columns=wanted).sort_values(["combination", *GRID])
    rows = rows.replace({np.nan: None}).astype({name: float for name in columns() if name in rows})
    share = load("assumptions", "pue")["pue"]
    intensity = rows["grid"].map(lambda grid: load("grids", grid)["grid_intensity"]).to_numpy()
    for energy, carbon in emitted.items():
        joules = rows[energy].to_numpy() / _shown_units(s.energy_per_token)
        grams = CARBON({s.energy_per_token: joules, s.pue: share, s.grid_intensity: intensity})
        rows[carbon] = grams * _shown_units(s.carbon_per_token)
    return rows


def _shown_units(symbol) -> float:
    """Return how many of the unit that is shown make one base unit."""
    return ureg.Quantity(1.0, s.GLOSSARY[symbol].unit).to(SHOWN[symbol]).m


def _indexed(texts: Iterable[str | None]) -> tuple[list[str], list[int]]:
    """Return the different texts, and which one each is: -1 for none."""
    texts = list(texts)
    different = list(dict.fromkeys(text for text in texts if text))
    return different, [different.index(text) if text else -1 for text in texts]


def _metric(symbol, says: str) -> dict:
    law = SERVICE.laws[symbol].id
    foretold = SAYS[symbol.name] if symbol in FORETOLD else ""
    unit = UNIT_NAMES.get(SHOWN[symbol], SHOWN[symbol])
    found = {"key": symbol.name, "says": says, "unit": unit, "law": law, "at": cite.url(law)}
    return {**found, "foretold": foretold}


def _model(id: str) -> dict:
    return {"id": id, "name": load("models", id).name, "family": meaning.family(id)}


def _device(id: str) -> dict:
    name = load("hardware", id).name.partition(" (")[0]
    return {"id": id, "name": name, "class": meaning.device_class(id)}
