import torch
import torch.nn as nn


class Projection(nn.Module):
    """A linear layer without bias. The weight is (out, in)."""

    def __init__(self, n_in: int, n_out: int):
        super().__init__()
        std = (2.0 / (n_in + n_out)) ** 0.5
        self.weight = nn.Parameter(nn.init.trunc_normal_(torch.empty(n_out, n_in), 0.0, std, -3 * std, 3 * std))

    def forward(self, x):
        return torch.tensordot(x, self.weight, dims=([-1], [1]))


class Lookup(nn.Module):
    def __init__(self, n: int, dim: int):
        super().__init__()
        self.weight = nn.Parameter(nn.init.trunc_normal_(torch.empty(n, dim), 0.0, 1.0, -3.0, 3.0))

    def forward(self, ids):
        return self.weight[ids]


class Norm(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-5):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        wide = x.to(torch.float32)
        scale = (wide.square().sum(-1, keepdim=True) / self.dim + self.eps).rsqrt()
        return (wide * scale * self.weight).to(x.dtype)


def swish(x):
    return x * x.sigmoid()


class FeedForward(nn.Module):
    def __init__(self, dim: int, hidden: int):
        super().__init__()
        self.w1 = Projection(dim, hidden)
        self.w3 = Projection(dim, hidden)
        self.w2 = Projection(hidden, dim)

    def forward(self, x):
        gated = swish(self.w1(x)) * self.w3(x)
        return self.w2(gated)


class PreNormBlock(nn.Module):
    def __init__(self, dim: int, hidden: int, attn: nn.Module):
        super().__init__()
        self.ln1, self.ln2 = Norm(dim), Norm(dim)
        self.attn = attn
        self.ffn = FeedForward(dim, hidden)

    def forward(self, x, positions=None):
        y = self.attn(self.ln1(x), positions)
        x = x + y
        y = self.ffn(self.ln2(x))
        return x + y
