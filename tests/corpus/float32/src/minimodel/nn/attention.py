"""Attention."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..initial import normal
from ..module import Module, Parameter
from ..tensor import Array, Tensor, record, unbroadcast
from .positional import rope


def _softmax_where(scores: Tensor, mask: NDArray[np.bool_]) -> Tensor:
    """Softmax over the True entries of each row; all False gives zeros."""
    shape = np.broadcast_shapes(scores.shape, mask.shape)
    s = np.broadcast_to(scores.data, shape)
    allowed = np.broadcast_to(mask, shape)
    top = s.max(axis=-1, keepdims=True, where=allowed, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    e = np.exp(np.where(allowed, s - top, -np.inf))
    total = e.sum(axis=-1, keepdims=True)
    p = e / np.where(total > 0, total, 1)

    def vjp(g: Array) -> tuple[Array]:
        d = p * (g - (g * p).sum(axis=-1, keepdims=True))
        return (unbroadcast(d, scores.shape),)

    return record(p, (scores,), vjp)


def scaled_dot_product_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: NDArray[np.bool_] | None = None,
) -> Tensor:
    """Average the values, weighted by softmax(q k^T / sqrt(d)).

    Parameters
    ----------
    q, k, v : Tensor, shape (..., T, d)
        Queries, keys and values.
    mask : ndarray of bool, broadcast to (..., T, T), optional
        True where a query (row) may attend to a key (column).  A query that
        may attend to nothing gets zeros.

    Returns
    -------
    Tensor, shape (..., T, d)
        One average per query.
    """
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if mask is None:
        return scores.softmax() @ v
    return _softmax_where(scores, np.array(mask, dtype=bool)) @ v


def make_attend(
    w_q: Parameter,
    w_k: Parameter,
    w_v: Parameter,
    w_o: Parameter,
    n_heads: int,
    causal: bool,
    use_rope: bool,
) -> Callable[[Tensor], Tensor]:
    """Close over four projections and the three switches."""

    def split(y: Tensor) -> Tensor:
        heads = y.reshape(*y.shape[:-1], n_heads, -1)
        return heads.transpose(-3, -2)  # (..., n_heads, T, d_head)

    def join(y: Tensor) -> Tensor:
        rows = y.transpose(-3, -2)
        return rows.reshape(*rows.shape[:-2], -1)

    def forward(x: Tensor) -> Tensor:
        q, k, v = split(x @ w_q), split(x @ w_k), split(x @ w_v)
        if use_rope:
            q, k = rope(q), rope(k)
        mask = np.tri(x.shape[-2], dtype=bool) if causal else None
        return join(scaled_dot_product_attention(q, k, v, mask)) @ w_o

    return forward


class MultiHeadAttention(Module):
    """Self-attention in several heads, without biases.

    Parameters
    ----------
    d_model : int
        Length of the last axis.
    n_heads : int
        Number of heads; head j owns columns j * d_head .. (j + 1) * d_head.
    causal : bool, default True
        Whether a position sees only itself and what is before it.
    use_rope : bool, default False
        Whether queries and keys are rotated by their positions.
    rng : numpy.random.Generator, optional
        Draws the first weights.

    Attributes
    ----------
    w_q, w_k, w_v, w_o : Parameter, shape (d_model, d_model)
        Used as ``x @ w``.
    forward : callable
        (..., T, d_model) -> same.

    Raises
    ------
    ValueError
        If the heads do not share d_model evenly, or if there are rotations
        but the length of a head is odd.
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
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(
                f"d_model = {d_model} cannot be split into {n_heads} heads"
            )
        if use_rope and d_model // n_heads % 2:
            raise ValueError(
                f"rope needs heads of even length, not {d_model // n_heads}"
            )
        draw = normal(rng)
        self.d_model = d_model
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            Parameter(draw((d_model, d_model), d_model**-0.5))
            for _ in range(4)
        )
        self.forward = make_attend(
            self.w_q,
            self.w_k,
            self.w_v,
            self.w_o,
            n_heads,
            causal,
            use_rope,
        )
