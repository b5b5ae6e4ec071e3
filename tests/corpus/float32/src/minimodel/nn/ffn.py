"""The position-wise part of a block."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..initial import FLOAT, normal
from ..module import Module, Parameter
from ..tensor import Array, Tensor, as_tensor, record

# Chebyshev fit to erfc from Numerical Recipes ("erfcc").  Its relative error
# stays below 1.2e-7 everywhere, that is one unit in the last place of float32.
_ERFC = (
    0.17087277,
    -0.82215223,
    1.48851587,
    -1.13520398,
    0.27886807,
    -0.18628806,
    0.09678418,
    0.37409196,
    1.00002368,
    -1.26551223,
)


def _erfc(x: Array) -> Array:
    """1 - erf(x), to single precision."""
    z = np.minimum(np.abs(x), 30)  # exp(-900) is 0; z * z must not overflow
    t = 1 / (1 + 0.5 * z)
    fit = np.zeros_like(z)
    for coefficient in _ERFC:
        fit = fit * t + coefficient
    tail = t * np.exp(fit - z * z)
    return np.where(x >= 0, tail, 2 - tail)


def gelu(x: Tensor) -> Tensor:
    """x times the normal distribution function of x.

    Parameters
    ----------
    x : Tensor
        Any shape.

    Returns
    -------
    Tensor
        Same shape.
    """
    x = as_tensor(x)
    v = x.data
    below = 0.5 * _erfc(v * -math.sqrt(0.5))

    def vjp(g: Array) -> tuple[Array]:
        z = np.clip(v, -40, 40)
        density = np.exp(-0.5 * z * z) * (1 / math.sqrt(2 * math.pi))
        return (g * (below + z * density),)

    return record(v * below, (x,), vjp)


def make_mlp(
    w_1: Parameter, b_1: Parameter, w_2: Parameter, b_2: Parameter
) -> Callable[[Tensor], Tensor]:
    """Close over two affine maps with a gelu between them."""
    return lambda x: gelu(x @ w_1 + b_1) @ w_2 + b_2


class FFN(Module):
    """Two affine maps with a gelu between them.

    Parameters
    ----------
    d_model, d_ff : int
        Outer and inner lengths.
    rng : numpy.random.Generator, optional
        Draws the first weights.

    Attributes
    ----------
    w_1 : Parameter, shape (d_model, d_ff)
        Into the wide layer.
    b_1 : Parameter, shape (d_ff,)
        Zeros at first.
    w_2 : Parameter, shape (d_ff, d_model)
        And out of it.
    b_2 : Parameter, shape (d_model,)
        Zeros at first.
    forward : callable
        (..., d_model) -> same.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        draw = normal(rng)
        self.w_1 = Parameter(draw((d_model, d_ff), d_model**-0.5))
        self.b_1 = Parameter(np.zeros(d_ff, FLOAT))
        self.w_2 = Parameter(draw((d_ff, d_model), d_ff**-0.5))
        self.b_2 = Parameter(np.zeros(d_model, FLOAT))
        self.forward = make_mlp(self.w_1, self.b_1, self.w_2, self.b_2)
