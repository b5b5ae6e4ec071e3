"""The feed-forward part of a transformer block."""

from __future__ import annotations

import numpy as np

from minimodel.module import Module
from minimodel.tensor import Tensor


def gelu(x: Tensor) -> Tensor:
    """x * Phi(x), value by value, where Phi is the distribution function of the standard normal.

    Phi(x) = (1 + erf(x / sqrt(2))) / 2. The usual tanh approximation is close enough (within 1e-3).
    """
    raise NotImplementedError("compute the GELU")


class FFN(Module):
    """Two linear layers with a GELU between them: gelu(x @ w_1 + b_1) @ w_2 + b_2.

    Attributes:
        w_1: Parameter (d_model, d_ff).
        b_1: Parameter (d_ff,).
        w_2: Parameter (d_ff, d_model).
        b_2: Parameter (d_model,).
    """

    def __init__(self, d_model: int, d_ff: int, *, rng: np.random.Generator | None = None) -> None:
        raise NotImplementedError("create the two linear layers")

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) -> (..., d_model)."""
        raise NotImplementedError("apply the two layers")
