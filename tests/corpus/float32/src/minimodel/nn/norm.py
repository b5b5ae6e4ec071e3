"""Normalisation over the last axis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..initial import FLOAT
from ..module import Module, Parameter
from ..tensor import Array, Tensor, record


def make_standardise(eps: float, centre: bool) -> Callable[[Tensor], Tensor]:
    """Close over the kind of normalisation.

    Parameters
    ----------
    eps : float
        Added inside the root.
    centre : bool
        Whether the mean is taken away first (LayerNorm) or not (RMSNorm).

    Returns
    -------
    callable
        (..., d) -> same, without gain or bias.
    """
    eps = float(eps)

    def mean(v: Array) -> Array:
        return v.mean(axis=-1, keepdims=True)

    def standardise(x: Tensor) -> Tensor:
        v = x.data - mean(x.data) if centre else x.data
        inverse = 1 / np.sqrt(mean(v * v) + eps)
        y = v * inverse

        def vjp(g: Array) -> tuple[Array]:
            d = g - y * mean(g * y)
            return (inverse * (d - mean(g) if centre else d),)

        return record(y, (x,), vjp)

    return standardise


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last axis, then gain and bias.

    Parameters
    ----------
    d_model : int
        Length of the last axis.
    eps : float, default 1e-5
        Added to the (biased) variance.
    rng : numpy.random.Generator, optional
        Not needed.

    Attributes
    ----------
    gain, bias : Parameter, shape (d_model,)
        Ones and zeros at first.
    forward : callable
        (..., d_model) -> same.
    """

    def __init__(
        self,
        d_model: int,
        eps: float = 1e-5,
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.gain = gain = Parameter(np.ones(d_model, FLOAT))
        self.bias = bias = Parameter(np.zeros(d_model, FLOAT))
        standardise = make_standardise(eps, centre=True)
        self.forward: Callable[[Tensor], Tensor] = lambda x: (
            standardise(x) * gain + bias
        )


class RMSNorm(Module):
    """Mean square 1 over the last axis, then gain.

    Parameters
    ----------
    d_model : int
        Length of the last axis.
    eps : float, default 1e-5
        Added to the mean square.
    rng : numpy.random.Generator, optional
        Not needed.

    Attributes
    ----------
    gain : Parameter, shape (d_model,)
        Ones at first.
    forward : callable
        (..., d_model) -> same.
    """

    def __init__(
        self,
        d_model: int,
        eps: float = 1e-5,
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.gain = gain = Parameter(np.ones(d_model, FLOAT))
        standardise = make_standardise(eps, centre=False)
        self.forward: Callable[[Tensor], Tensor] = lambda x: (
            standardise(x) * gain
        )
