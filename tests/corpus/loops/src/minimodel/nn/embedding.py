import numpy as np

from ..module import Module, Parameter
from ..tensor import Tensor, register


def int_ids(x):
  """x as an integer ndarray, or TypeError"""
  if isinstance(x, Tensor):
    raise TypeError("token ids must be a plain integer array, not a Tensor")
  a = np.asarray(x)
  if a.dtype.kind not in "iu":
    raise TypeError("token ids must be integers, got dtype %s" % a.dtype)
  return a


def make_rng(rng):
  if rng is None:
    return np.random.default_rng()
  return rng


class Embedding(Module):
  """One row of numbers for each token."""

  def __init__(self, vocab_size, d_model, *, rng=None):
    self.vocab_size = vocab_size
    self.d_model = d_model
    r = make_rng(rng)
    self.weight = Parameter(r.normal(0.0, 0.02, size=(vocab_size, d_model)))

  def forward(self, token_ids):
    a = int_ids(token_ids)
    V = self.vocab_size
    w = self.weight.data
    d = w.shape[1]
    n = a.size

    # plain ints first, and look at each of them
    ids = []
    for i in a.reshape(n).tolist():
      if i < 0 or i >= V:
        raise IndexError("token id %d is outside the vocabulary of size %d" % (i, V))
      ids.append(i)

    # look up row by row
    y = np.empty((n, d), dtype=w.dtype)
    for k in range(n):
      y[k] = w[ids[k]]

    def back(g):
      g = g.reshape(n, d)
      gw = np.zeros_like(w)
      for k in range(n):
        gw[ids[k]] += g[k]
      return (gw,)

    return register(y.reshape(a.shape + (d,)), (self.weight,), back)
