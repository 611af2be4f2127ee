"""A model from its ``config.json``, by the rule of its architecture.

An architecture without a rule is refused: a guess would be a model that nobody made.
"""

import json
import math
from functools import cache
from typing import Any

import numpy as np
import sympy as sp
import yaml

from . import quantised
from . import symbols as s
from .architectures import RULES
from .compiled import compiled, javascript
from .errors import BadInput
from .records import POSITIVE
from .symbols import PARTS

WIDTHS = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}  # torch's names, and ours
# The most of a count that no model comes near, and of those that are kept smaller or larger.
MOST = 10_000_000
LIMITS = {"n_layers": 10_000, "max_context": 1_000_000_000, "window": 1_000_000_000}
# What layers of a kind cannot be without.
USED_BY = {
    "n_kv_heads": "n_full_layers",
    "head_dim": "n_full_layers",
    "local_kv_heads": "n_local_layers",
    "local_head_dim": "n_local_layers",
    "kv_lora_rank": "n_mla_layers",
    "dense_width": "n_dense_layers",
    "expert_width": "n_moe_layers",
    "n_experts": "n_moe_layers",
    "top_k": "n_moe_layers",
}
NONE_BELOW = {"sliding_window"}  # where a number below zero may stand for none
KINDS = {str: "text", list: "a list", dict: "an object", type(None): "null"}
LONGEST = 1_000_000  # letters of a file; none comes near
# DeepSeek's own inference code reads files with other keys, and says what stands where one is
# absent (deepseek-ai/DeepSeek-V3, inference/model.py): ours, theirs, and that value.
DEEPSEEK = (
    ("hidden_size", "dim", None),
    ("num_hidden_layers", "n_layers", None),
    ("vocab_size", "vocab_size", None),
    ("num_attention_heads", "n_heads", None),
    ("intermediate_size", "inter_dim", None),
    ("moe_intermediate_size", "moe_inter_dim", None),
    ("first_k_dense_replace", "n_dense_layers", None),
    ("n_routed_experts", "n_routed_experts", None),
    ("n_shared_experts", "n_shared_experts", None),
    ("num_experts_per_tok", "n_activated_experts", None),
    ("q_lora_rank", "q_lora_rank", 0.0),
    ("kv_lora_rank", "kv_lora_rank", None),
    ("qk_nope_head_dim", "qk_nope_head_dim", None),
    ("qk_rope_head_dim", "qk_rope_head_dim", None),
    ("v_head_dim", "v_head_dim", None),
    ("max_position_embeddings", "max_seq_len", 16384.0),
)
MARKS = ("dim", "n_layers", "n_routed_experts")  # such a file has these
SCORED = {"sigmoid": "DeepseekV3ForCausalLM", "softmax": "DeepseekV2ForCausalLM"}
STORED = {"fp8": "bfloat16", "bf16": "bfloat16"}  # what a weight format leaves alone is in bf16


def flat(config: dict[str, Any]) -> dict[str, float]:
    """Return every number of a file by its key, and of a list how long it is and what is in it.

    The model of a file with a vision tower stands under ``text_config``.
    """
    values: dict[str, float] = {}
    for name, value in _merged(config).items():
        if isinstance(value, (bool, int, float)):
            values[name] = float(value)
        elif isinstance(value, list):
            values[f"{name}_length"] = float(len(value))
            for one in value:
                if isinstance(one, str):
                    values[f"{name}_{one}"] = values.get(f"{name}_{one}", 0.0) + 1
    return values


def _merged(config: dict[str, Any]) -> dict[str, Any]:
    inner = config.get("text_config")
    return config | inner if isinstance(inner, dict) else config


def architecture(config: dict[str, Any]) -> str:
    """Return the architecture of a file.  Raises BadInput if it has no rule."""
    named = config.get("architectures")
    name = named[0] if isinstance(named, list) and named else None
    if not isinstance(name, str):
        raise BadInput("config.json states no architectures, so its keys cannot be read")
    if name not in RULES:
        raise BadInput(f"no rule for the architecture {name[:60]}; known: {', '.join(RULES)}")
    return name


def facts(config: dict[str, Any]) -> dict[str, float]:
    """Return the facts of a model by symbol, those that are zero left out.

    Raises BadInput for an architecture without a rule, a key that is missing, a case that the
    rule does not cover, or a value that is no count.
    """
    name, values, stated = architecture(config), flat(config), _merged(config)
    rule, inputs = RULES[name], _parts(architecture(config))[0]
    for one in (x.name for x in inputs):
        value = stated.get(one, 0)
        if type(value) in KINDS and (value is not None or one in rule.needs):
            raise BadInput(f"{one} must be a number, not {KINDS[type(value)]}")
    if lacking := [one for one in rule.needs if one not in values]:
        raise BadInput(f"config.json of {name} states no {', '.join(lacking)}")
    inputs, results = _parts(name)
    given = [np.float64(values.get(x.name, math.nan)) for x in inputs]
    with np.errstate(all="ignore"):
        found = [float(value) for value in _function(name)(*given)]
    for (says, _), refused in zip(rule.refuses, found[len(results) :], strict=True):
        if refused:
            raise BadInput(f"the rule for {name} does not cover {says}")
    known = {x.name: value for x, value in zip(results, found, strict=False)}
    if wrong := impossible(known):
        raise BadInput(wrong)
    for one in (x.name for x in inputs):
        if values.get(one, 0) < 0 and one not in NONE_BELOW:
            raise BadInput(f"{one} must not be below zero")
    return {symbol: value for symbol, value in known.items() if value}


def impossible(known: dict[str, float]) -> str:
    """Say why no model has such facts, in one sentence; empty if one may."""
    for symbol, value in known.items():
        used = known.get(USED_BY.get(symbol, ""), 0) > 0
        least, most = 1 if used or symbol in POSITIVE else 0, LIMITS.get(symbol, MOST)
        if not (least <= value <= most and value == int(value)):
            return f"{symbol} must be a whole number from {least} to {most:,}"
    heads = known["n_heads"]
    for symbol in ("n_kv_heads", "local_kv_heads"):
        shared = known.get(symbol, 0)
        if shared and heads % shared:
            return f"{shared:.0f} heads of keys and values do not divide the {heads:.0f} heads"
    chosen, experts = known.get("top_k", 0), known.get("n_experts", 0)
    if chosen > experts:
        return f"a token cannot go to {chosen:.0f} experts where there are {experts:.0f}"
    return ""


def native(config: dict[str, Any]) -> str:
    """Return the number format of the weights.  Raises BadInput where the file states none."""
    inner = config.get("text_config")
    both = [config, inner if isinstance(inner, dict) else {}]
    named = [one[name] for one in both for name in ("torch_dtype", "dtype") if one.get(name)]
    known = [WIDTHS[one] for one in named if isinstance(one, str) and one in WIDTHS]
    if not known:
        raise BadInput(f"config.json states no torch_dtype of {', '.join(WIDTHS)}")
    return known[0]


def weights(config: dict[str, Any]) -> tuple[str, str]:
    """Return the number format that the weights are stored in, and a sentence on why it is that."""
    return quantised.format_of(config, native(config))


def loads(text: str) -> dict[str, Any]:
    """Read the text of a file.  Raises BadInput if it is none."""
    if len(text) > LONGEST:
        raise BadInput(f"a config.json has at most {LONGEST:,} letters")
    try:
        config = json.loads(text.removeprefix("\ufeff"), parse_int=float, parse_constant=_refused)
    except (ValueError, RecursionError):
        raise BadInput("this is not JSON: paste the whole config.json") from None
    if not isinstance(config, dict):
        raise BadInput("this JSON is no config.json: it has no keys")
    return translated(config)


def translated(config: dict[str, Any]) -> dict[str, Any]:
    """Return a file of DeepSeek's own inference code with the keys of a config.json.

    Any other file comes back as it is.  Raises BadInput for a value that the code does not know.
    """
    if "architectures" in config or any(mark not in config for mark in MARKS):
        return config
    found = {ours: config.get(theirs, value) for ours, theirs, value in DEEPSEEK}
    known = {}
    for name, table, usual in (("score_func", SCORED, "softmax"), ("dtype", STORED, "bf16")):
        word = config.get(name, usual)
        if not isinstance(word, str) or word not in table:
            raise BadInput(f"{name} must be one of {', '.join(table)}")
        known[name] = table[word]
    found |= {"architectures": [known["score_func"]], "torch_dtype": known["dtype"]}
    found["quantization_config"] = {"quant_method": "fp8"} if config.get("dtype") == "fp8" else None
    return {name: value for name, value in found.items() if value is not None}


def _refused(word: str):
    raise ValueError(f"{word} is no JSON")


def record(text: str, id: str) -> str:
    """Return the record of a model as YAML, to be kept in the reader's own folder.

    Its source is *unsourced* until the reader names the page the file came from.
    """
    config = loads(text)
    found = facts(config)
    written = {x.name: 0.0 for part in PARTS.values() if _has(part, found) for x in part} | found
    about = {"native_dtype": native(config), "published_scope": "lm", "published_exact": False}
    entry = {
        name: {
            "value": _worded(name, int(value)),
            "source": ["unsourced"],
            "where": f"config.json, {architecture(config)}",
        }
        for name, value in written.items()
    }
    found = {"id": id, "name": id, "about": about, "facts": entry, "notes": [weights(config)[1]]}
    return yaml.safe_dump(found, sort_keys=False)


def _has(part: list[sp.Symbol], found: dict[str, float]) -> bool:
    return any(x.name in found for x in part)


def _worded(name: str, value: int) -> int | str:
    unit = s.GLOSSARY[s.SYMBOLS[name]].unit
    return f"{value} {unit:~}" if unit.dimensionality else value


# Both languages --------------------------------------------------------------------------------


def _parts(name: str) -> tuple[list[sp.Symbol], list[sp.Symbol]]:
    """Return keys that a rule reads, and facts that it gives."""
    rule = RULES[name]
    exprs = [*map(sp.sympify, rule.facts.values()), *(when for _, when in rule.refuses)]
    keys = set().union(*(expr.free_symbols for expr in exprs))
    return sorted(keys, key=str), list(rule.facts)


def _chain(name: str) -> list[tuple[sp.Symbol, sp.Basic]]:
    """Return facts and refusals of a rule, each under a name that is no key."""
    rule = RULES[name]
    facts_ = [(symbol, sp.sympify(expr)) for symbol, expr in rule.facts.items()]
    return facts_ + [
        (sp.Symbol(f"refused_{n}"), sp.Piecewise((1, when), (0, True)))
        for n, (_, when) in enumerate(rule.refuses)
    ]


@cache
def _function(name: str):
    return compiled(_parts(name)[0], [expr for _, expr in _chain(name)])


def module() -> str:
    """Return the rules as an ES module: a function for each architecture, and what each needs."""
    texts = [
        javascript(name, _parts(name)[0], [x for x, _ in _chain(name)], _chain(name))
        for name in RULES
    ]
    table = {
        name: {
            "needs": rule.needs,
            "reads": [x.name for x in _parts(name)[0]],
            "refuses": [says for says, _ in rule.refuses],
        }
        for name, rule in RULES.items()
    }
    words = {
        "widths": WIDTHS,
        "longest": LONGEST,
        "most": MOST,
        "limits": LIMITS,
        "usedBy": USED_BY,
        "noneBelow": sorted(NONE_BELOW),
        "positive": sorted(POSITIVE),
    }
    words |= {"deepseek": DEEPSEEK, "marks": MARKS, "scored": SCORED, "stored": STORED}
    words |= {"quantised": quantised.FORMATS, "grouped": quantised.GROUPED}
    words |= {"letters": quantised.LETTERS}
    return (
        "\n".join(texts)
        + f"\nexport const functions = {{{', '.join(RULES)}}};\n"
        + f"export const rules = {json.dumps(table)};\n"
        + f"export const stated = {json.dumps(words)};\n"
    )
