from __future__ import annotations

import math

import numpy as np

from minimodel.module import Module, Parameter
from minimodel.nn._common import Rng, flat, need_last, normal
from minimodel.tensor import Array, Tensor, as_tensor

_erf = np.vectorize(math.erf, otypes=[np.float64])  # NumPy has no erf; a loop in disguise, but exact


def Phi(Z: Array) -> Array:
    """Normal distribution function."""
    return (0.5 * (1 + _erf(Z / math.sqrt(2)))).astype(Z.dtype)


def phi(Z: Array) -> Array:
    """Normal density, the derivative of Phi."""
    return np.exp(-0.5 * Z * Z) / math.sqrt(2 * math.pi)


def gelu(x: Tensor) -> Tensor:
    """z Phi(z), derivative Phi(z) + z phi(z)."""
    x = as_tensor(x); Z = x.data; F = Phi(Z)
    return Tensor.node(Z * F, (x,), lambda dY: x.add_grad(dY * (F + Z * phi(Z))))


class FFN(Module):
    """Y = gelu(X W1 + b1) W2 + b2"""

    def __init__(self, d_model: int, d_ff: int, *, rng: Rng | None = None) -> None:
        self.d_model, self.d_ff = d_model, d_ff
        rng = rng or np.random.default_rng()
        self.w_1, self.b_1 = normal(rng, d_model, d_ff), Parameter(np.zeros(d_ff))
        self.w_2, self.b_2 = normal(rng, d_ff, d_model), Parameter(np.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        x = as_tensor(x); w_1, b_1, w_2, b_2 = self.w_1, self.b_1, self.w_2, self.b_2
        X, W1, W2 = x.data, w_1.data, w_2.data
        need_last(X, self.d_model, "FFN")
        Z = np.einsum("...d,df->...f", X, W1, optimize=True) + b_1.data
        F = Phi(Z); A = Z * F

        def backward(dY: Array) -> None:
            dZ = np.einsum("...d,fd->...f", dY, W2, optimize=True) * (F + Z * phi(Z))
            x.add_grad(np.einsum("...f,df->...d", dZ, W1, optimize=True))
            w_1.add_grad(np.einsum("nd,nf->df", flat(X), flat(dZ), optimize=True)); b_1.add_grad(np.einsum("nf->f", flat(dZ)))
            w_2.add_grad(np.einsum("nf,nd->fd", flat(A), flat(dY), optimize=True)); b_2.add_grad(np.einsum("nd->d", flat(dY)))

        return Tensor.node(np.einsum("...f,fd->...d", A, W2, optimize=True) + b_2.data, (x, w_1, b_1, w_2, b_2), backward)
