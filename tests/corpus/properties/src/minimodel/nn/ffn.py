import math

import numpy as np

from ..module import Module, Weight, default_rng, normal
from ..operations import Operation
from ..tensor import dispatch


def _normal_cdf(x):
    # NumPy has no erf. math.erf one by one is slow-ish, but exact, and it is
    # called once per element: backward reuses the result.
    scaled = (x.astype(np.float64) / math.sqrt(2.0)).ravel()
    erf = np.fromiter(map(math.erf, scaled.tolist()), dtype=np.float64, count=scaled.size)
    return (0.5 * (1.0 + erf)).reshape(x.shape).astype(x.dtype)


class Gelu(Operation, symbol="gelu"):
    """x * Phi(x), the exact form."""

    __slots__ = ()

    @staticmethod
    def forward(x):
        cdf = _normal_cdf(x)
        return x * cdf, (x, cdf)

    @staticmethod
    def backward(grad, saved):
        x, cdf = saved
        near = np.clip(x, -40, 40)  # beyond, the density is 0 and x*x would only overflow
        density = np.exp(-0.5 * near * near) / math.sqrt(2.0 * math.pi)
        return (grad * (cdf + x * density),)


def gelu(x):
    return dispatch("gelu", x)


class FFN(Module):
    """gelu(x w_1 + b_1) w_2 + b_2"""

    __slots__ = ()

    w_1 = Weight("(d_model, d_ff)")
    b_1 = Weight("(d_ff,)")
    w_2 = Weight("(d_ff, d_model)")
    b_2 = Weight("(d_model,)")

    def __init__(self, d_model, d_ff, *, rng=None):
        rng = default_rng(rng)
        self.w_1 = normal(rng, d_model, d_ff, std=d_model ** -0.5)
        self.b_1 = np.zeros(d_ff)
        self.w_2 = normal(rng, d_ff, d_model, std=d_ff ** -0.5)
        self.b_2 = np.zeros(d_model)

    @property
    def d_model(self):
        return self.w_1.shape[0]

    @property
    def d_ff(self):
        return self.w_1.shape[1]

    def forward(self, x):
        return gelu(x @ self.w_1 + self.b_1) @ self.w_2 + self.b_2
