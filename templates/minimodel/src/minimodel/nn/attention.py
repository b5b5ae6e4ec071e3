"""Attention: every position gathers information from the others."""

from __future__ import annotations

import numpy as np

from minimodel.module import Module
from minimodel.tensor import Tensor


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: np.ndarray | None = None
) -> Tensor:
    """softmax(q k^T / sqrt(d)) v, for q, k and v of shape (..., T, d); the result is (..., T, d).

    The softmax runs over the keys. `mask` is a boolean array that broadcasts to (..., T, T), with
    queries on the second-last axis and keys on the last: True lets the query attend to the key, and
    a key that is False has weight 0.
    """
    raise NotImplementedError("mix the values by the attention weights")


class MultiHeadAttention(Module):
    """Self-attention in n_heads heads of d_head = d_model / n_heads columns each.

    Head j owns columns j * d_head to (j + 1) * d_head of the queries, the keys, the values and the
    vector that enters `w_o`. With `causal`, a position attends to itself and to earlier positions
    only. With `use_rope`, the queries and keys of every head are rotated by their positions.

    Attributes:
        w_q, w_k, w_v, w_o: Parameters (d_model, d_model), used as y = x @ w. There are no biases.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        causal: bool = True,
        use_rope: bool = False,
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        """Raises ValueError when d_model is not a multiple of n_heads."""
        raise NotImplementedError("create the four projections")

    def forward(self, x: Tensor) -> Tensor:
        """(..., T, d_model) -> (..., T, d_model)."""
        raise NotImplementedError("attend in every head and join the heads")
