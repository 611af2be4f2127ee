"""A model of random weights: made once a format, run with the cache of each point."""

import torch
import torch.nn.functional as F

from .layers import FP8, Weights, dense, experts, gqa, mla, norm, route, turns
from .plan import Point
from .shapes import Layer, Model, Shapes, heads, narrow

SIXTEEN = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp8": torch.bfloat16}


def make(shapes: Shapes, format: str, device: str, dtype: torch.dtype) -> Weights:
    """Return random weights that keep the size of what they multiply; norms are ones."""
    made: Weights = {}
    for name, shape in shapes.items():
        if len(shape) == 1 or name == "norms":
            fill = 1.0 if "norm" in name else 0.0
            made[name] = torch.full(shape, fill, dtype=dtype, device=device)
        elif format == "fp8" and narrow(name, shape):
            made[name] = torch.empty(shape, dtype=FP8, device=device)
            for part in made[name] if len(shape) == 3 else (made[name],):
                # Of unit size, with the rest in the scale: eight bits hold it well.
                part.copy_(torch.randn(part.shape, dtype=dtype, device=device).to(FP8))
            made[f"{name}_scale"] = torch.tensor(shape[-1] ** -0.5, device=device)
            made["one"] = torch.tensor(1.0, device=device)
        else:
            inner = shape[-2] if name.startswith("absorb_v") else shape[-1]
            made[name] = torch.empty(shape, dtype=dtype, device=device).normal_(0, inner**-0.5)
    return made


class Built:
    """Some layers of a model, with weights of their own each, and its tables."""

    def __init__(
        self,
        model: Model,
        places: list[int],
        format: str,
        device: str,
        fused: bool,
        dtype: torch.dtype | None = None,
    ):
        self.model, self.device, self.fused = model, device, fused
        self.dtype = dtype or SIXTEEN[format]
        self.layers = {i: make(model.layers[i].shapes, format, device, self.dtype) for i in places}
        self.tables = make(model.tables, "bf16", device, self.dtype)
        self.routes: dict = {}
        self.caches: dict[int, list[torch.Tensor]] = {}

    def ready(self, point: Point, places: list[int]) -> None:
        """Make cache and input of a point, in place of those of the point before."""
        self.caches, self.routes, self.places, self.point = {}, {}, places, point
        batch, tokens = point.batch, point.context
        for i in places:
            layer = self.model.layers[i]
            held = min(tokens, layer.window) if layer.window else tokens
            self.caches[i] = [
                torch.randn(batch, groups, held, width, dtype=self.dtype, device=self.device)
                for groups, width in layer.cache
            ]
        self.prompt = point.phase == "prefill"
        shape = (batch, tokens) if self.prompt else (batch, 1)
        rows = self.model["vocab_size"]
        self.tokens = torch.randint(rows, shape, device=self.device)
        first = 0 if self.prompt else tokens - 1
        self.positions = torch.arange(first, tokens, device=self.device)
        widths = {self._rotary(self.model.layers[i]) for i in places}
        self.turns = {width: turns(self.positions, width, self.dtype) for width in widths if width}

    def _rotary(self, layer: Layer) -> int:
        """Width that is turned; 0 where positions are learned."""
        if self.model["learned_positions"]:
            return 0
        if layer.mixer == "mla":
            return self.model["qk_rope_head_dim"]
        return heads(self.model.facts, layer.mixer)[1]

    @torch.inference_mode()
    def step(self) -> torch.Tensor:
        """Run the point once: logits of the last token, or its residual where layers lack."""
        tables = self.tables
        x = F.embedding(self.tokens, tables["embedding"])
        if "positions" in tables:
            x = x + tables["positions"][self.positions]
        if "first_norm" in tables:
            x = norm(x, tables["first_norm"])
        for i in self.places:
            x = self._layer(x, i)
        if len(self.places) < len(self.model.layers):
            return x
        x = norm(x[:, -1], tables["last_norm"])
        return F.linear(x, tables.get("head", tables["embedding"]), tables.get("head_bias"))

    def _layer(self, x: torch.Tensor, i: int) -> torch.Tensor:
        """Residual and norms: one shared by both parts, one before each, or one at every end."""
        rows = self.layers[i]["norms"]
        if len(rows) == 1:
            same = norm(x, rows[0])
            return x + self._mix(same, i) + self._feed(same, i)
        if len(rows) == 2:
            x = x + self._mix(norm(x, rows[0]), i)
            return x + self._feed(norm(x, rows[1]), i)
        x = x + norm(self._mix(norm(x, rows[0]), i), rows[1])
        return x + norm(self._feed(norm(x, rows[2]), i), rows[3])

    def _mix(self, x: torch.Tensor, i: int) -> torch.Tensor:
        layer, f = self.model.layers[i], self.model.facts
        turn = self.turns.get(self._rotary(layer))
        if layer.mixer == "mla":
            return mla(x, self.layers[i], f, turn, self.caches[i], self.prompt)
        kv = heads(f, layer.mixer)
        return gqa(x, self.layers[i], f, kv, turn, self.caches[i], self.prompt)

    def _feed(self, x: torch.Tensor, i: int) -> torch.Tensor:
        f, gated = self.model.facts, self.model["mlp_matrices"] == 3
        if self.model.layers[i].feed == "dense":
            return dense(x, self.layers[i], gated)
        return experts(x, self.layers[i], f, gated, lambda n: self._route(i, n), self.fused)

    def _route(self, i: int, tokens: int):
        """Return the route of a layer: drawn in the first run, which no graph captures."""
        if (i, tokens) not in self.routes:
            f = self.model.facts
            self.routes[i, tokens] = route(tokens, f["n_experts"], f["top_k"], i, self.device)
        return self.routes[i, tokens]
