import math

import numpy as np

from ..tensor import as_tensor, register


def cross_entropy(logits, targets, ignore_index=None):
  """Mean of -log p(target) in nats over the rows that are kept."""
  logits = as_tensor(logits)
  ts = np.asarray(targets)
  if ts.dtype.kind not in "iu":
    raise TypeError("targets must be integers, got dtype %s" % ts.dtype)
  sh = logits.shape
  if len(sh) == 0 or sh[:-1] != ts.shape:
    raise ValueError("logits %s and targets %s do not fit together" % (sh, ts.shape))
  V = sh[-1]
  n = ts.size
  ts = ts.reshape(n).tolist()

  # which rows count
  keep = []
  for r in range(n):
    t = ts[r]
    if ignore_index is not None and t == ignore_index:
      continue
    if t < 0 or t >= V:
      raise ValueError("target id %d is outside [0, %d)" % (t, V))
    keep.append(r)
  m = len(keep)
  if m == 0:
    raise ValueError("no target left: all %d targets are ignored (ignore_index=%s)" % (n, ignore_index))

  # row by row: the loss, and at once its gradient (softmax - one hot) / m
  z = logits.data.reshape(n, V)
  d = np.zeros_like(z)
  tot = 0.0
  for r in keep:
    t = ts[r]
    row = z[r]
    u = row - row.max()
    e = np.exp(u)
    s = e.sum()
    tot = tot + math.log(s) - float(u[t])
    p = e / s
    p[t] = p[t] - 1
    d[r] = p / m
  y = np.array(tot / m, dtype=z.dtype)
  d = d.reshape(sh)

  def back(g):
    return (g * d,)

  return register(y, (logits,), back)
