"""Normalisation over the feature axis."""

from __future__ import annotations

import numpy as np

from minimodel.module import Module
from minimodel.tensor import Tensor


class LayerNorm(Module):
    """y = (x - mean) / sqrt(var + eps) * gain + bias, over the last axis.

    The variance is the biased one: the squared deviations are divided by d_model.

    Attributes:
        gain: Parameter (d_model,), ones at the start.
        bias: Parameter (d_model,), zeros at the start.
    """

    def __init__(
        self, d_model: int, eps: float = 1e-5, *, rng: np.random.Generator | None = None
    ) -> None:
        raise NotImplementedError("create gain and bias")

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) -> (..., d_model)."""
        raise NotImplementedError("normalise with mean and variance")


class RMSNorm(Module):
    """y = x / sqrt(mean(x^2) + eps) * gain, with the mean over the last axis.

    Attributes:
        gain: Parameter (d_model,), ones at the start.
    """

    def __init__(
        self, d_model: int, eps: float = 1e-5, *, rng: np.random.Generator | None = None
    ) -> None:
        raise NotImplementedError("create the gain")

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) -> (..., d_model)."""
        raise NotImplementedError("normalise with the root mean square")
