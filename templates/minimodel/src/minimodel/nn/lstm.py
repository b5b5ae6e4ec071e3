"""One step of a long short-term memory."""

from __future__ import annotations

import numpy as np

from minimodel.module import Module
from minimodel.tensor import Tensor


class LSTM(Module):
    """An LSTM cell.

    With z = x_t @ w_x + h_prev @ w_h + b, cut into four parts of d_hidden columns in the order
    i, f, g, o (input gate, forget gate, candidate, output gate):

        c_t = sigmoid(f) * c_prev + sigmoid(i) * tanh(g)
        h_t = sigmoid(o) * tanh(c_t)

    Attributes:
        w_x: Parameter (d_in, 4 d_hidden).
        w_h: Parameter (d_hidden, 4 d_hidden).
        b: Parameter (4 d_hidden,).
    """

    def __init__(self, d_in: int, d_hidden: int, *, rng: np.random.Generator | None = None) -> None:
        raise NotImplementedError("create the weights of the four gates")

    def forward(self, x_t: Tensor, h_prev: Tensor, c_prev: Tensor) -> tuple[Tensor, Tensor]:
        """x_t (..., d_in), h_prev and c_prev (..., d_hidden) -> (h_t, c_t), each (..., d_hidden)."""
        raise NotImplementedError("compute one step of the cell")
