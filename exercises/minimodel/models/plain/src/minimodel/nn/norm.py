"""Normalisation over the feature axis."""

from __future__ import annotations

import numpy as np

from minimodel.module import Module, Parameter
from minimodel.tensor import Tensor


class LayerNorm(Module):
    """y = (x - mean) / sqrt(var + eps) * gain + bias, over the last axis."""

    def __init__(
        self, d_model: int, eps: float = 1e-5, *, rng: np.random.Generator | None = None
    ) -> None:
        super().__init__()
        self.eps = eps
        self.gain = Parameter(np.ones(d_model))
        self.bias = Parameter(np.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) -> (..., d_model)"""
        mean = x.mean(axis=-1, keepdims=True)  # (..., 1)
        centred = x - mean
        var = (centred * centred).mean(axis=-1, keepdims=True)  # biased
        std = (var + self.eps).sqrt()
        normalised = centred / std
        return normalised * self.gain + self.bias


class RMSNorm(Module):
    """y = x / sqrt(mean(x^2) + eps) * gain, over the last axis."""

    def __init__(
        self, d_model: int, eps: float = 1e-5, *, rng: np.random.Generator | None = None
    ) -> None:
        super().__init__()
        self.eps = eps
        self.gain = Parameter(np.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) -> (..., d_model)"""
        mean_square = (x * x).mean(axis=-1, keepdims=True)  # (..., 1)
        rms = (mean_square + self.eps).sqrt()
        return x / rms * self.gain
