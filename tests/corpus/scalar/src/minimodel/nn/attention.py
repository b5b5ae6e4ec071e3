import math

import numpy as np

from ..module import Module, drawn
from ..tensor import Tensor
from ..value import Dot, Strip, Value, softmax
from .positional import turn


def attend(qs, ks, vs, allowed):
    """Attention on lists of rows of Values. allowed[t][s]: may query t look at key s?

    Keys that may not be looked at do not appear at all, so there is no -inf anywhere. A query
    that may look at nothing gets zeros.
    """
    d, width = len(qs[0]), len(vs[0])
    scale = 1.0 / math.sqrt(d)
    keys = [Strip(k) for k in ks]
    cut = {}                     # visible keys -> columns of v over just these
    out = []
    for q, may in zip(qs, allowed):
        seen = tuple(s for s, ok in enumerate(may) if ok)
        if not seen:
            out.append([Value(0.0) for _ in range(width)])
            continue
        q = Strip(q)
        shares = Strip(softmax([Dot(q, keys[s]) * scale for s in seen]))
        if seen not in cut:
            cut[seen] = [Strip([vs[s][c] for s in seen]) for c in range(width)]
        out.append([Dot(shares, column) for column in cut[seen]])
    return out


def scaled_dot_product_attention(q, k, v, mask=None):
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.ndim < 2:
            raise ValueError(f"{name} should be (..., T, d), got {t.shape}")
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(f"q {q.shape}, k {k.shape} and v {v.shape} do not fit")
    T, S = q.shape[-2], k.shape[-2]
    mask = np.ones((T, S), dtype=bool) if mask is None else np.asarray(mask)
    if mask.dtype.kind not in "biu":
        raise TypeError(f"the mask should be boolean (True = may attend), got {mask.dtype}")
    lead = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    full = np.broadcast_shapes(lead + (T, S), mask.shape)
    if full[-2:] != (T, S):
        raise ValueError(f"mask {mask.shape} does not fit scores {lead + (T, S)}")
    lead = full[:-2]
    mask = np.broadcast_to(mask, full)

    def spread(t):
        return np.broadcast_to(t.cells(), lead + t.shape[-2:])

    qs, ks, vs = spread(q), spread(k), spread(v)
    out = []
    for i in np.ndindex(*lead):
        for row in attend(qs[i].tolist(), ks[i].tolist(), vs[i].tolist(), mask[i].tolist()):
            out.extend(row)
    return Tensor.of(out, lead + (T, v.shape[-1]), q, k, v)


class MultiHeadAttention(Module):
    def __init__(self, d_model, n_heads, causal=True, use_rope=False, *, rng=None):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model} can not be shared by {n_heads} heads")
        self.d_model = d_model
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.causal = causal
        self.use_rope = use_rope
        if use_rope and self.d_head % 2:
            raise ValueError(f"rope needs an even d_head, {d_model} / {n_heads} is {self.d_head}")
        rng = np.random.default_rng() if rng is None else rng
        spread = d_model ** -0.5
        self.w_q = drawn(rng, (d_model, d_model), spread)
        self.w_k = drawn(rng, (d_model, d_model), spread)
        self.w_v = drawn(rng, (d_model, d_model), spread)
        self.w_o = drawn(rng, (d_model, d_model), spread)

    def forward(self, x):
        if x.ndim < 2 or x.shape[-1] != self.d_model:
            raise ValueError(f"need (..., T, {self.d_model}), got {x.shape}")
        q, k, v = x @ self.w_q, x @ self.w_k, x @ self.w_v
        T, n = x.shape[-2], self.d_head
        allowed = [[s <= t or not self.causal for s in range(T)] for t in range(T)]
        mixed = []
        for qs, ks, vs in zip(q.sheets(), k.sheets(), v.sheets()):
            rows = [[] for _ in range(T)]
            for j in range(0, self.d_model, n):
                hq, hk, hv = ([row[j:j + n] for row in sheet] for sheet in (qs, ks, vs))
                if self.use_rope:
                    hq = [turn(row, t) for t, row in enumerate(hq)]
                    hk = [turn(row, t) for t, row in enumerate(hk)]
                for row, more in zip(rows, attend(hq, hk, hv, allowed)):
                    row.extend(more)     # the heads lie side by side, in their order
            for row in rows:
                mixed.extend(row)
        return Tensor.of(mixed, x.shape, q, k, v) @ self.w_o
