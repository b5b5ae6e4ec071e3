import math

import numpy as np

from ..module import Module, Parameter
from ..tensor import as_tensor, register
from .embedding import make_rng


def gelu(x):
  """x * Phi(x), the exact one.  numpy has no erf, so number by number."""
  x = as_tensor(x)
  a = x.data
  c = math.sqrt(0.5)
  ph = []
  for u in a.reshape(a.size).tolist():
    ph.append(0.5 * math.erfc(-u * c))
  ph = np.array(ph, dtype=a.dtype).reshape(a.shape)

  def back(g):
    e = np.exp(-0.5 * a * a)
    f = e * (1.0 / math.sqrt(2.0 * math.pi))  # density of the normal
    return (g * (ph + a * f),)

  return register(a * ph, (x,), back)


class FFN(Module):
  def __init__(self, d_model, d_ff, *, rng=None):
    self.d_model = d_model
    self.d_ff = d_ff
    r = make_rng(rng)
    self.w_1 = Parameter(r.normal(0.0, 0.02, size=(d_model, d_ff)))
    self.b_1 = Parameter(np.zeros(d_ff))
    self.w_2 = Parameter(r.normal(0.0, 0.02, size=(d_ff, d_model)))
    self.b_2 = Parameter(np.zeros(d_model))

  def forward(self, x):
    x = as_tensor(x)
    u = x @ self.w_1
    u = u + self.b_1
    a = gelu(u)
    y = a @ self.w_2
    y = y + self.b_2
    return y
