"""What the calculator needs of the records, as plain data in base units.

A fact that no record states has no key, so that the page can name what is missing.  What is
zero for a model without a part is left out of that model and filled in by the page.
"""

import json
import math
from functools import cache

from .. import cite, citing
from .. import symbols as s
from ..givens import component_formats
from ..imprint import EDITION, LICENCE
from ..laws import SERVICE
from ..matrix import FORMATS, HARDWARE, MODELS, WORKLOAD
from ..numbers import SHOWN, UNIT_NAMES
from ..pace import OPERATORS
from ..records import Record, ids, load
from ..symbols import GLOSSARY
from ..units import ureg
from . import constants

ALWAYS = ("collective", "memory-fraction", "pue")  # assumptions of every scenario
INPUTS = frozenset(SERVICE.inputs)
ROLES = {"weights": "weight", "activations": "activation", "kv": "kv"}
# What the page shows of a scenario and calls it, by topic; and each bound of a phase.
TOPICS = {
    "Time": {
        s.ttft: "time to first token of the batch (TTFT)",
        s.itl: "inter-token latency (ITL)",
        s.e2e: "time to the last token",
        s.interactivity: "tokens that one reader sees",
        s.throughput: "output tokens of all requests",
        s.throughput_device: "output tokens of a device",
        s.device_time: "device time of output tokens",
    },
    "Energy and emissions, prefill included": {
        s.energy_per_token: "device energy of output tokens",
        s.energy_at_limit: "energy of output tokens at the power limit",
        s.carbon_per_token: "emissions of output tokens, PUE included",
        s.carbon_at_limit: "emissions of output tokens at the power limit",
    },
    "Price": {
        s.cost_per_token: "output tokens, prefill included",
        s.cost_per_input_token: "input tokens, prefill alone",
    },
}
RESULTS = {symbol: says for topic in TOPICS.values() for symbol, says in topic.items()}
BOUNDS = (
    s.t_math_prefill,
    s.t_memory_prefill,
    s.t_comm_prefill,
    s.t_math_decode,
    s.t_memory_decode,
    s.t_comm_decode,
)
UNITS = {x: "ms" for x in BOUNDS} | {s.e2e: "s"}  # where no table of numbers has one
# What the page asks first; what is left open (null) follows from the rest.
DEFAULTS = {
    "model": "deepseek-v3",
    "hardware": "h200-sxm",
    "weights": "fp8",
    "activations": None,
    "kv": "bf16",
    "tp": None,
    "ep": None,
    **WORKLOAD,
    "grid": "world",
    "provider": "",
    # stated by the reader in place of a record, or of a peak
    **dict.fromkeys(("price", "intensity", "pue", "arithmetic", "bandwidth")),
    "engine": constants.SHOWN[0],
    "unit": "GB",
}
PRESETS = (
    ("DeepSeek-V3 in FP8 on H200", {}),
    ("Llama-3.1-8B on one L40S", dict(model="llama-3.1-8b", hardware="l40s", weights="bf16")),
    ("Llama-3.1-70B on MI300X", dict(model="llama-3.1-70b", hardware="mi300x", weights="bf16")),
    (
        "Qwen3-235B-A22B in NVFP4 on B200",
        dict(model="qwen3-235b-a22b", hardware="b200-sxm", weights="nvfp4"),
    ),
    (
        "gpt-oss-120B in MXFP4 on B200, batch 64",
        dict(model="gpt-oss-120b", hardware="b200-sxm", weights="mxfp4", batch=64),
    ),
    (
        "A long context: Llama-3.1-8B, 100,000 tokens in",
        dict(model="llama-3.1-8b", weights="bf16", batch=8, isl=100_000),
    ),
    (
        "Too large: DeepSeek-V3 on one domain of A100",
        dict(hardware="a100-80gb-sxm", weights="bf16"),
    ),
)


@cache
def data() -> dict:
    """Return everything, with the ids of the records as keys."""
    return {
        "given": {**_base(load("constants", "counting")), **_assumed()},
        "zeros": sorted(x.name for x in _model_symbols()),
        "models": {id: _model(load("models", id)) for id in ids("models")},
        "hardware": {id: _device(load("hardware", id)) for id in ids("hardware")},
        "formats": {id: _format(load("formats", id)) for id in ids("formats")},
        "grids": {id: _grid(load("grids", id)) for id in ids("grids")},
        "roles": roles(),
        "operators": {name: [x.name for x in own] for name, own in OPERATORS.items()},
        "common": {"formats": FORMATS, "hardware": HARDWARE},
        "defaults": DEFAULTS,
        "shown": {x.name: _shown(x) for x in (*RESULTS, *BOUNDS)},
        "topics": {topic: [x.name for x in found] for topic, found in TOPICS.items()},
        "facts": {x.name: GLOSSARY[x].meaning for x in _facts()},
        "predictions": constants.data(),
        "edition": f"inferecon {EDITION}",
        "licence": LICENCE,
        "bibtex": citing.bibtex(
            cite.of_page("calculator", "a configuration, computed in the page")
        ),
    }


def written(found: object) -> str:
    """Return data as JSON that no markup can end."""
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _base(record: Record) -> dict[str, float]:
    return {x.name: value for x, value in record.given.items() if x in INPUTS}


def _assumed() -> dict[str, float]:
    return {name: v for id in ALWAYS for name, v in _base(load("assumptions", id)).items()}


def _model_symbols() -> list:
    """Return what every complete model states; a part that it lacks is zero."""
    return [x for x in load("models", MODELS[0]).given if x in INPUTS]


def _model(record: Record) -> dict:
    if record.lacks:
        return {"name": record.name, "lacks": record.lacks}
    given = {name: value for name, value in _base(record).items() if value}
    context = record["max_context"]
    return {
        "name": record.name,
        "native": record.about["native_dtype"],
        "context": context,
        "given": given,
    }


def _device(record: Record) -> dict:
    energy = f"energy-{record.id}"
    measured = load("assumptions", energy) if energy in ids("assumptions") else None
    return {
        "name": record.name,
        "vendor": record.about["vendor"],
        "given": {**_base(record), **(_base(measured) if measured else {})},
        "domain": null(record.get("scale_up_size")),
        "links": {
            "link": null(record.get("link_bandwidth")),
            "host": null(record.get("host_bandwidth")),
            "out": null(record.get("scale_out_bandwidth")),
        },
        "peaks": _cases(record, "peak_flops"),
        "joules": _cases(measured, "energy_per_flop") if measured else {},
        "offers": _offers(record.id),
    }


def _cases(record: Record, fact: str) -> dict[str, float]:
    """Return the values of a fact that is stated for several number formats."""
    cases = (key.partition("@")[2] for key in record.facts if key.startswith(f"{fact}@"))
    return {case: record[f"{fact}@{case}"] for case in cases}


def _offers(hardware: str) -> list[dict]:
    if hardware not in ids("prices"):
        return []
    return [
        {
            "provider": offer.provider,
            "price": offer.usd_per_second,
            "kind": offer.kind,
            "date": offer.date,
        }
        for offer in load("prices", hardware).offers
        if offer.price
    ]


def _format(record: Record) -> dict:
    about = record.about
    return {
        "name": record.name,
        "role": about["role"],
        "applies": about["applies_to"],
        "only": about["weight_only"],
        "row": about.get("block") == "row",
        "latent": "MLA" in record.name,  # the layout of a latent cache, which no other cache has
        "peak": about.get("peak", {}),
        "given": {x.name: value for x, value in record.given.items()},
    }


def _grid(record: Record) -> dict:
    return {"name": record.name, "year": record.about.get("year"), "given": _base(record)}


def _shown(symbol) -> dict:
    """Return the unit that a reader sees, how many a base unit has, what it is, which law."""
    unit = SHOWN.get(symbol) or UNITS[symbol]
    law = SERVICE.laws[symbol].id
    factor = ureg.Quantity(1.0, GLOSSARY[symbol].unit).to(unit).m
    needs = sorted(x.name for x in SERVICE.inputs_of(symbol) & set(_facts()))
    return {
        "unit": UNIT_NAMES.get(unit, unit),
        "factor": factor,
        "says": RESULTS.get(symbol, GLOSSARY[symbol].meaning),
        "law": law,
        "at": cite.url(law),
        "needs": needs,
    }


def _facts() -> list:
    """Return what a device, a grid or a price may lack, so that results may be missing for it."""
    known = {*_model_symbols(), *load("constants", "counting").given}
    known |= {x for id in ALWAYS for x in load("assumptions", id).given}
    known |= {s.SYMBOLS[name] for name in ("batch", "isl", "osl", "tp", "ep")}
    known |= component_formats(*["bf16"] * 4).keys()
    return [x for x in SERVICE.inputs if x not in known]


def null(value: float) -> float | None:
    return None if math.isnan(value) else value


def roles() -> dict[str, list[str]]:
    """Return the number formats that weights, activations and cache may have."""
    return {
        role: [id for id in ids("formats") if word in load("formats", id).about["role"]]
        for role, word in ROLES.items()
    }
