"""Attention: every position gathers information from the others."""

from __future__ import annotations

import math

import numpy as np

from minimodel.module import Module, Parameter
from minimodel.nn.positional import rope
from minimodel.tensor import Tensor


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: np.ndarray | None = None
) -> Tensor:
    """softmax(q k^T / sqrt(d)) v.  q, k, v: (..., T, d) -> (..., T, d). mask: True = may attend."""
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])  # (..., T, T)
    if mask is not None:
        scores = scores + np.where(mask, 0.0, -np.inf)
    probs = scores.softmax(dim=-1)
    return probs @ v  # (..., T, T) @ (..., T, d)


class MultiHeadAttention(Module):
    """Self-attention in n_heads heads; head j owns columns j * d_head to (j + 1) * d_head."""

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        causal: bool = True,
        use_rope: bool = False,
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"d_model {d_model} does not divide into {n_heads} heads")
        rng = rng or np.random.default_rng()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.causal = causal
        self.use_rope = use_rope
        self.w_q = Parameter(rng.normal(0.0, 0.02, (d_model, d_model)))
        self.w_k = Parameter(rng.normal(0.0, 0.02, (d_model, d_model)))
        self.w_v = Parameter(rng.normal(0.0, 0.02, (d_model, d_model)))
        self.w_o = Parameter(rng.normal(0.0, 0.02, (d_model, d_model)))

    def split(self, x: Tensor) -> Tensor:
        """(..., T, d_model) -> (..., n_heads, T, d_head)"""
        columns = x.reshape(*x.shape[:-1], self.n_heads, self.d_head)
        return columns.transpose(-3, -2)

    def forward(self, x: Tensor) -> Tensor:
        """(..., T, d_model) -> (..., T, d_model)"""
        T = x.shape[-2]
        q = self.split(x @ self.w_q)
        k = self.split(x @ self.w_k)
        v = self.split(x @ self.w_v)
        if self.use_rope:
            q, k = rope(q), rope(k)
        mask = np.tri(T, dtype=bool) if self.causal else None
        context = scaled_dot_product_attention(q, k, v, mask)  # (..., n_heads, T, d_head)
        merged = context.transpose(-3, -2).reshape(x.shape)  # (..., T, d_model)
        return merged @ self.w_o
