"""Widen, bend, narrow."""
import math

import numpy as np

from ..module import Module, Parameter
from ..tensor import Tensor

_C = math.sqrt(2 / math.pi)
_K = 0.044715


def _bend(z):
    """GELU in its tanh form, and its derivative."""
    t = np.tanh(_C * z * (1 + _K * z * z))
    half = (1 + t) / 2
    return z * half, half + z * (1 - t * t) * _C * (1 + 3 * _K * z * z) / 2


def gelu(x):
    y, dy = _bend(x.data)
    return Tensor.from_op(y, (x, lambda g: g * dy))


class FFN(Module):
    def __init__(self, d_model, d_ff, *, rng=None):
        super().__init__()
        dice = rng if rng is not None else np.random.default_rng()
        self.w_1 = Parameter(dice.standard_normal((d_model, d_ff)) / math.sqrt(d_model))
        self.b_1 = Parameter(np.zeros(d_ff))
        self.w_2 = Parameter(dice.standard_normal((d_ff, d_model)) / math.sqrt(d_ff))
        self.b_2 = Parameter(np.zeros(d_model))

    def forward(self, x):
        x_, w1, w2 = x.data, self.w_1.data, self.w_2.data
        wide, dwide = _bend(np.einsum("...d,df->...f", x_, w1) + self.b_1.data)
        out = np.einsum("...f,fd->...d", wide, w2) + self.b_2.data

        def rows(v):
            return v.reshape(-1, v.shape[-1])

        def inward(g):  # to the values before the bend
            return np.einsum("...d,fd->...f", g, w2) * dwide

        return Tensor.from_op(
            out,
            (x, lambda g: np.einsum("...f,df->...d", inward(g), w1)),
            (self.w_1, lambda g: rows(x_).T @ rows(inward(g))),
            (self.b_1, lambda g: rows(inward(g)).sum(0)),
            (self.w_2, lambda g: rows(wide).T @ rows(g)),
            (self.b_2, lambda g: rows(g).sum(0)),
        )
