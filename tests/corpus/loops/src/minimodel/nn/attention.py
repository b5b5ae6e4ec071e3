import math

import numpy as np

from ..module import Module, Parameter
from ..tensor import as_tensor, cat, register, shrink
from .embedding import make_rng
from .positional import rope


def scaled_dot_product_attention(q, k, v, mask=None):
  """softmax(q k^T / sqrt(d)) v, one batch row after the other.

  A query that may attend to nothing gets zeros.
  """
  q = as_tensor(q)
  k = as_tensor(k)
  v = as_tensor(v)
  for x in (q, k, v):
    if x.ndim < 2:
      raise ValueError("attention needs (..., T, d), got %s" % (x.shape,))
  q_shape = q.shape
  k_shape = k.shape
  v_shape = v.shape
  lead = np.broadcast_shapes(q_shape[:-2], k_shape[:-2], v_shape[:-2])
  n = 1
  for x in lead:
    n = n * x
  Tq, d = q.shape[-2:]
  Tk = k.shape[-2]
  dv = v.shape[-1]
  if k.shape[-1] != d or v.shape[-2] != Tk:
    raise ValueError("q %s, k %s and v %s do not fit together" % (q.shape, k.shape, v.shape))
  sc = 1.0 / math.sqrt(d)

  # a list of n matrices each
  qs = np.broadcast_to(q.data, lead + (Tq, d)).reshape(n, Tq, d)
  ks = np.broadcast_to(k.data, lead + (Tk, d)).reshape(n, Tk, d)
  vs = np.broadcast_to(v.data, lead + (Tk, dv)).reshape(n, Tk, dv)
  ms = None
  if mask is not None:
    ms = np.asarray(mask).astype(bool)
    ms = np.broadcast_to(ms, lead + (Tq, Tk)).reshape(n, Tq, Tk)

  dt = np.result_type(qs, ks, vs)
  ps = []
  y = np.empty((n, Tq, dv), dtype=dt)
  for r in range(n):
    s = qs[r] @ ks[r].T
    s = s * sc
    if ms is not None:
      s = np.where(ms[r], s, -np.inf)
    t = s.max(axis=1, keepdims=True)
    t[np.isneginf(t)] = 0  # nothing allowed in this row
    e = np.exp(s - t)
    z = e.sum(axis=1, keepdims=True)
    z[z == 0] = 1
    p = e / z
    ps.append(p)
    y[r] = p @ vs[r]

  def back(g):
    g = g.reshape(n, Tq, dv)
    gq = np.zeros((n, Tq, d), dtype=dt)
    gk = np.zeros((n, Tk, d), dtype=dt)
    gv = np.zeros((n, Tk, dv), dtype=dt)
    for r in range(n):
      p = ps[r]
      gr = g[r]
      gv[r] = p.T @ gr
      gp = gr @ vs[r].T
      dot = (gp * p).sum(axis=1, keepdims=True)
      gs = p * (gp - dot)
      gs = gs * sc
      gq[r] = gs @ ks[r]
      gk[r] = gs.T @ qs[r]
    gq = shrink(gq.reshape(lead + (Tq, d)), q_shape)
    gk = shrink(gk.reshape(lead + (Tk, d)), k_shape)
    gv = shrink(gv.reshape(lead + (Tk, dv)), v_shape)
    return gq, gk, gv

  return register(y.reshape(lead + (Tq, dv)), (q, k, v), back)


class MultiHeadAttention(Module):
  def __init__(self, d_model, n_heads, causal=True, use_rope=False, *, rng=None):
    if n_heads < 1 or d_model % n_heads != 0:
      raise ValueError("d_model %d cannot be split into %d heads" % (d_model, n_heads))
    self.d_model = d_model
    self.n_heads = n_heads
    self.d_head = d_model // n_heads
    self.causal = causal
    self.use_rope = use_rope
    if use_rope and self.d_head % 2 != 0:
      raise ValueError("rope needs an even head size, got %d" % self.d_head)
    r = make_rng(rng)
    s = (d_model, d_model)
    self.w_q = Parameter(r.normal(0.0, 0.02, size=s))
    self.w_k = Parameter(r.normal(0.0, 0.02, size=s))
    self.w_v = Parameter(r.normal(0.0, 0.02, size=s))
    self.w_o = Parameter(r.normal(0.0, 0.02, size=s))

  def forward(self, x):
    x = as_tensor(x)
    if x.ndim < 2 or x.shape[-1] != self.d_model:
      raise ValueError("attention needs (..., T, %d), got %s" % (self.d_model, x.shape))
    T = x.shape[-2]
    m = None
    if self.causal:
      m = np.zeros((T, T), dtype=bool)
      for i in range(T):
        m[i, 0:i + 1] = True

    q = x @ self.w_q
    k = x @ self.w_k
    v = x @ self.w_v

    hs = []
    for j in range(self.n_heads):
      lo = j * self.d_head
      hi = lo + self.d_head
      qj = q[..., lo:hi]
      kj = k[..., lo:hi]
      vj = v[..., lo:hi]
      if self.use_rope:
        qj = rope(qj)
        kj = rope(kj)
      h = scaled_dot_product_attention(qj, kj, vj, m)
      hs.append(h)
    y = cat(hs, axis=-1)
    y = y @ self.w_o
    return y
