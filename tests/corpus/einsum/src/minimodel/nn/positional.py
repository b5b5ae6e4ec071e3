"""Where a token stands: fixed sines, a learned table, or a rotation of q and k."""
from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from minimodel.module import Module, Parameter
from minimodel.nn._common import Rng, need_last, normal
from minimodel.nn.embedding import Embedding
from minimodel.tensor import Array, Tensor, as_tensor


def sinusoidal(max_len: int, d_model: int) -> Array:
    """Columns 2i and 2i+1 are sin and cos of pos / 10000^(2i/d)."""
    j = np.arange(d_model)
    A = np.einsum("t,j->tj", np.arange(max_len, dtype=np.float64), 10000.0 ** (-(j - j % 2) / d_model))
    return np.where(j % 2 == 0, np.sin(A), np.cos(A))


def _length(X: Array, max_len: int) -> int:
    if X.ndim < 2: raise ValueError(f"positions need (..., T, d), got {X.shape}")
    if (T := X.shape[-2]) > max_len: raise ValueError(f"sequence length {T} exceeds max_len {max_len}")
    return T


class LearnedPositional(Module):
    def __init__(self, max_len: int, d_model: int, *, rng: Rng | None = None) -> None:
        self.max_len, self.d_model = max_len, d_model
        self.weight: Parameter = normal(rng, max_len, d_model)

    def forward(self, x: Tensor) -> Tensor:
        x = as_tensor(x); p = self.weight; X, P = x.data, p.data
        need_last(X, self.d_model, "LearnedPositional"); T = _length(X, self.max_len)

        def backward(dY: Array) -> None:
            dP = np.zeros_like(P); dP[:T] = np.einsum("ntd->td", dY.reshape(-1, T, self.d_model)) if dY.size else 0
            x.add_grad(dY); p.add_grad(dP)

        return Tensor.node(X + P[:T], (x, p), backward)


class EmbeddingLayer(Module):
    """Y = E[ids] (times sqrt(d)) + P[:T]"""

    def __init__(self, vocab_size: int, d_model: int, max_len: int = 512, pos: Literal["learned", "sinusoidal"] | None = "learned",
                 scale: bool = False, *, rng: Rng | None = None) -> None:
        if pos not in ("learned", "sinusoidal", None): raise ValueError(f"pos must be 'learned', 'sinusoidal' or None, got {pos!r}")
        self.max_len, self.scale, self.pos = max_len, scale, pos
        self.token = Embedding(vocab_size, d_model, rng=rng)
        self.position: LearnedPositional | Array | None = (
            LearnedPositional(max_len, d_model, rng=rng) if pos == "learned" else sinusoidal(max_len, d_model) if pos == "sinusoidal" else None)

    def forward(self, token_ids: Any) -> Tensor:
        x = self.token(token_ids)
        if self.scale: x = x * math.sqrt(self.token.d_model)
        if self.position is None: return x
        if isinstance(self.position, Module): return self.position(x)
        T = _length(x.data, self.max_len)
        return x + self.position[:T].astype(x.dtype)


# ---- rotary

def rotations(positions: Array, d: int, base: float, dtype: np.dtype) -> Array:
    """R (positions..., d/2, 2, 2): the 2x2 rotation by pos * base^(-2i/d). Angles in float64, cast once at the end."""
    A = np.einsum("...,i->...i", positions.astype(np.float64), float(base) ** (-2.0 * np.arange(d // 2) / d))
    c, s = np.cos(A), np.sin(A)
    return np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2).astype(dtype)


def rotate(X: Array, R: Array, back: bool = False) -> Array:
    """Every pair x[2i:2i+2] times R_i, or times R_i^T (its inverse) on the way back."""
    pairs = X.reshape(*X.shape[:-1], X.shape[-1] // 2, 2)
    return np.einsum("...ib,...iba->...ia" if back else "...ia,...iba->...ib", pairs, R).reshape(X.shape)


def rope(x: Tensor, positions: Array | None = None, base: float = 10000.0) -> Tensor:
    x = as_tensor(x); X = x.data
    if X.ndim == 0 or X.shape[-1] % 2: raise ValueError(f"rope rotates pairs, d must be even, got shape {X.shape}")
    if positions is None and X.ndim < 2: raise ValueError(f"rope needs (..., T, d), got {X.shape}")
    pos = np.broadcast_to(np.arange(X.shape[-2]) if positions is None else np.asarray(positions), X.shape[:-1])
    R = rotations(pos, X.shape[-1], base, X.dtype)
    return Tensor.node(rotate(X, R), (x,), lambda dY: x.add_grad(rotate(dY, R, back=True)))
