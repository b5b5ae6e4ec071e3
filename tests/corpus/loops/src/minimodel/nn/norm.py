import numpy as np

from ..module import Module, Parameter
from ..tensor import as_tensor


def check_last(x, d):
  if x.ndim < 1 or x.shape[-1] != d:
    raise ValueError("norm over %d features got %s" % (d, x.shape))


class LayerNorm(Module):
  def __init__(self, d_model, eps=1e-5, *, rng=None):
    self.d_model = d_model
    self.eps = float(eps)
    self.gain = Parameter(np.ones(d_model))
    self.bias = Parameter(np.zeros(d_model))

  def forward(self, x):
    x = as_tensor(x)
    check_last(x, self.d_model)
    m = x.mean(axis=-1, keepdims=True)
    u = x - m
    q = u * u
    v = q.mean(axis=-1, keepdims=True)  # biased: divided by d, not d - 1
    s = v + self.eps
    r = s.sqrt()
    n = u / r
    y = n * self.gain
    y = y + self.bias
    return y


class RMSNorm(Module):
  def __init__(self, d_model, eps=1e-5, *, rng=None):
    self.d_model = d_model
    self.eps = float(eps)
    self.gain = Parameter(np.ones(d_model))

  def forward(self, x):
    x = as_tensor(x)
    check_last(x, self.d_model)
    q = x * x
    v = q.mean(axis=-1, keepdims=True)
    s = v + self.eps
    r = s.sqrt()
    n = x / r
    y = n * self.gain
    return y
