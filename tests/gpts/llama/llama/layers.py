import math

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        xf = x.float()
        out = xf * torch.rsqrt(xf.pow(2).mean(-1, keepdim=True) + self.eps)
        return out.type_as(x) * self.weight


def rope_tables(dim, length, theta):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2).float() / dim))
    angles = torch.outer(torch.arange(length).float(), freqs)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    x1, x2 = x.float().reshape(*x.shape[:-1], -1, 2).unbind(-1)
    cos, sin = cos[None, :, None, :], sin[None, :, None, :]
    out = torch.stack((x1 * cos - x2 * sin, x1 * sin + x2 * cos), dim=-1)
    return out.flatten(3).type_as(x)


def repeat_kv(x, n):
    b, t, h, d = x.shape
    if n == 1:
        return x
    return x[:, :, :, None, :].expand(b, t, h, n, d).reshape(b, t, h * n, d)


class Attention(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.nh = args.n_heads
        self.nkv = args.n_kv_heads or args.n_heads
        self.hd = args.dim // args.n_heads
        self.wq = nn.Linear(args.dim, self.nh * self.hd, bias=False)
        self.wk = nn.Linear(args.dim, self.nkv * self.hd, bias=False)
        self.wv = nn.Linear(args.dim, self.nkv * self.hd, bias=False)
        self.wo = nn.Linear(self.nh * self.hd, args.dim, bias=False)

    def forward(self, x, cos, sin, mask):
        b, t, _ = x.shape
        q = self.wq(x).view(b, t, self.nh, self.hd)
        k = self.wk(x).view(b, t, self.nkv, self.hd)
        v = self.wv(x).view(b, t, self.nkv, self.hd)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        k, v = repeat_kv(k, self.nh // self.nkv), repeat_kv(v, self.nh // self.nkv)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.hd)
        scores = scores + mask
        probs = torch.softmax(scores.float(), dim=-1).type_as(q)
        out = torch.matmul(probs, v)
        out = out.transpose(1, 2).contiguous().view(b, t, -1)
        return self.wo(out)


class FeedForward(nn.Module):
    def __init__(self, dim, multiple_of):
        super().__init__()
        hidden = int(2 * 4 * dim / 3)
        hidden = multiple_of * ((hidden + multiple_of - 1) // multiple_of)
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(torch.nn.functional.silu(self.w1(x)) * self.w3(x))
