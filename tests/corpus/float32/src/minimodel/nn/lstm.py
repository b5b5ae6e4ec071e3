"""One step of a long short-term memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..initial import FLOAT, normal
from ..module import Module, Parameter
from ..tensor import Tensor

Step = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


def make_step(w_x: Parameter, w_h: Parameter, b: Parameter) -> Step:
    """Close over the weights of the four gates, in the order i, f, g, o."""
    n = w_h.shape[0]

    def forward(
        x_t: Tensor, h_prev: Tensor, c_prev: Tensor
    ) -> tuple[Tensor, Tensor]:
        z = x_t @ w_x + h_prev @ w_h + b
        i, f, g, o = (z[..., k * n : (k + 1) * n] for k in range(4))
        c_t = f.sigmoid() * c_prev + i.sigmoid() * g.tanh()
        return o.sigmoid() * c_t.tanh(), c_t

    return forward


class LSTM(Module):
    """LSTM cell.

    Parameters
    ----------
    d_in, d_hidden : int
        Lengths of the input and of the state.
    rng : numpy.random.Generator, optional
        Draws the first weights.

    Attributes
    ----------
    w_x : Parameter, shape (d_in, 4 * d_hidden)
        Input to gates.
    w_h : Parameter, shape (d_hidden, 4 * d_hidden)
        State to gates.
    b : Parameter, shape (4 * d_hidden,)
        Zeros at first.
    forward : callable
        ``(x_t, h_prev, c_prev) -> (h_t, c_t)``.
    """

    def __init__(
        self,
        d_in: int,
        d_hidden: int,
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        draw = normal(rng)
        self.w_x = Parameter(draw((d_in, 4 * d_hidden), d_in**-0.5))
        self.w_h = Parameter(draw((d_hidden, 4 * d_hidden), d_hidden**-0.5))
        self.b = Parameter(np.zeros(4 * d_hidden, FLOAT))
        self.forward = make_step(self.w_x, self.w_h, self.b)
