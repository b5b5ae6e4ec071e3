"""Position information: sinusoidal, learned, and rotary (RoPE)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from minimodel.module import Module
from minimodel.tensor import Tensor


def sinusoidal(max_len: int, d_model: int) -> np.ndarray:
    """The fixed table of sines and cosines, a plain array (max_len, d_model).

    With angle(pos, i) = pos / 10000^(2i / d_model):

        column 2i      sin(angle(pos, i))
        column 2i + 1  cos(angle(pos, i))

    d_model may be odd; the last column is then a sine without its cosine.
    """
    raise NotImplementedError("build the table of sines and cosines")


class LearnedPositional(Module):
    """One learned vector per position.

    Attributes:
        weight: Parameter (max_len, d_model).
    """

    def __init__(
        self, max_len: int, d_model: int, *, rng: np.random.Generator | None = None
    ) -> None:
        raise NotImplementedError("create the position table")

    def forward(self, x: Tensor) -> Tensor:
        """Add row t of the table to position t of x: (..., T, d_model) -> (..., T, d_model).

        Raises:
            ValueError: T is greater than max_len.
        """
        raise NotImplementedError("add the first T rows to x")


class EmbeddingLayer(Module):
    """Token vectors plus positions: what enters the first block of a model.

    `pos` says where the positions come from: "learned" (a LearnedPositional), "sinusoidal" (the fixed
    table, nothing to learn) or None (no positions are added). With `scale`, the token vectors
    are multiplied by sqrt(d_model) before the positions are added.

    Attributes:
        token: the Embedding.
        position: the source of the positions.
    """

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
        raise NotImplementedError("create the token embedding and the positions")

    def forward(self, token_ids: np.ndarray) -> Tensor:
        """(..., T) -> (..., T, d_model)."""
        raise NotImplementedError("look up the tokens, scale them, add positions")


def rope(x: Tensor, positions: np.ndarray | None = None, base: float = 10000.0) -> Tensor:
    """Rotate pairs of features by an angle that grows with the position: (..., T, d) -> (..., T, d).

    At position pos, the pair of columns (2i, 2i + 1) is a point (a, b) of the plane and turns by
    angle = pos * base^(-2i / d):

        (a, b) -> (a cos(angle) - b sin(angle), a sin(angle) + b cos(angle))

    `positions` are integers (T,); left out, they are 0, 1, ..., T - 1.

    Raises:
        ValueError: d is odd.
    """
    raise NotImplementedError("rotate each pair of features")
