import math

import numpy as np

from ..module import Module, Parameter
from ..tensor import as_tensor, register
from .embedding import Embedding, int_ids, make_rng


def sinusoidal(max_len, d_model):
  t = np.zeros((max_len, d_model))
  for c in range(d_model):
    i = c // 2
    f = 10000.0 ** (2 * i / d_model)
    for p in range(max_len):
      a = p / f
      if c % 2 == 0:
        t[p, c] = math.sin(a)
      else:
        t[p, c] = math.cos(a)
  return t


def check_len(shape, max_len, d):
  # shape of x is (..., T, d)
  if len(shape) < 2 or shape[-1] != d:
    raise ValueError("expected (..., T, %d), got %s" % (d, shape))
  T = shape[-2]
  if T > max_len:
    raise ValueError("sequence of length %d is longer than max_len %d" % (T, max_len))
  return T


class LearnedPositional(Module):
  def __init__(self, max_len, d_model, *, rng=None):
    self.max_len = max_len
    self.d_model = d_model
    r = make_rng(rng)
    self.weight = Parameter(r.normal(0.0, 0.02, size=(max_len, d_model)))

  def forward(self, x):
    x = as_tensor(x)
    T = check_len(x.shape, self.max_len, self.d_model)
    return x + self.weight[0:T]


class EmbeddingLayer(Module):
  """token row (maybe times sqrt(d_model)) + position row (maybe)"""

  def __init__(self, vocab_size, d_model, max_len=512, pos="learned", scale=False, *, rng=None):
    r = make_rng(rng)
    self.d_model = d_model
    self.max_len = max_len
    self.pos = pos
    self.scale = scale
    self.token = Embedding(vocab_size, d_model, rng=r)
    if pos == "learned":
      self.position = LearnedPositional(max_len, d_model, rng=r)
    elif pos == "sinusoidal":
      self.position = sinusoidal(max_len, d_model)
    elif pos is None:
      self.position = None
    else:
      raise ValueError("pos must be 'learned', 'sinusoidal' or None, got %r" % (pos,))

  def forward(self, token_ids):
    a = int_ids(token_ids)
    x = self.token(a)
    if self.scale:
      x = x * math.sqrt(self.d_model)
    if self.pos == "learned":
      x = self.position(x)
    elif self.pos == "sinusoidal":
      T = check_len(x.shape, self.max_len, self.d_model)
      x = x + self.position[0:T]
    return x


def rope(x, positions=None, base=10000.0):
  """Turn the pairs (2i, 2i+1) of the last axis, one pair after the other."""
  x = as_tensor(x)
  if x.ndim < 2:
    raise ValueError("rope needs (..., T, d), got %s" % (x.shape,))
  T, d = x.shape[-2:]
  if d % 2 != 0:
    raise ValueError("rope needs an even d, got %d" % d)
  if positions is None:
    p = np.arange(T, dtype=np.float64)
  else:
    p = np.array(positions, dtype=np.float64)
    if p.ndim == 0 or p.shape[-1] != T:
      raise ValueError("positions have shape %s, x has T = %d" % (p.shape, T))

  a = x.data
  y = np.empty_like(a)
  cs = []
  ss = []
  for i in range(d // 2):
    w = float(base) ** (-2 * i / d)
    th = p * w
    c = np.cos(th).astype(a.dtype)
    s = np.sin(th).astype(a.dtype)
    u = a[..., 2 * i]
    v = a[..., 2 * i + 1]
    y[..., 2 * i] = u * c - v * s
    y[..., 2 * i + 1] = u * s + v * c
    cs.append(c)
    ss.append(s)

  def back(g):
    # the same turn, the other way round
    ga = np.empty_like(a)
    for i in range(d // 2):
      c = cs[i]
      s = ss[i]
      gu = g[..., 2 * i]
      gv = g[..., 2 * i + 1]
      ga[..., 2 * i] = gu * c + gv * s
      ga[..., 2 * i + 1] = gv * c - gu * s
    return (ga,)

  return register(y, (x,), back)
