"""Both norms are y = g * xhat (+ b); the work is in getting dX out of dxhat."""
from __future__ import annotations

import numpy as np

from minimodel.module import Module, Parameter
from minimodel.nn._common import Rng, flat, need_last
from minimodel.tensor import Array, Tensor, as_tensor


def _mean(X: Array) -> Array: return np.einsum("...d->...", X)[..., None] / X.shape[-1]


def _mean_dot(A: Array, B: Array) -> Array: return np.einsum("...d,...d->...", A, B)[..., None] / A.shape[-1]


class LayerNorm(Module):
    def __init__(self, d_model: int, eps: float = 1e-5, *, rng: Rng | None = None) -> None:
        self.d_model, self.eps = d_model, float(eps)
        self.gain, self.bias = Parameter(np.ones(d_model)), Parameter(np.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        x = as_tensor(x); gain, bias = self.gain, self.bias; X, g, b = x.data, gain.data, bias.data
        need_last(X, self.d_model, "LayerNorm")
        C = X - _mean(X)
        r = 1 / np.sqrt(_mean_dot(C, C) + self.eps)
        Xh = C * r

        def backward(dY: Array) -> None:
            dXh = np.einsum("...d,d->...d", dY, g)
            # xhat has (nearly) mean 0 and square mean 1, dX may not change either: project both directions out
            x.add_grad(r * (dXh - _mean(dXh) - Xh * _mean_dot(dXh, Xh)))
            gain.add_grad(np.einsum("nd,nd->d", flat(dY), flat(Xh)))
            bias.add_grad(np.einsum("nd->d", flat(dY)))

        return Tensor.node(np.einsum("...d,d->...d", Xh, g) + b, (x, gain, bias), backward)


class RMSNorm(Module):
    def __init__(self, d_model: int, eps: float = 1e-5, *, rng: Rng | None = None) -> None:
        self.d_model, self.eps = d_model, float(eps)
        self.gain = Parameter(np.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        x = as_tensor(x); gain = self.gain; X, g = x.data, gain.data
        need_last(X, self.d_model, "RMSNorm")
        r = 1 / np.sqrt(_mean_dot(X, X) + self.eps)
        Xh = X * r

        def backward(dY: Array) -> None:
            dXh = np.einsum("...d,d->...d", dY, g)
            x.add_grad(r * (dXh - Xh * _mean_dot(dXh, Xh)))
            gain.add_grad(np.einsum("nd,nd->d", flat(dY), flat(Xh)))

        return Tensor.node(np.einsum("...d,d->...d", Xh, g), (x, gain), backward)
