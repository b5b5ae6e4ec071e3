import math

import numpy as np

from .module import Module
from .tensor import Tensor


def probs(z, temperature, top_k, top_p):
  """logits of one position (list of floats) -> list of probabilities"""
  V = len(z)
  m = max(z)

  # temperature and softmax
  p = []
  s = 0.0
  for v in range(V):
    e = math.exp((z[v] - m) / temperature)
    p.append(e)
    s = s + e
  for v in range(V):
    p[v] = p[v] / s

  # likeliest first, equal ones by id
  order = sorted(range(V), key=lambda v: (-z[v], v))

  if top_k is not None:
    for v in order[top_k:]:
      p[v] = 0.0
    s = sum(p)
    for v in range(V):
      p[v] = p[v] / s

  if top_p is not None and top_p < 1:
    full = False
    c = 0.0
    for v in order:
      if full:
        p[v] = 0.0
        continue
      c = c + p[v]
      if c >= top_p - 1e-12:  # this one crosses the line and stays
        full = True
    s = sum(p)
    for v in range(V):
      p[v] = p[v] / s
  return p


def pick(p, rng):
  u = float(rng.random())
  c = 0.0
  last = 0
  for v in range(len(p)):
    if p[v] == 0.0:
      continue
    c = c + p[v]
    last = v
    if u < c:
      break
  return last


def generate(model, prompt_ids, n_new, *, temperature=1.0, top_k=None, top_p=None, rng):
  """The prompt and n_new sampled ids after it."""
  a = np.asarray(prompt_ids)
  if a.ndim != 1 or a.size == 0:
    raise ValueError("the prompt must be a row of at least one id, got shape %s" % (a.shape,))
  if a.dtype.kind not in "iu":
    raise TypeError("prompt ids must be integers, got dtype %s" % a.dtype)
  if n_new < 0:
    raise ValueError("n_new must not be negative, got %s" % n_new)
  if not temperature >= 0:
    raise ValueError("temperature must not be negative, got %s" % temperature)
  if top_k is not None and top_k < 1:
    raise ValueError("top_k must be at least 1, got %s" % top_k)
  if top_p is not None and not 0 <= top_p <= 1:
    raise ValueError("top_p must be between 0 and 1, got %s" % top_p)

  ids = a.tolist()
  n = model.config.context_len

  # everybody's mode, to put it back afterwards
  modes = []
  if isinstance(model, Module):
    for m in model.modules():
      modes.append((m, m.training))
    model.eval()
  try:
    for k in range(n_new):
      x = np.array(ids[-n:], dtype=np.int64)
      y = model(x)
      if isinstance(y, Tensor):
        y = y.data
      y = np.asarray(y, dtype=np.float64)
      z = y.reshape(-1, y.shape[-1])[-1]
      if temperature == 0:
        t = int(z.argmax())
      else:
        p = probs(z.tolist(), float(temperature), top_k, top_p)
        t = pick(p, rng)
      ids.append(t)
  finally:
    for m, f in modes:
      m.training = f
  return np.array(ids, dtype=np.int64)
