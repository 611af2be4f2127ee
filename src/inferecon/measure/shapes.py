"""Which weights does a layer hold?  Names and shapes from a model's record, no tensor yet.

Shapes are written out and not counted by the laws, so the sum of all of them
checks ``PARAM-TOTAL`` and the other way round: they agree exactly, or nothing is measured.
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod

from .. import symbols as s
from ..errors import BadInput
from ..laws import SERVICE
from ..records import Record, load

# What a layer may have that is not built here: the count that says so, and its name.
NOT_BUILT = {
    s.n_indexed_layers: "block-indexed attention",
    s.n_index_layers: "the sparse-attention index on MLA",
    s.n_csa0_layers: "compressed attention",
    s.n_csa4_layers: "compressed attention",
    s.n_csa128_layers: "compressed attention",
    s.n_gdn_layers: "Gated DeltaNet",
    s.n_kda_layers: "Kimi delta attention",
    s.n_lightning_layers: "lightning attention",
    s.n_mamba_layers: "Mamba-2",
    s.hyper_mult: "hyper-connections",
    s.expert_latent: "experts in a latent",
    s.moe_dense_width: "a dense MLP beside the experts",
}
MIXERS = {"full": s.n_full_layers, "local": s.n_local_layers, "mla": s.n_mla_layers}
FEEDS = {"dense": s.n_dense_layers, "moe": s.n_moe_layers}
# What a narrow format leaves in sixteen bits, though it has two dimensions.  Biases of experts
# and the absorbed projections, which no product of eight bits takes in batches, stay so too.
WIDE = ("router", "embedding", "head", "positions", "norms")
WIDTHS = {"bf16": 2, "fp16": 2, "fp8": 1}  # bytes an element of the linear layers

Shapes = dict[str, tuple[int, ...]]


def elements(shapes: Shapes) -> int:
    return sum(prod(shape) for shape in shapes.values())


def narrow(name: str, shape: tuple[int, ...]) -> bool:
    """Say whether a format narrower than sixteen bits applies: linear layers and experts."""
    table = name in WIDE or name.startswith("absorb") or name.endswith("_bias")
    return len(shape) >= 2 and not table


def bytes_of(shapes: Shapes, format: str) -> int:
    """Bytes of some weights, scales left out."""
    return sum(
        prod(shape) * (WIDTHS[format] if narrow(name, shape) else 2)
        for name, shape in shapes.items()
    )


@dataclass(frozen=True)
class Layer:
    """One layer: its mixer (full, local, mla), its feed-forward (dense, moe), its weights."""

    mixer: str
    feed: str
    shapes: Shapes
    cache: tuple[tuple[int, int], ...]  # (heads, width) of each tensor cached for a token
    window: int  # tokens it attends to at most; 0 for all


@dataclass(frozen=True)
class Model:
    """All layers of a record, and the tables around them."""

    id: str
    facts: dict[str, int]
    layers: tuple[Layer, ...]
    tables: Shapes

    def __getitem__(self, name: str) -> int:
        return self.facts.get(name, 0)

    @cached_property
    def elements(self) -> int:
        return elements(self.tables) + sum(elements(layer.shapes) for layer in self.layers)

    @property
    def window(self) -> int:
        """Shortest window of its layers; 0 if all attend to everything."""
        return min((layer.window for layer in self.layers if layer.window), default=0)


def model(record: Record) -> Model:
    """Return the shapes of a record.  Raises BadInput, with the name of what cannot be built."""
    if record.lacks:
        raise BadInput(f"{record.id} cannot be measured: its shapes are not public")
    given = record.given
    for symbol, name in NOT_BUILT.items():
        if given.get(symbol):
            raise BadInput(
                f"{record.id} cannot be measured: inferecon measure does not build {name}"
            )
    if given.get(s.n_full_layers) and not given[s.value_projection]:
        raise BadInput(
            f"{record.id} cannot be measured: inferecon measure does not build attention"
            " whose values are its keys"
        )
    f = {symbol.name: int(value) for symbol, value in given.items() if float(value).is_integer()}
    kinds = list(zip(_sequence(given, MIXERS), _sequence(given, FEEDS), strict=False))
    built = Model(
        record.id, f, tuple(_layer(f, mixer, feed) for mixer, feed in kinds), _tables(f, record)
    )
    counted = SERVICE.solve({**load("constants", "counting").given, **given})[s.params_total]
    if built.elements != counted:
        raise BadInput(
            f"{record.id} cannot be measured: shapes of {built.elements:,} weights were built,"
            f" and the laws count {counted:,.0f}"
        )
    return built


def _sequence(given: dict, kinds: dict) -> list[str]:
    """Return the kind of each layer, each kind spread evenly; a dense MLP comes before experts.

    Records state how many layers of a kind there are, not where: time and energy of a step do
    not depend on it.
    """
    counts = {kind: int(given.get(symbol, 0)) for kind, symbol in kinds.items()}
    if "dense" in counts:
        return [kind for kind, count in counts.items() for _ in range(count)]
    places = [
        ((i + 0.5) / count, kind) for kind, count in counts.items() for i in range(count) if count
    ]
    return [kind for _, kind in sorted(places)]


def _layer(f: dict, mixer: str, feed: str) -> Layer:
    shapes: Shapes = {"norms": (f["norms_per_layer"], f["norm_vectors"] * f["hidden_size"])}
    sinks = f["local_sinks" if mixer == "local" else "sinks"]
    shapes |= _mla(f) if mixer == "mla" else _gqa(f, heads(f, mixer), sinks)
    shapes |= _dense(f, f["dense_width"]) if feed == "dense" else _moe(f)
    if mixer == "mla":
        cache: tuple = ((1, f["kv_lora_rank"] + f["qk_rope_head_dim"]),)
    else:
        groups, width, v_width = heads(f, mixer)
        cache = ((groups, width), (groups, v_width))
    return Layer(mixer, feed, shapes, cache, f["window"] if mixer == "local" else 0)


def heads(f: dict, mixer: str) -> tuple[int, int, int]:
    """Key-value heads, key width and value width of an attention layer."""
    start = "local_" if mixer == "local" else ""
    names = ("local_kv_heads" if start else "n_kv_heads", start + "head_dim", start + "v_head_dim")
    return tuple(f[name] for name in names)


def _gqa(f: dict, kv: tuple[int, int, int], sinks: int) -> Shapes:
    d, h = f["hidden_size"], f["n_heads"]
    groups, width, v_width = kv
    rows = h * width + groups * (width + v_width)
    shapes: Shapes = {"qkv": (rows, d), "o": (d, h * v_width)}
    if f["output_gate"]:
        shapes["gate"] = (h * width, d)
    if f["qkv_bias"]:
        shapes["qkv_bias"] = (rows,)
    if f["o_bias"]:
        shapes["o_bias"] = (d,)
    if f["qk_norm_per_head"]:
        shapes |= {"q_norm": (width,), "k_norm": (width,)}
    if f["qk_norm_full"]:
        shapes |= {"q_norm": (h * width,), "k_norm": (groups * width,)}
    if sinks:
        shapes["sinks"] = (h,)
    return shapes


def _mla(f: dict) -> Shapes:
    d, h, rank = f["hidden_size"], f["n_heads"], f["kv_lora_rank"]
    query = h * (f["qk_nope_head_dim"] + f["qk_rope_head_dim"])
    v_width, latent = f["mla_v_head_dim"], f["q_lora_rank"]
    shapes: Shapes = {"kv_down": (rank + f["qk_rope_head_dim"], d), "kv_norm": (rank,)}
    if latent:
        shapes |= {"q_down": (latent, d), "q_norm": (latent,), "q_up": (query, latent)}
    else:
        shapes["q_up"] = (query, d)
    shapes["absorb_k"] = (h, f["qk_nope_head_dim"], rank)
    shapes["absorb_v"] = (h, rank, v_width)
    shapes["o"] = (d, h * v_width)
    if f["mla_output_gate"]:
        shapes["gate"] = (h * v_width, d)
    return shapes


def _dense(f: dict, width: int, start: str = "") -> Shapes:
    d, inner = f["hidden_size"], f["mlp_matrices"] - 1
    shapes: Shapes = {start + "up": (inner * width, d), start + "down": (d, width)}
    if f["mlp_bias"] and not start:
        shapes |= {"up_bias": (inner * width,), "down_bias": (d,)}
    return shapes


def _moe(f: dict) -> Shapes:
    d, experts, inner = f["hidden_size"], f["n_experts"], f["mlp_matrices"] - 1
    width = f["expert_width"]
    shapes: Shapes = {
        "router": (experts, d),
        "experts_up": (experts, inner * width, d),
        "experts_down": (experts, d, width),
    }
    if f["router_bias"]:
        shapes["router_bias"] = (experts,)
    if f["expert_bias"]:
        shapes |= {"experts_up_bias": (experts, inner * width), "experts_down_bias": (experts, d)}
    if f["shared_width"]:
        shapes |= _dense(f, f["shared_width"], "shared_")
    if f["shared_gate"]:
        shapes["shared_gate"] = (d,)
    return shapes


def _tables(f: dict, record: Record) -> Shapes:
    """Return embedding, head and what else stands around the layers."""
    d, rows = f["hidden_size"], f["vocab_size"]
    shapes: Shapes = {"embedding": (rows, d), "last_norm": (f["norm_vectors"] * d,)}
    if f["head_untied"]:
        shapes["head"] = (rows, d)
    if f["head_bias"]:
        shapes["head_bias"] = (rows,)
    if f["embedding_norm"]:
        shapes["first_norm"] = (f["norm_vectors"] * d,)
    if f["learned_positions"]:
        shapes["positions"] = (f["learned_positions"], d)
    if f["extra_params"]:
        shapes["others"] = (f["extra_params"],)
    return shapes
