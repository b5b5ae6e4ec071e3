"""Position information: sinusoidal, learned, and rotary (RoPE)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from minimodel.module import Module, Parameter
from minimodel.nn.embedding import Embedding
from minimodel.tensor import Tensor


def sinusoidal(max_len: int, d_model: int) -> np.ndarray:
    """A table (max_len, d_model): sin in the even columns, cos of the same angle in the odd ones."""
    even = np.arange(0, d_model, 2)
    angles = np.arange(max_len)[:, None] / 10000.0 ** (even / d_model)  # (max_len, ceil(d / 2))
    table = np.empty((max_len, d_model))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles[:, : d_model // 2])
    return table


def _length(x: Tensor, max_len: int) -> int:
    """T of (..., T, d). Raises ValueError when there are not that many positions."""
    T = x.shape[-2]
    if T > max_len:
        raise ValueError(f"{T} positions are more than max_len = {max_len}")
    return T


class LearnedPositional(Module):
    """One learned vector per position."""

    def __init__(
        self, max_len: int, d_model: int, *, rng: np.random.Generator | None = None
    ) -> None:
        super().__init__()
        rng = rng or np.random.default_rng()
        self.max_len = max_len
        self.weight = Parameter(rng.normal(0.0, 0.02, (max_len, d_model)))

    def forward(self, x: Tensor) -> Tensor:
        """(..., T, d_model) -> (..., T, d_model)"""
        return x + self.weight[: _length(x, self.max_len)]


class EmbeddingLayer(Module):
    """Token vectors, scaled where asked for, plus positions."""

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        max_len: int = 512,
        pos: Literal["learned", "sinusoidal"] | None = "learned",
        scale: bool = False,
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        super().__init__()
        if pos not in ("learned", "sinusoidal", None):
            raise ValueError(f"pos is 'learned', 'sinusoidal' or None, not {pos!r}")
        rng = rng or np.random.default_rng()
        self.token = Embedding(vocab_size, d_model, rng=rng)
        self.max_len = max_len
        self.factor = np.sqrt(d_model) if scale else 1.0
        self.position: LearnedPositional | np.ndarray | None = None
        if pos == "learned":
            self.position = LearnedPositional(max_len, d_model, rng=rng)
        elif pos == "sinusoidal":
            self.position = sinusoidal(max_len, d_model)

    def forward(self, token_ids: np.ndarray) -> Tensor:
        """(..., T) -> (..., T, d_model)"""
        x = self.token(token_ids) * self.factor
        if self.position is None:
            return x
        if isinstance(self.position, LearnedPositional):
            return self.position(x)
        return x + self.position[: _length(x, self.max_len)]


def rope(x: Tensor, positions: np.ndarray | None = None, base: float = 10000.0) -> Tensor:
    """Turn each pair of columns (2i, 2i + 1) by pos * base^(-2i / d). (..., T, d) -> (..., T, d)"""
    *_, T, d = x.shape
    if d % 2:
        raise ValueError(f"rope turns pairs of columns, and d = {d} is odd")
    if positions is None:
        positions = np.arange(T)
    speeds = base ** (-np.arange(0, d, 2) / d)  # (d / 2,)
    angles = positions[:, None] * speeds  # (T, d / 2)
    cos, sin = np.cos(angles), np.sin(angles)
    pairs = x.reshape(*x.shape[:-1], d // 2, 2)
    a, b = pairs[..., 0], pairs[..., 1]  # (..., T, d / 2) each
    # (a cos - b sin, a sin + b cos), with a and b spread over the pair again
    turned_a = (a * cos - b * sin).reshape(*a.shape, 1) * np.array([1.0, 0.0])
    turned_b = (a * sin + b * cos).reshape(*a.shape, 1) * np.array([0.0, 1.0])
    return (turned_a + turned_b).reshape(x.shape)
