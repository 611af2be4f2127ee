"""Which key of a ``config.json`` is which fact of a model, one rule an architecture.

A rule is written in expressions of the keys.  They are compiled to NumPy for the command line
and printed in JavaScript for the calculator, so both read a file alike.  What an architecture has
whether its file says so or not (a bias, a norm on queries and keys) is a number of its rule, as
its code has it.
"""

from typing import NamedTuple

import sympy as sp

from . import symbols as s

Facts = dict[sp.Symbol, sp.Basic]


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
