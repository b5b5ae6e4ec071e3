import numpy as np

from ..module import Module, Weight, default_rng


class LSTM(Module):
    """One step of an LSTM. The four gates lie side by side in the columns: i, f, g, o."""

    __slots__ = ()

    w_x = Weight("(d_in, 4 d_hidden)")
    w_h = Weight("(d_hidden, 4 d_hidden)")
    b = Weight("(4 d_hidden,)")

    def __init__(self, d_in, d_hidden, *, rng=None):
        rng = default_rng(rng)
        limit = d_hidden ** -0.5
        self.w_x = rng.uniform(-limit, limit, (d_in, 4 * d_hidden))
        self.w_h = rng.uniform(-limit, limit, (d_hidden, 4 * d_hidden))
        self.b = np.zeros(4 * d_hidden)

    @property
    def d_in(self):
        return self.w_x.shape[0]

    @property
    def d_hidden(self):
        return self.w_h.shape[0]

    @property
    def gates(self):
        """The columns of i, f, g, o."""
        n = self.d_hidden
        return tuple((..., slice(k * n, (k + 1) * n)) for k in range(4))

    def forward(self, x_t, h_prev, c_prev):
        z = x_t @ self.w_x + h_prev @ self.w_h + self.b
        i, f, g, o = (z[columns] for columns in self.gates)
        c_t = f.sigmoid() * c_prev + i.sigmoid() * g.tanh()
        h_t = o.sigmoid() * c_t.tanh()
        return h_t, c_t
