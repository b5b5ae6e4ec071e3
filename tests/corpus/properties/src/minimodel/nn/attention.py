import math

import numpy as np

from ..module import Module, Weight, default_rng, normal
from ..tensor import dispatch
from .positional import rope


def scaled_dot_product_attention(q, k, v, mask=None):
    """softmax(q k^T / sqrt(d)) v, over the keys where `mask` is True.

    A query that may attend to nothing gets zeros.
    """
    scores = (q @ k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
    where = None if mask is None else np.asarray(mask, dtype=bool)
    return dispatch("softmax", scores, axis=-1, where=where) @ v


class MultiHeadAttention(Module):
    __slots__ = ("causal", "use_rope", "_head_shape")

    w_q = Weight("(d_model, d_model)")
    w_k = Weight("(d_model, d_model)")
    w_v = Weight("(d_model, d_model)")
    w_o = Weight("(d_model, d_model)")

    def __init__(self, d_model, n_heads, causal=True, use_rope=False, *, rng=None):
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model} cannot be split into {n_heads} heads")
        rng = default_rng(rng)
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, normal(rng, d_model, d_model, std=d_model ** -0.5))
        self.causal = causal
        self.use_rope = use_rope
        self._head_shape = (n_heads, d_model // n_heads)

    @property
    def d_model(self):
        return self.w_q.shape[0]

    @property
    def n_heads(self):
        return self._head_shape[0]

    @property
    def d_head(self):
        return self._head_shape[1]

    def _split(self, y):
        # (..., T, d_model) -> (..., n_heads, T, d_head)
        return y.reshape(*y.shape[:-1], *self._head_shape).transpose(-3, -2)

    def _join(self, y):
        y = y.transpose(-3, -2)
        return y.reshape(*y.shape[:-2], self.d_model)

    def forward(self, x):
        q, k, v = (self._split(x @ w) for w in (self.w_q, self.w_k, self.w_v))
        if self.use_rope:
            q, k = rope(q), rope(k)
        steps = x.shape[-2]
        mask = np.tri(steps, dtype=bool) if self.causal else None
        return self._join(scaled_dot_product_attention(q, k, v, mask)) @ self.w_o
