"""The feed-forward part of a transformer block."""

from __future__ import annotations

import math

import numpy as np

from minimodel.module import Module, Parameter
from minimodel.tensor import Tensor

_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def gelu(x: Tensor) -> Tensor:
    """x * Phi(x), value by value, with the exact distribution function of the standard normal."""
    values = x.data
    below = (0.5 * _erfc(-values / math.sqrt(2.0))).astype(values.dtype)  # Phi(x)

    def grad_x(g: np.ndarray) -> np.ndarray:
        density = np.exp(-0.5 * values**2) / math.sqrt(2.0 * math.pi)
        return g * (below + values * density)

    return Tensor.from_op(values * below, (x, grad_x))


class FFN(Module):
    """Two linear layers with a GELU between them."""

    def __init__(self, d_model: int, d_ff: int, *, rng: np.random.Generator | None = None) -> None:
        super().__init__()
        rng = rng or np.random.default_rng()
        self.w_1 = Parameter(rng.normal(0.0, d_model**-0.5, (d_model, d_ff)))
        self.b_1 = Parameter(np.zeros(d_ff))
        self.w_2 = Parameter(rng.normal(0.0, d_ff**-0.5, (d_ff, d_model)))
        self.b_2 = Parameter(np.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) -> (..., d_model)"""
        hidden = gelu(x @ self.w_1 + self.b_1)  # (..., d_ff)
        return hidden @ self.w_2 + self.b_2
