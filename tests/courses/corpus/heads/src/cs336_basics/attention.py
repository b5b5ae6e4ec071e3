import torch
import torch.nn as nn

from .blocks import Projection


def stable_softmax(x, dim: int):
    x = x - x.amax(dim, keepdim=True)
    x = x.exp()
    return x / x.sum(dim, keepdim=True)


def attend(q, k, v, mask=None):
    d = q.shape[-1]
    weights = (q * d**-0.5) @ k.transpose(-1, -2)
    if mask is not None:
        weights = weights.masked_fill(mask.logical_not(), -torch.inf)
    return stable_softmax(weights, -1) @ v


class Rope(nn.Module):
    def __init__(self, theta: float, dim: int, max_len: int):
        super().__init__()
        table = torch.zeros(max_len, dim // 2)
        for pair in range(dim // 2):
            table[:, pair] = torch.arange(max_len) / theta ** (2 * pair / dim)
        self.register_buffer("angles", table, persistent=False)

    def forward(self, x, positions):
        a = self.angles[positions]
        first, second = x.unflatten(-1, (-1, 2)).unbind(-1)
        turned = (first * a.cos() - second * a.sin(), first * a.sin() + second * a.cos())
        return torch.stack(turned, dim=-1).flatten(-2)


class AttentionHead(nn.Module):
    """One causal head, with its own three projections."""

    def __init__(self, dim: int, head_dim: int, rope: Rope | None = None):
        super().__init__()
        self.query = Projection(dim, head_dim)
        self.key = Projection(dim, head_dim)
        self.value = Projection(dim, head_dim)
        self.rope = rope

    def forward(self, x, positions=None):
        q, k, v = self.query(x), self.key(x), self.value(x)
        n = x.shape[-2]
        if self.rope is not None:
            if positions is None:
                positions = torch.arange(n, device=x.device)
            q = self.rope(q, positions)
            k = self.rope(k, positions)
        rows = torch.arange(n, device=x.device)
        return attend(q, k, v, rows[:, None] >= rows[None, :])


class MultiHeadAttention(nn.Module):
    def __init__(self, dim: int, n_heads: int, rope: Rope | None = None):
        super().__init__()
        self.heads = nn.ModuleList([AttentionHead(dim, dim // n_heads, rope) for _ in range(n_heads)])
        self.output = Projection(dim, dim)

    def forward(self, x, positions=None):
        return self.output(torch.cat([head(x, positions) for head in self.heads], dim=-1))

    @torch.no_grad()
    def copy_weights(self, q, k, v, o):
        n = len(self.heads)
        for head, wq, wk, wv in zip(self.heads, q.chunk(n), k.chunk(n), v.chunk(n)):
            head.query.weight.copy_(wq)
            head.key.weight.copy_(wk)
            head.value.weight.copy_(wv)
        self.output.weight.copy_(o)
