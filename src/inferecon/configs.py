"""A model from its ``config.json``: which key is which fact, written once for Python and the page.

The rules are expressions in the keys of the file.  They are compiled to NumPy here and printed in
JavaScript for the calculator, so both read a file alike.  What an architecture has whether its
file says so or not (a bias, a norm on queries and keys) is a number of its rule, as its code has
it.  An architecture without a rule is refused: a guess would be a model that nobody made.
"""

import json
import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
import yaml

from . import symbols as s
from .compiled import compiled, javascript
from .errors import BadInput
from .records import MOST, POSITIVE
from .symbols import PARTS

Facts = dict[sp.Symbol, sp.Basic]
WIDTHS = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}  # torch's names, and ours
LONGEST = 1_000_000  # letters of a file; none comes near


class Rule(NamedTuple):
    """Facts as expressions in keys, the keys that must be there, and what the rule does not know.

    ``refuses`` has for each case that the rule does not cover what to say, and when it is so.
    """

    facts: Facts
    needs: tuple[str, ...]
    refuses: tuple[tuple[str, sp.Basic], ...] = ()


# Keys --------------------------------------------------------------------------------------------


def key(name: str) -> sp.Symbol:
    """Return the number under a key: NaN where it is absent or null, 1 for true, 0 for false."""
    return sp.Symbol(name, real=True)


def first(*choices) -> sp.Basic:
    """Return the first that is there; the last needs no key."""
    *keys, last = choices
    return sp.Piecewise(*((one, one >= 0) for one in keys), (last, True))


LAYERS = key("num_hidden_layers")
HIDDEN = key("hidden_size")
HEADS = key("num_attention_heads")
CORE = ("hidden_size", "num_hidden_layers", "vocab_size", "num_attention_heads")
CORE = (*CORE, "max_position_embeddings")
BIAS = first(key("attention_bias"), 0)


# Parts --------------------------------------------------------------------------------------------


def core(tied: int = 0) -> Facts:
    """Return what every model has; ``tied`` is what an absent tie_word_embeddings means."""
    return {
        s.hidden_size: HIDDEN,
        s.n_layers: LAYERS,
        s.vocab_size: key("vocab_size"),
        s.head_untied: 1 - first(key("tie_word_embeddings"), tied),
        s.max_context: key("max_position_embeddings"),
        s.norm_vectors: 1,
        s.norms_per_layer: 2,
        s.n_heads: HEADS,
        s.mlp_matrices: 3,
    }


def attention(head=HIDDEN / HEADS, qkv=0, output=0, normed=0) -> Facts:
    """Return heads of keys and values; ``head`` is the width that an absent head_dim means."""
    wide = first(key("head_dim"), head)
    return {
        s.n_full_layers: LAYERS,
        s.n_kv_heads: first(key("num_key_value_heads"), HEADS),
        s.head_dim: wide,
        s.v_head_dim: wide,
        s.value_projection: 1,
        s.qkv_bias: qkv,
        s.o_bias: output,
        s.qk_norm_per_head: normed,
    }


def windowed(facts: Facts, layers, when: sp.Basic) -> Facts:
    """Give some of the layers a window, if there is one; the others attend to everything."""

    def there(value):
        return sp.Piecewise((value, when), (0, True))

    layers = there(layers)

    return facts | {
        s.n_full_layers: LAYERS - layers,
        s.n_local_layers: layers,
        s.window: there(key("sliding_window")),
        s.local_kv_heads: there(facts[s.n_kv_heads]),
        s.local_head_dim: there(facts[s.head_dim]),
        s.local_v_head_dim: there(facts[s.head_dim]),
        s.local_value_projection: there(sp.S.One),
        s.local_sinks: there(facts.get(s.sinks, sp.S.Zero)),
    }


def dense(layers=LAYERS, bias=0) -> Facts:
    return {s.n_dense_layers: layers, s.dense_width: key("intermediate_size"), s.mlp_bias: bias}


def experts(count: str, wide: str, layers=LAYERS, **others) -> Facts:
    """Return routed experts; ``count`` and ``wide`` are the keys of number and width."""
    return {
        s.n_moe_layers: layers,
        s.n_experts: key(count),
        s.top_k: key("num_experts_per_tok"),
        s.expert_width: key(wide),
        **{s.SYMBOLS[name]: value for name, value in others.items()},
    }


def latent(router_bias: int, modules: str = "") -> Rule:
    """Return DeepSeek's latent attention with shared and routed experts.

    ``modules`` is the key that counts those for multi-token prediction.
    """
    before = key("first_k_dense_replace")
    facts = core() | dense(before)
    facts |= {
        s.n_mla_layers: LAYERS,
        s.q_lora_rank: first(key("q_lora_rank"), 0),
        s.kv_lora_rank: key("kv_lora_rank"),
        s.qk_nope_head_dim: key("qk_nope_head_dim"),
        s.qk_rope_head_dim: key("qk_rope_head_dim"),
        s.mla_v_head_dim: key("v_head_dim"),
    }
    facts |= experts(
        "n_routed_experts",
        "moe_intermediate_size",
        LAYERS - before,
        shared_width=first(key("n_shared_experts"), 0) * key("moe_intermediate_size"),
        router_bias=router_bias,
    )
    if modules:
        there = sp.Piecewise((1, key(modules) > 0), (0, True))
        facts |= {
            s.mtp_modules: first(key(modules), 0),
            s.mtp_mla_layers: there,
            s.mtp_moe_layers: there,
        }
        facts |= {s.mtp_proj: 2 * there, s.mtp_norms: 3 * there, s.mtp_copies: 2 * there}
    needs = ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
    needs += ("n_routed_experts", "num_experts_per_tok", "moe_intermediate_size")
    needs += ("intermediate_size", "first_k_dense_replace")
    sparse = ("moe_layer_freq other than 1", key("moe_layer_freq") > 1)
    return Rule(facts, (*CORE, *needs), (sparse,))


# Architectures ------------------------------------------------------------------------------------

WIDTH = (*CORE, "intermediate_size")
SLIDING = ("use_sliding_window", key("use_sliding_window") > 0)
LOCAL = key("layer_types_sliding_attention")
EVERY = (
    ("layers without experts", key("mlp_only_layers_length") > 0),
    ("decoder_sparse_step other than 1", key("decoder_sparse_step") > 1),
)
MISTRAL = windowed(attention(), LAYERS, key("sliding_window") > 0)
OF_EXPERTS = ("num_experts_per_tok",)
RULES = {
    "LlamaForCausalLM": Rule(
        core() | attention(qkv=BIAS, output=BIAS) | dense(bias=first(key("mlp_bias"), 0)),
        WIDTH,
    ),
    "MistralForCausalLM": Rule(core() | MISTRAL | dense(), WIDTH),
    "MixtralForCausalLM": Rule(
        core() | MISTRAL | experts("num_local_experts", "intermediate_size"),
        (*WIDTH, "num_local_experts", *OF_EXPERTS),
    ),
    "Qwen2ForCausalLM": Rule(core() | attention(qkv=1) | dense(), WIDTH, (SLIDING,)),
    "Qwen3ForCausalLM": Rule(
        core() | attention(head=128, qkv=BIAS, output=BIAS, normed=1) | dense(), WIDTH, (SLIDING,)
    ),
    "Qwen3MoeForCausalLM": Rule(
        core()
        | attention(qkv=BIAS, output=BIAS, normed=1)
        | experts("num_experts", "moe_intermediate_size"),
        (*CORE, "num_experts", "moe_intermediate_size", *OF_EXPERTS),
        (SLIDING, *EVERY),
    ),
    "DeepseekV2ForCausalLM": latent(0),
    "DeepseekV3ForCausalLM": latent(1, "num_nextn_predict_layers"),
    "GptOssForCausalLM": Rule(
        core()
        | windowed(attention(qkv=1, output=1) | {s.sinks: sp.S.One}, LOCAL, LOCAL > 0)
        | experts("num_local_experts", "intermediate_size", router_bias=1, expert_bias=1),
        (*WIDTH, "num_local_experts", "sliding_window", "layer_types_sliding_attention")
        + OF_EXPERTS,
    ),
}


# Reading ------------------------------------------------------------------------------------------


def flat(config: dict[str, Any]) -> dict[str, float]:
    """Return every number of a file by its key, and of a list how long it is and what is in it.

    The model of a file with a vision tower stands under ``text_config``.
    """
    inner = config.get("text_config")
    values: dict[str, float] = {}
    for name, value in (config | inner if isinstance(inner, dict) else config).items():
        if isinstance(value, (bool, int, float)):
            values[name] = float(value)
        elif isinstance(value, list):
            values[f"{name}_length"] = float(len(value))
            for one in value:
                if isinstance(one, str):
                    values[f"{name}_{one}"] = values.get(f"{name}_{one}", 0.0) + 1
    return values


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
    name, values = architecture(config), flat(config)
    rule = RULES[name]
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
    for symbol, value in known.items():
        least = 1 if symbol in POSITIVE else 0
        if not (least <= value <= MOST and value == int(value)):
            raise BadInput(f"{symbol} must be a whole number of at least {least}")
    return {symbol: value for symbol, value in known.items() if value}


def native(config: dict[str, Any]) -> str:
    """Return the number format of the weights.  Raises BadInput where the file states none."""
    inner = config.get("text_config")
    both = [config, inner if isinstance(inner, dict) else {}]
    named = [one[name] for one in both for name in ("torch_dtype", "dtype") if one.get(name)]
    known = [WIDTHS[one] for one in named if isinstance(one, str) and one in WIDTHS]
    if not known:
        raise BadInput(f"config.json states no torch_dtype of {', '.join(WIDTHS)}")
    return known[0]


def loads(text: str) -> dict[str, Any]:
    """Read the text of a file.  Raises BadInput if it is none."""
    if len(text) > LONGEST:
        raise BadInput(f"a config.json has at most {LONGEST:,} letters")
    try:
        config = json.loads(text, parse_int=float, parse_constant=_refused)
    except (ValueError, RecursionError):
        raise BadInput("this is not JSON: paste the whole config.json") from None
    if not isinstance(config, dict):
        raise BadInput("this JSON is no config.json: it has no keys")
    return config


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
    return yaml.safe_dump({"id": id, "name": id, "about": about, "facts": entry}, sort_keys=False)


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
        name: {"needs": rule.needs, "refuses": [says for says, _ in rule.refuses]}
        for name, rule in RULES.items()
    }
    words = {"widths": WIDTHS, "longest": LONGEST, "most": MOST, "positive": sorted(POSITIVE)}
    return (
        "\n".join(texts)
        + f"\nexport const functions = {{{', '.join(RULES)}}};\n"
        + f"export const rules = {json.dumps(table)};\n"
        + f"export const stated = {json.dumps(words)};\n"
    )
