import math

import numpy as np

from ..module import Module, Parameter
from ..tensor import as_tensor
from .embedding import make_rng


class LSTM(Module):
  """One step of an LSTM.  The four gates lie side by side: i, f, g, o."""

  def __init__(self, d_in, d_hidden, *, rng=None):
    self.d_in = d_in
    self.d_hidden = d_hidden
    r = make_rng(rng)
    k = 1.0 / math.sqrt(d_hidden)
    n = 4 * d_hidden
    self.w_x = Parameter(r.uniform(-k, k, size=(d_in, n)))
    self.w_h = Parameter(r.uniform(-k, k, size=(d_hidden, n)))
    self.b = Parameter(np.zeros(n))

  def forward(self, x_t, h_prev, c_prev):
    x = as_tensor(x_t)
    h = as_tensor(h_prev)
    c = as_tensor(c_prev)
    n = self.d_hidden

    zx = x @ self.w_x
    zh = h @ self.w_h
    z = zx + zh
    z = z + self.b

    # input gate
    zi = z[..., 0:n]
    i = zi.sigmoid()
    # forget gate
    zf = z[..., n:2 * n]
    f = zf.sigmoid()
    # candidate
    zg = z[..., 2 * n:3 * n]
    g = zg.tanh()
    # output gate
    zo = z[..., 3 * n:4 * n]
    o = zo.sigmoid()

    old = f * c
    new = i * g
    c_t = old + new
    t = c_t.tanh()
    h_t = o * t
    return h_t, c_t
