import math

import numpy as np


def each_once(params):
  out = []
  seen = set()
  for p in params:
    if id(p) in seen:
      continue
    seen.add(id(p))
    out.append(p)
  return out


class SGD:
  def __init__(self, params, lr, momentum=0.0):
    self.params = each_once(params)
    self.lr = lr
    self.momentum = momentum
    self.vs = [None] * len(self.params)

  def step(self):
    lr = float(self.lr)
    mu = float(self.momentum)
    for k in range(len(self.params)):
      p = self.params[k]
      if p.grad is None:
        continue
      w = p.data
      g = np.asarray(p.grad, dtype=w.dtype)
      v = self.vs[k]
      if v is None:
        v = np.zeros_like(w)
      v = mu * v + g
      self.vs[k] = v
      p.data = np.array(w - lr * v, dtype=w.dtype)

  def zero_grad(self):
    for p in self.params:
      p.grad = None


class AdamW:
  def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    self.params = each_once(params)
    self.lr = lr
    self.betas = betas
    self.eps = eps
    self.weight_decay = weight_decay
    n = len(self.params)
    self.ts = [0] * n  # steps taken, for each parameter
    self.ms = [None] * n
    self.vs = [None] * n

  def step(self):
    lr = float(self.lr)
    b1 = float(self.betas[0])
    b2 = float(self.betas[1])
    eps = float(self.eps)
    wd = float(self.weight_decay)
    for k in range(len(self.params)):
      p = self.params[k]
      if p.grad is None:
        continue
      w = p.data
      g = np.asarray(p.grad, dtype=w.dtype)
      m = self.ms[k]
      v = self.vs[k]
      if m is None:
        m = np.zeros_like(w)
        v = np.zeros_like(w)
      t = self.ts[k] + 1
      m = b1 * m + (1 - b1) * g
      v = b2 * v + (1 - b2) * g * g
      self.ts[k] = t
      self.ms[k] = m
      self.vs[k] = v
      # both averages start at 0 and are too small at first
      mh = m / (1 - b1 ** t)
      vh = v / (1 - b2 ** t)
      # decay pulls on the weight itself, not through the gradient
      a = w - lr * wd * w
      u = mh / (np.sqrt(vh) + eps)
      p.data = np.array(a - lr * u, dtype=w.dtype)

  def zero_grad(self):
    for p in self.params:
      p.grad = None


def clip_grad_norm(params, max_norm):
  ps = []
  for p in each_once(params):
    if p.grad is not None:
      ps.append(p)
  s = 0.0
  for p in ps:
    g = np.asarray(p.grad, dtype=np.float64)
    s = s + float((g * g).sum())
  n = math.sqrt(s)
  if n > max_norm:
    f = float(max_norm) / n
    for p in ps:
      p.grad = np.asarray(p.grad * f)
  return n


def cosine_lr(step, *, max_lr, min_lr, warmup, total):
  if warmup >= total:
    raise ValueError("warmup %s must be smaller than total %s" % (warmup, total))
  if step < warmup:
    return float(max_lr * step / warmup)
  if step >= total:
    return float(min_lr)
  x = (step - warmup) / (total - warmup)
  c = 0.5 * (1.0 + math.cos(math.pi * x))
  return float(min_lr + (max_lr - min_lr) * c)
