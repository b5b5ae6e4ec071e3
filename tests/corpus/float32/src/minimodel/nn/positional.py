"""Telling the model where a token stands."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..initial import FLOAT, normal
from ..module import Module, Parameter
from ..tensor import Array, Tensor, as_tensor, record
from .embedding import Embedding


def sinusoidal(max_len: int, d_model: int) -> NDArray[np.float32]:
    """Table of sines (even columns) and cosines (odd columns).

    Parameters
    ----------
    max_len : int
        Number of positions.
    d_model : int
        Number of columns, odd allowed.

    Returns
    -------
    ndarray, shape (max_len, d_model)
        float32.

    Notes
    -----
    The angles are formed in double precision: a float32 angle of a few
    hundred has only four decimals left.  The rounding comes last.
    """
    column = np.arange(d_model)
    angle = np.arange(max_len)[:, None] / 10000.0 ** (
        (column - column % 2) / d_model
    )
    table = np.where(column % 2 == 0, np.sin(angle), np.cos(angle))
    return table.astype(FLOAT)


def rope(
    x: Tensor, positions: ArrayLike | None = None, base: float = 10000.0
) -> Tensor:
    """Rotate the pairs (2i, 2i + 1) by pos * base^(-2i / d).

    Parameters
    ----------
    x : Tensor, shape (..., T, d)
        Vectors to be rotated, d even.
    positions : array_like, shape (T,) or (..., T), optional
        0 .. T-1 when left out.
    base : float, default 10000.0
        Sets the slowest rotation.

    Returns
    -------
    Tensor, shape (..., T, d)
        Same lengths, other directions.

    Raises
    ------
    ValueError
        If d is odd.
    """
    x = as_tensor(x)
    *_, length, d = x.shape
    if d % 2:
        raise ValueError(f"rope needs pairs, but the last axis has d = {d}")
    where = np.arange(length) if positions is None else np.asarray(positions)
    # Wide angles, narrow cosines; see `sinusoidal`.
    angle = where[..., None] * float(base) ** (-np.arange(0, d, 2) / d)
    cos = np.cos(angle).astype(x.dtype)
    sin = np.sin(angle).astype(x.dtype)

    def turn(v: Array, s: Array) -> Array:
        even, odd = v[..., 0::2], v[..., 1::2]
        out = np.empty_like(v)
        out[..., 0::2] = even * cos - odd * s
        out[..., 1::2] = even * s + odd * cos
        return out

    def vjp(g: Array) -> tuple[Array]:
        return (turn(g, -sin),)  # the transpose of a rotation

    return record(turn(x.data, sin), (x,), vjp)


def _fit(x: Tensor, max_len: int) -> int:
    """Return T of (..., T, d) if there are that many positions."""
    if x.ndim < 2:
        raise ValueError(
            f"positions need an axis to count along, got shape {x.shape}"
        )
    length = x.shape[-2]
    if length > max_len:
        raise ValueError(
            f"sequence of length {length} is longer than max_len = {max_len}"
        )
    return length


def make_learned(weight: Parameter) -> Callable[[Tensor], Tensor]:
    """Close over trainable positions; x -> x + weight[:T]."""

    def forward(x: Tensor) -> Tensor:
        return x + weight[: _fit(x, weight.shape[0])]

    return forward


def make_fixed(table: NDArray[Any]) -> Callable[[Tensor], Tensor]:
    """Close over positions that are not trained; x -> x + table[:T]."""

    def forward(x: Tensor) -> Tensor:
        return x + table[: _fit(x, len(table))]

    return forward


class LearnedPositional(Module):
    """One trainable row per position.

    Parameters
    ----------
    max_len : int
        Number of positions.
    d_model : int
        Length of a row.
    rng : numpy.random.Generator, optional
        Draws the first weights, N(0, 0.02).

    Attributes
    ----------
    weight : Parameter, shape (max_len, d_model)
        The rows.
    forward : callable
        (..., T, d_model) -> same, rows 0 .. T-1 added.  ValueError when T
        exceeds max_len.
    """

    def __init__(
        self,
        max_len: int,
        d_model: int,
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.max_len = max_len
        self.d_model = d_model
        self.weight = Parameter(normal(rng)((max_len, d_model), 0.02))
        self.forward = make_learned(self.weight)


class EmbeddingLayer(Module):
    """Tokens, perhaps scaled, plus positions, perhaps.

    Parameters
    ----------
    vocab_size, d_model : int
        Shape of the token table.
    max_len : int, default 512
        Number of positions; of no importance without positions.
    pos : {"learned", "sinusoidal", None}, default "learned"
        Which positions are added.
    scale : bool, default False
        Whether token rows are multiplied by sqrt(d_model).
    rng : numpy.random.Generator, optional
        Draws the first weights.

    Attributes
    ----------
    token : Embedding
        The token table.
    position : LearnedPositional, ndarray or None
        Depends on `pos`.
    forward : callable
        (..., T) ids -> (..., T, d_model).

    Raises
    ------
    ValueError
        If `pos` is none of the three.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        max_len: int = 512,
        pos: str | None = "learned",
        scale: bool = False,
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        rng = np.random.default_rng() if rng is None else rng
        self.token = token = Embedding(vocab_size, d_model, rng=rng)
        self.position: LearnedPositional | NDArray[np.float32] | None = None
        place: Callable[[Tensor], Tensor] | None = None
        if pos == "learned":
            self.position = LearnedPositional(max_len, d_model, rng=rng)
            place = self.position
        elif pos == "sinusoidal":
            self.position = sinusoidal(max_len, d_model)
            place = make_fixed(self.position)
        elif pos is not None:
            raise ValueError(
                f'pos must be "learned", "sinusoidal" or None, not {pos!r}'
            )

        def forward(token_ids: NDArray[np.integer]) -> Tensor:
            x = token(token_ids)
            if scale:
                x = x * math.sqrt(d_model)
            return x if place is None else place(x)

        self.forward = forward
