"""One step of a long short-term memory."""

from __future__ import annotations

import numpy as np

from minimodel.module import Module, Parameter
from minimodel.tensor import Tensor


class LSTM(Module):
    """An LSTM cell; the four gates lie side by side in the order i, f, g, o."""

    def __init__(self, d_in: int, d_hidden: int, *, rng: np.random.Generator | None = None) -> None:
        super().__init__()
        rng = rng or np.random.default_rng()
        limit = 1.0 / np.sqrt(d_hidden)
        self.d_hidden = d_hidden
        self.w_x = Parameter(rng.uniform(-limit, limit, (d_in, 4 * d_hidden)))
        self.w_h = Parameter(rng.uniform(-limit, limit, (d_hidden, 4 * d_hidden)))
        self.b = Parameter(np.zeros(4 * d_hidden))

    def forward(self, x_t: Tensor, h_prev: Tensor, c_prev: Tensor) -> tuple[Tensor, Tensor]:
        """x_t (..., d_in), h_prev and c_prev (..., d_hidden) -> (h_t, c_t), alike."""
        n = self.d_hidden
        z = x_t @ self.w_x + h_prev @ self.w_h + self.b  # (..., 4 d_hidden)
        i = z[..., :n].sigmoid()
        f = z[..., n : 2 * n].sigmoid()
        g = z[..., 2 * n : 3 * n].tanh()
        o = z[..., 3 * n :].sigmoid()
        c_t = f * c_prev + i * g
        h_t = o * c_t.tanh()
        return h_t, c_t
