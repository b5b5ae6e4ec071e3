import numpy as np

from ..module import Module, Parameter, drawn
from ..tensor import Tensor
from ..value import Dot, Strip


class LSTM(Module):
    """One step of an LSTM. The 4 * d_hidden columns are the gates i, f, g, o in that order."""

    def __init__(self, d_in, d_hidden, *, rng=None):
        super().__init__()
        rng = np.random.default_rng() if rng is None else rng
        self.d_in = d_in
        self.d_hidden = d_hidden
        self.w_x = drawn(rng, (d_in, 4 * d_hidden), d_in ** -0.5)
        self.w_h = drawn(rng, (d_hidden, 4 * d_hidden), d_hidden ** -0.5)
        self.b = Parameter(np.zeros(4 * d_hidden))

    def forward(self, x_t, h_prev, c_prev):
        n = self.d_hidden
        for name, t, width in (("x_t", x_t, self.d_in), ("h_prev", h_prev, n), ("c_prev", c_prev, n)):
            if t.ndim < 1 or t.shape[-1] != width:
                raise ValueError(f"{name} should be (..., {width}), got {t.shape}")
        lead = np.broadcast_shapes(x_t.shape[:-1], h_prev.shape[:-1], c_prev.shape[:-1])

        def lines(t):
            full = np.broadcast_to(t.cells(), lead + t.shape[-1:])
            return full.reshape(int(np.prod(lead)), t.shape[-1]).tolist()

        from_x, from_h = self.w_x.columns(), self.w_h.columns()
        bias = self.b.cells().tolist()
        hs, cs = [], []
        for x, h, c in zip(lines(x_t), lines(h_prev), lines(c_prev)):
            x, h = Strip(x), Strip(h)
            z = [Dot(x, wx) + Dot(h, wh) + b for wx, wh, b in zip(from_x, from_h, bias)]
            for j in range(n):
                i = z[j].sigmoid()
                f = z[n + j].sigmoid()
                g = z[2 * n + j].tanh()
                o = z[3 * n + j].sigmoid()
                cell = f * c[j] + i * g
                cs.append(cell)
                hs.append(o * cell.tanh())
        parents = (x_t, h_prev, c_prev, self.w_x, self.w_h, self.b)
        return Tensor.of(hs, lead + (n,), *parents), Tensor.of(cs, lead + (n,), *parents)
