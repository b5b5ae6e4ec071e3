import numpy as np

from ..module import Module
from ..tensor import as_tensor, register


class LMHead(Module):
  """Scores for every token: h times the embedding table, transposed (tied)."""

  def __init__(self, embedding, *, rng=None):
    self.embedding = embedding
    self.vocab_size_out = embedding.vocab_size

  def forward(self, h):
    h = as_tensor(h)
    W = self.embedding.weight
    w = W.data
    V = self.vocab_size_out
    d = w.shape[1]
    if h.ndim < 1 or h.shape[-1] != d:
      raise ValueError("lm head needs (..., %d), got %s" % (d, h.shape))

    h_shape = h.shape
    lead = h_shape[:-1]
    n = 1
    for k in lead:
      n = n * k
    a = h.data.reshape(n, d)

    # one column of logits at a time: token v scores a . w[v]
    y = np.empty((n, V), dtype=np.result_type(a, w))
    for v in range(self.vocab_size_out):
      wv = w[v]
      y[:, v] = a @ wv

    def back(g):
      g = g.reshape(n, V)
      ga = np.zeros(a.shape, dtype=y.dtype)
      gw = np.zeros(w.shape, dtype=y.dtype)
      for v in range(V):
        gv = g[:, v]
        ga += gv[:, None] * w[v]
        gw[v] = gv @ a
      return ga.reshape(h_shape), gw

    return register(y.reshape(lead + (V,)), (h, W), back)
