"""One layer in PyTorch: attention over a cache, or over a prompt; a dense MLP, or experts.

Plain functions of named weights, with the kernels that PyTorch brings.  Weights
are random, so only shapes, formats and traffic mean anything.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from .plan import CHUNK

FP8 = torch.float8_e4m3fn
Weights = dict[str, torch.Tensor]


def linear(x: torch.Tensor, w: Weights, name: str) -> torch.Tensor:
    """Multiply by a matrix of sixteen bits, or of eight with activations cast here."""
    return _times(x, w[name], w.get(f"{name}_bias"), w.get(f"{name}_scale"), w.get("one"))


def _times(x, weight, bias, scale, one) -> torch.Tensor:
    if weight.dtype != FP8:
        return F.linear(x, weight, bias)
    flat = x.reshape(-1, x.shape[-1]).to(FP8)
    y = torch._scaled_mm(flat, weight.t(), scale_a=one, scale_b=scale, out_dtype=x.dtype)
    y = y if bias is None else y + bias
    return y.view(*x.shape[:-1], -1)


def norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """RMS norm with one vector, layer norm with two."""
    width = x.shape[-1]
    if weight.numel() == 2 * width:
        return F.layer_norm(x, (width,), weight[:width], weight[width:])
    return F.rms_norm(x, (width,), weight)


def rotate(x: torch.Tensor, turn: tuple[torch.Tensor, torch.Tensor] | None) -> torch.Tensor:
    """Rotary positions on the last axis; nothing where positions are learned."""
    if turn is None:
        return x
    cos, sin = turn
    left, right = x.chunk(2, -1)
    return torch.cat((left * cos - right * sin, right * cos + left * sin), -1)


def turns(positions: torch.Tensor, width: int, dtype: torch.dtype):
    """Cosines and sines of some positions, one row a position."""
    steps = torch.arange(0, width // 2, device=positions.device, dtype=torch.float32)
    angle = positions.float()[:, None] * 1e4 ** (-2 * steps / width)
    return angle.cos().to(dtype), angle.sin().to(dtype)


def weighed(q, keys, values, scale: float) -> torch.Tensor:
    """Attention as two matrix products and a softmax, for widths no fused kernel takes."""
    scores = (q @ keys.transpose(-1, -2)) * scale
    return torch.softmax(scores, -1) @ values


def causal(q, k, v, scale: float) -> torch.Tensor:
    """Attention of a prompt to itself; narrow values are padded so that a fused kernel takes it."""
    wide, thin = q.shape[-1], v.shape[-1]
    if thin < wide:
        v = F.pad(v, (0, wide - thin))
    grouped = q.shape[1] != k.shape[1]
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale, enable_gqa=grouped)
    return y[..., :thin]


def gqa(x, w: Weights, f: dict, kv, turn, cache, prompt: bool) -> torch.Tensor:
    """Attention with key and value heads; x is (batch, tokens, width).

    A step writes its token into the last slot of the cache; a prompt writes all of it.
    """
    batch, tokens, _ = x.shape
    h, (groups, width, v_width) = f["n_heads"], kv
    q, k, v = linear(x, w, "qkv").split((h * width, groups * width, groups * v_width), -1)
    whole = "q_norm" in w and w["q_norm"].numel() != width
    if whole:
        q, k = norm(q, w["q_norm"]), norm(k, w["k_norm"])
    q, k, v = (part.reshape(batch, tokens, -1, n).transpose(1, 2) for part, n in (
        (q, width), (k, width), (v, v_width)))  # fmt: skip
    if "q_norm" in w and not whole:
        q, k = norm(q, w["q_norm"]), norm(k, w["k_norm"])
    q, k = rotate(q, turn), rotate(k, turn)
    keys, values = cache
    if prompt:
        keys.copy_(k)
        values.copy_(v)
        y = causal(q, k, v, width**-0.5).transpose(1, 2)
    else:
        keys[:, :, -1:] = k
        values[:, :, -1:] = v
        # The queries of a group stand in for tokens: they meet the same keys, read once.
        q = q.reshape(batch, groups, h // groups, width)
        if width == v_width:
            y = F.scaled_dot_product_attention(q, keys, values)
        else:
            y = weighed(q, keys, values, width**-0.5)
    y = y.reshape(batch, tokens, -1)
    if "gate" in w:
        y = y * torch.sigmoid(linear(x, w, "gate"))
    return linear(y, w, "o")


def mla(x, w: Weights, f: dict, turn, cache, prompt: bool) -> torch.Tensor:
    """Latent attention: a prompt expands keys and values, a step works in the latent.

    In a step the up-projection of the keys is absorbed into the queries, that of the values
    into the output, and all heads read the same cache of latents.
    """
    batch, tokens, _ = x.shape
    h, rank = f["n_heads"], f["kv_lora_rank"]
    nope, rope = f["qk_nope_head_dim"], f["qk_rope_head_dim"]
    latent = norm(linear(x, w, "q_down"), w["q_norm"]) if "q_down" in w else x
    q = linear(latent, w, "q_up").view(batch, tokens, h, nope + rope).transpose(1, 2)
    q_nope, q_rope = q[..., :nope], rotate(q[..., nope:], turn)
    small, shared = linear(x, w, "kv_down").split((rank, rope), -1)
    entry = torch.cat((norm(small, w["kv_norm"]), rotate(shared, turn)), -1)
    (kept,) = cache  # (batch, 1, tokens, latent and rotary key)
    scale = (nope + rope) ** -0.5
    if prompt:
        kept.copy_(entry[:, None])
        small = entry[..., :rank].reshape(1, batch * tokens, rank)
        keys = (small @ w["absorb_k"].transpose(1, 2)).view(h, batch, tokens, nope)
        values = (small @ w["absorb_v"]).view(h, batch, tokens, -1).transpose(0, 1)
        shared = entry[:, None, :, rank:].expand(batch, h, tokens, rope)
        keys = torch.cat((keys.transpose(0, 1), shared), -1)
        y = causal(torch.cat((q_nope, q_rope), -1), keys, values, scale).transpose(1, 2)
    else:
        kept[:, 0, -1:] = entry
        absorbed = torch.bmm(q_nope[:, :, 0].transpose(0, 1), w["absorb_k"]).transpose(0, 1)
        one = torch.cat((absorbed, q_rope[:, :, 0]), -1)
        y = weighed(one, kept[:, 0], kept[:, 0, :, :rank], scale)
        y = torch.bmm(y.transpose(0, 1), w["absorb_v"]).transpose(0, 1)
    y = y.reshape(batch, tokens, -1)
    if "gate" in w:
        y = y * torch.sigmoid(linear(x, w, "gate"))
    return linear(y, w, "o")


def bend(y: torch.Tensor, gated: bool) -> torch.Tensor:
    """The nonlinearity: a gate and its product, or one GELU; which one is no matter of cost."""
    if not gated:
        return F.gelu(y)
    gate, up = y.chunk(2, -1)
    return F.silu(gate) * up


def dense(x: torch.Tensor, w: Weights, gated: bool, start: str = "") -> torch.Tensor:
    return linear(bend(linear(x, w, f"{start}up"), gated), w, f"{start}down")


@dataclass(frozen=True)
class Route:
    """Where tokens go, drawn beforehand, uniformly: rows sorted by expert."""

    token: torch.Tensor  # of each row
    back: torch.Tensor  # place of each (token, choice) among the rows
    ends: torch.Tensor  # end of each expert's rows
    counts: tuple[int, ...]
    chosen: torch.Tensor  # expert of each row


def route(tokens: int, experts: int, top_k: int, seed: int, device) -> Route:
    """Draw ``top_k`` different experts for each token."""
    draw = torch.Generator().manual_seed(seed)
    chosen = torch.rand(tokens, experts, generator=draw).topk(top_k, -1).indices.flatten()
    order = chosen.argsort(stable=True)
    counts = torch.bincount(chosen, minlength=experts)
    parts = (order // top_k, order.argsort(), counts.cumsum(0).to(torch.int32))
    token, back, ends = (part.to(device) for part in parts)
    return Route(token, back, ends, tuple(counts.tolist()), chosen[order].to(device))


def grouped() -> object | None:
    """Return PyTorch's grouped matrix product, None where it has none."""
    return getattr(F, "grouped_mm", None) or getattr(torch, "_grouped_mm", None)


def experts(x, w: Weights, f: dict, gated: bool, routes, fused: bool) -> torch.Tensor:
    """Routed and shared experts; ``routes`` gives the route of so many tokens.

    The router runs and its weights are used; its choice is replaced by the drawn one, since
    random weights would choose a few experts over and over.
    """
    flat = x.reshape(-1, x.shape[-1])
    parts = [_routed(some, w, f, gated, routes(len(some)), fused) for some in flat.split(CHUNK)]
    y = (parts[0] if len(parts) == 1 else torch.cat(parts)).view_as(x)
    if "shared_up" in w:
        shared = dense(x, w, gated, "shared_")
        if "shared_gate" in w:
            shared = shared * torch.sigmoid(x @ w["shared_gate"])[..., None]
        y = y + shared
    return y


def _routed(x, w: Weights, f: dict, gated: bool, path: Route, fused: bool) -> torch.Tensor:
    shares = torch.softmax(linear(x, w, "router").topk(f["top_k"], -1).values, -1)
    rows = _each(x[path.token], w, "experts_up", path, fused)
    rows = _each(bend(rows, gated), w, "experts_down", path, fused)
    rows = rows[path.back].view(len(x), f["top_k"], -1)
    return (rows * shares[..., None]).sum(1)


def _each(rows, w: Weights, name: str, path: Route, fused: bool) -> torch.Tensor:
    """Multiply each row by the matrix of its expert: in one kernel, or expert by expert."""
    weight, bias = w[name], w.get(f"{name}_bias")
    if fused and weight.dtype != FP8:
        y = grouped()(rows, weight.transpose(1, 2), offs=path.ends)
    else:
        scale, one = w.get(f"{name}_scale"), w.get("one")
        y = rows.new_empty(len(rows), weight.shape[1])
        start = 0
        for expert, count in enumerate(path.counts):
            if count:
                some = slice(start, start + count)
                y[some] = _times(rows[some], weight[expert], None, scale, one)
                start += count
    return y if bias is None else y + bias[path.chosen]
