"""A memory that is kept, filled and read through three valves."""
import numpy as np

from ..module import Module, Parameter
from ..tensor import Tensor

FILL, KEEP, NEW, READ = range(4)


def _valve(z):
    return 0.5 * (1.0 + np.tanh(0.5 * z))


def _valve_slope(y):
    return y * (1.0 - y)


class LSTM(Module):
    def __init__(self, d_in, d_hidden, *, rng=None):
        super().__init__()
        rng = rng if rng is not None else np.random.default_rng()
        self.w_x, self.w_h = (
            Parameter(rng.standard_normal((rows, 4 * d_hidden)) / np.sqrt(rows))
            for rows in (d_in, d_hidden)
        )
        self.b = Parameter(np.zeros(4 * d_hidden))

    def _levels(self, x, h):
        """What drives the valves and the candidate: (..., 4, d_hidden)."""
        wx, wh, b = (p.data.reshape(*p.shape[:-1], 4, -1) for p in (self.w_x, self.w_h, self.b))
        mix = "...i,ikj->...kj"
        levels = np.einsum(mix, x.data, wx) + np.einsum(mix, h.data, wh) + b

        def weights(source):
            n, k = source.shape[-1], wx.shape[-1]
            return lambda g: source.data.reshape(-1, n).T @ g.reshape(-1, 4 * k)

        return Tensor.from_op(
            levels,
            (x, lambda g: np.einsum("...kj,ikj->...i", g, wx)),
            (h, lambda g: np.einsum("...kj,ikj->...i", g, wh)),
            (self.w_x, weights(x)),
            (self.w_h, weights(h)),
            (self.b, lambda g: g.reshape(-1, self.b.shape[0]).sum(0)),
        )

    def forward(self, x_t, h_prev, c_prev):
        levels = self._levels(x_t, h_prev)
        fill, keep, read = (_valve(levels.data[..., k, :]) for k in (FILL, KEEP, READ))
        new = np.tanh(levels.data[..., NEW, :])
        memory = keep * c_prev.data + fill * new
        seen = np.tanh(memory)

        def through_memory(g):
            back = np.zeros_like(levels.data)
            back[..., FILL, :] = g * new * _valve_slope(fill)
            back[..., KEEP, :] = g * c_prev.data * _valve_slope(keep)
            back[..., NEW, :] = g * fill * (1.0 - new**2)
            return back

        def through_reading(g):
            back = np.zeros_like(levels.data)
            back[..., READ, :] = g * seen * _valve_slope(read)
            return back

        c_t = Tensor.from_op(memory, (levels, through_memory), (c_prev, lambda g: g * keep))
        h_t = Tensor.from_op(
            read * seen, (levels, through_reading), (c_t, lambda g: g * read * (1.0 - seen**2))
        )
        return h_t, c_t
