from __future__ import annotations

import torch
from einops import einsum, rearrange, reduce
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


def make_weight(*shape: int, std: float, cut: float = 3.0) -> nn.Parameter:
    w = torch.empty(*shape)
    nn.init.trunc_normal_(w, std=std, a=-cut * std, b=cut * std)
    return nn.Parameter(w)


class Linear(nn.Module):
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.W = make_weight(d_out, d_in, std=(2 / (d_in + d_out)) ** 0.5)

    def forward(self, x: Float[Tensor, "... d_in"]) -> Float[Tensor, "... d_out"]:
        return einsum(x, self.W, "... d_in, d_out d_in -> ... d_out")


class Embedding(nn.Module):
    def __init__(self, vocab_size: int, d_model: int):
        super().__init__()
        self.table = make_weight(vocab_size, d_model, std=1.0)

    def forward(self, ids: Int[Tensor, "..."]) -> Float[Tensor, "... d_model"]:
        return self.table.index_select(0, ids.reshape(-1)).reshape(*ids.shape, -1)


class RMSNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "... d"]) -> Float[Tensor, "... d"]:
        x32 = x.float()
        mean_square = reduce(x32**2, "... d -> ... 1", "mean")
        normed = x32 * torch.rsqrt(mean_square + self.eps)
        return einsum(normed, self.gain, "... d, d -> ... d").to(x.dtype)


def silu(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    return x / (1 + torch.exp(-x))


class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        self.up = Linear(d_model, d_ff)
        self.gate = Linear(d_model, d_ff)
        self.down = Linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        return self.down(silu(self.gate(x)) * self.up(x))


class RoPE(nn.Module):
    def __init__(self, theta: float, d_k: int, max_seq_len: int):
        super().__init__()
        pos = torch.arange(max_seq_len).float()
        freq = 1.0 / theta ** (torch.arange(0, d_k, 2).float() / d_k)
        angle = einsum(pos, freq, "pos, pair -> pos pair")
        # the 2x2 rotation matrix of every position and pair
        rot = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()])
        self.register_buffer("rot", rearrange(rot, "(i j) pos pair -> pos pair i j", i=2), persistent=False)

    def forward(self, x: Float[Tensor, "... seq d_k"], pos: Int[Tensor, "... seq"]) -> Float[Tensor, "... seq d_k"]:
        pairs = rearrange(x, "... (pair j) -> ... pair j", j=2)
        rotated = einsum(self.rot[pos], pairs, "... pair i j, ... pair j -> ... pair i")
        return rearrange(rotated, "... pair i -> ... (pair i)")


def softmax(x: Float[Tensor, "..."], dim: int) -> Float[Tensor, "..."]:
    shifted = x - torch.amax(x, dim=dim, keepdim=True)
    unnormalised = shifted.exp()
    return unnormalised / unnormalised.sum(dim=dim, keepdim=True)


def attention(
    q: Float[Tensor, "... queries d_k"],
    k: Float[Tensor, "... keys d_k"],
    v: Float[Tensor, "... keys d_v"],
    mask: Bool[Tensor, "... queries keys"] | None = None,
) -> Float[Tensor, "... queries d_v"]:
    scores = einsum(q, k, "... queries d_k, ... keys d_k -> ... queries keys") * q.size(-1) ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf)
    return einsum(softmax(scores, dim=-1), v, "... queries keys, ... keys d_v -> ... queries d_v")


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, rope: RoPE | None = None):
        super().__init__()
        self.n_heads = n_heads
        self.qkv = Linear(d_model, 3 * d_model)
        self.out = Linear(d_model, d_model)
        self.rope = rope

    def forward(self, x: Float[Tensor, "... seq d_model"], pos: Int[Tensor, "... seq"] | None = None):
        q, k, v = rearrange(self.qkv(x), "... seq (three head d) -> three ... head seq d", three=3, head=self.n_heads)
        seq = x.size(-2)
        if self.rope is not None:
            if pos is None:
                pos = torch.arange(seq, device=x.device)
            pos = rearrange(pos, "... seq -> ... 1 seq")
            q, k = self.rope(q, pos), self.rope(k, pos)
        idx = torch.arange(seq, device=x.device)
        causal = rearrange(idx, "i -> i 1") >= rearrange(idx, "j -> 1 j")
        y = attention(q, k, v, causal)
        return self.out(rearrange(y, "... head seq d -> ... seq (head d)"))


class Block(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, rope: RoPE):
        super().__init__()
        self.norm_attn = RMSNorm(d_model)
        self.norm_ffn = RMSNorm(d_model)
        self.attn = CausalSelfAttention(d_model, n_heads, rope)
        self.ffn = SwiGLU(d_model, d_ff)

    def forward(self, x: Float[Tensor, "batch seq d_model"]) -> Float[Tensor, "batch seq d_model"]:
        h = x + self.attn(self.norm_attn(x))
        return h + self.ffn(self.norm_ffn(h))


class Transformer(nn.Module):
    def __init__(self, vocab_size: int, context_length: int, d_model: int, n_layers: int, n_heads: int, d_ff: int,
                 theta: float = 10_000.0):
        super().__init__()
        rope = RoPE(theta, d_model // n_heads, context_length)  # shared by all blocks
        self.embed = Embedding(vocab_size, d_model)
        self.blocks = nn.Sequential(*[Block(d_model, n_heads, d_ff, rope) for _ in range(n_layers)])
        self.norm = RMSNorm(d_model)
        self.head = Linear(d_model, vocab_size)

    def forward(self, ids: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch seq vocab"]:
        return self.head(self.norm(self.blocks(self.embed(ids))))
