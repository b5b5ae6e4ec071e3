"""Tensor: an ndarray that remembers how it was made.

Every op computes its result with plain numpy, then registers ONE closure on
the result.  The closure takes the gradient of the result and hands back one
gradient per input, in the order of the inputs.  backward() walks the inputs
and calls the closures, last result first.
"""
import numpy as np


def as_tensor(x):
  if isinstance(x, Tensor):
    return x
  return Tensor(x)


def to_float(a):
  """ndarray of floats; float32 stays float32, integers become float64"""
  a = np.asarray(a)
  if a.dtype.kind != "f":
    a = a.astype(np.float64)
  return a


def register(y, ins, back):
  """Wrap the ndarray y as the result of an op on the tensors in ins."""
  t = Tensor.__new__(Tensor)
  t.data = np.asarray(y)
  t.grad = None
  t.requires_grad = False
  t.ins = ()
  t.back = None
  for i in ins:
    if i.requires_grad:
      t.requires_grad = True
  if t.requires_grad:
    t.ins = tuple(ins)
    t.back = back
  return t


def shrink(g, shape):
  """undo broadcasting: sum g until it has the given shape"""
  while g.ndim > len(shape):
    g = g.sum(axis=0)
  for k in range(len(shape)):
    if shape[k] == 1 and g.shape[k] != 1:
      g = g.sum(axis=k, keepdims=True)
  return g


def axes_of(axis, ndim):
  """axis argument (None, int or tuple) -> list of axes >= 0"""
  if axis is None:
    return list(range(ndim))
  if not isinstance(axis, (tuple, list)):
    axis = (axis,)
  out = []
  for k in axis:
    k = int(k)
    if k < 0:
      k = k + ndim
    out.append(k)
  return out


def put_back(g, axis, keepdims, ndim):
  """give a reduced gradient its axes of length 1 again"""
  if keepdims:
    return g
  for k in sorted(axes_of(axis, ndim)):
    g = np.expand_dims(g, k)
  return g


def plain_index(idx):
  # only ints, slices, None, ... -> no cell can be picked twice
  if not isinstance(idx, tuple):
    idx = (idx,)
  for i in idx:
    if i is None or i is Ellipsis or isinstance(i, slice):
      continue
    if isinstance(i, (int, np.integer)) and not isinstance(i, bool):
      continue
    return False
  return True


def own_index(idx):
  # a copy of index arrays, in case the caller reuses the buffer
  if isinstance(idx, tuple):
    out = []
    for i in idx:
      out.append(own_index(i))
    return tuple(out)
  if isinstance(idx, (np.ndarray, list)):
    a = np.array(idx)
    if isinstance(idx, list) and a.size == 0:
      a = a.astype(np.int64)  # [] would be floats
    return a
  return idx


class Tensor:
  __array_ufunc__ = None  # so that ndarray + Tensor comes to __radd__

  def __init__(self, data, requires_grad=False):
    if isinstance(data, Tensor):
      data = data.data
    self.data = np.array(to_float(data))  # always an own copy
    self.grad = None
    self.requires_grad = bool(requires_grad)
    self.ins = ()
    self.back = None

  # ---- looking at it

  @property
  def shape(self):
    return self.data.shape

  @property
  def ndim(self):
    return self.data.ndim

  @property
  def size(self):
    return self.data.size

  @property
  def dtype(self):
    return self.data.dtype

  @property
  def T(self):
    return self.transpose()

  def item(self):
    return self.data.item()

  def __float__(self):
    return float(self.data)

  def __repr__(self):
    s = ", requires_grad=True" if self.requires_grad else ""
    return "Tensor(" + repr(self.data) + s + ")"

  # ---- backward

  def backward(self, grad=None):
    if grad is None:
      if self.ndim != 0:
        raise ValueError("backward() without grad needs a scalar, this has shape %s" % (self.shape,))
      g = np.ones((), dtype=self.dtype)
    else:
      if isinstance(grad, Tensor):
        grad = grad.data
      g = np.array(grad, dtype=self.dtype)
      if g.shape != self.shape:
        raise ValueError("grad has shape %s, the tensor has %s" % (g.shape, self.shape))
    if not self.requires_grad:
      return

    # 1. order: every tensor after all of its inputs (own stack, no recursion)
    order = []
    seen = set()
    todo = [(self, False)]
    while todo:
      t, ready = todo.pop()
      if ready:
        order.append(t)
        continue
      if id(t) in seen:
        continue
      seen.add(id(t))
      todo.append((t, True))
      for i in t.ins:
        if i.requires_grad and id(i) not in seen:
          todo.append((i, False))

    # 2. from the end to the leaves; gs holds the gradients not yet handed on
    gs = {id(self): g}
    for t in reversed(order):
      g = gs.pop(id(t), None)
      if g is None:
        continue
      if t.back is None:
        if t.grad is None:
          t.grad = np.array(g)
        else:
          t.grad = np.asarray(t.grad + g, dtype=t.dtype)
        continue
      parts = t.back(g)
      for k in range(len(t.ins)):
        i = t.ins[k]
        p = parts[k]
        if p is None or not i.requires_grad:
          continue
        p = np.asarray(p, dtype=i.dtype)
        old = gs.get(id(i))
        if old is None:
          gs[id(i)] = p
        else:
          gs[id(i)] = np.asarray(old + p)

  # ---- arithmetic

  def other(self, o):
    # numbers and ndarrays become constants of my dtype
    if isinstance(o, Tensor):
      return o
    return register(np.array(o, dtype=self.dtype), (), None)

  def __add__(self, o):
    o = self.other(o)
    sa = self.shape
    sb = o.shape

    def back(g):
      return shrink(g, sa), shrink(g, sb)

    return register(self.data + o.data, (self, o), back)

  def __radd__(self, o):
    return self.other(o) + self

  def __neg__(self):
    def back(g):
      return (-g,)

    return register(-self.data, (self,), back)

  def __sub__(self, o):
    o = self.other(o)
    sa = self.shape
    sb = o.shape

    def back(g):
      return shrink(g, sa), shrink(-g, sb)

    return register(self.data - o.data, (self, o), back)

  def __rsub__(self, o):
    return self.other(o) - self

  def __mul__(self, o):
    o = self.other(o)
    a = self.data
    b = o.data

    def back(g):
      return shrink(g * b, a.shape), shrink(g * a, b.shape)

    return register(a * b, (self, o), back)

  def __rmul__(self, o):
    return self.other(o) * self

  def __truediv__(self, o):
    o = self.other(o)
    a = self.data
    b = o.data
    y = a / b

    def back(g):
      ga = g / b
      return shrink(ga, a.shape), shrink(-ga * y, b.shape)

    return register(y, (self, o), back)

  def __rtruediv__(self, o):
    return self.other(o) / self

  def __pow__(self, o):
    o = self.other(o)
    a = self.data
    b = o.data
    y = a ** b
    need_a = self.requires_grad
    need_b = o.requires_grad

    def back(g):
      ga = None
      gb = None
      if need_a:
        e = np.where(b == 0, 1, b)  # x ** 0 is flat, also at x = 0
        ga = shrink(np.where(b == 0, 0, g * b * a ** (e - 1)), a.shape)
      if need_b:
        pos = np.broadcast_to(a > 0, y.shape)
        la = np.log(np.where(a > 0, a, 1))
        gb = shrink(np.where(pos, g * y * la, 0), b.shape)
      return ga, gb

    return register(y, (self, o), back)

  def __rpow__(self, o):
    return self.other(o) ** self

  def __matmul__(self, o):
    o = self.other(o)
    a = self.data
    b = o.data
    y = a @ b

    def back(g):
      g = np.asarray(g)
      # vectors become matrices for a moment
      a2 = a
      b2 = b
      if b.ndim == 1:
        b2 = b[:, None]
        g = g[..., None]
      if a.ndim == 1:
        a2 = a[None, :]
        g = g[..., None, :]
      ga = shrink(g @ np.swapaxes(b2, -1, -2), a2.shape).reshape(a.shape)
      if b2.ndim == 2 and a2.ndim > 2:
        # all rows of all batches at once, no big stack to sum up
        m = a2.reshape(-1, a2.shape[-1]) if a2.size else np.zeros((0, a2.shape[-1]), a2.dtype)
        n = g.reshape(-1, g.shape[-1]) if m.shape[0] else np.zeros((0, g.shape[-1]), g.dtype)
        gb = m.T @ n
      else:
        gb = shrink(np.swapaxes(a2, -1, -2) @ g, b2.shape)
      return ga, gb.reshape(b.shape)

    return register(y, (self, o), back)

  def __rmatmul__(self, o):
    return self.other(o) @ self

  # ---- reductions

  def sum(self, axis=None, keepdims=False):
    a = self.data
    if isinstance(axis, list):
      axis = tuple(axis)

    def back(g):
      g = put_back(g, axis, keepdims, a.ndim)
      return (np.broadcast_to(g, a.shape),)

    return register(a.sum(axis=axis, keepdims=keepdims), (self,), back)

  def mean(self, axis=None, keepdims=False):
    a = self.data
    if isinstance(axis, list):
      axis = tuple(axis)
    n = 1
    for k in axes_of(axis, a.ndim):
      n = n * a.shape[k]

    def back(g):
      g = put_back(g, axis, keepdims, a.ndim)
      return (np.broadcast_to(g / n, a.shape),)

    return register(a.mean(axis=axis, keepdims=keepdims), (self,), back)

  def max(self, axis=None, keepdims=False):
    a = self.data
    if isinstance(axis, list):
      axis = tuple(axis)
    y = a.max(axis=axis, keepdims=keepdims)

    def back(g):
      # tied maxima share the gradient
      m = put_back(np.asarray(y), axis, keepdims, a.ndim)
      hit = a == m
      ax = tuple(axes_of(axis, a.ndim))
      n = hit.sum(axis=ax, keepdims=True)
      g = put_back(g, axis, keepdims, a.ndim)
      return (np.where(hit, g / n, 0),)

    return register(y, (self,), back)

  # ---- functions of each element

  def exp(self):
    y = np.exp(self.data)

    def back(g):
      return (g * y,)

    return register(y, (self,), back)

  def log(self):
    a = self.data

    def back(g):
      return (g / a,)

    return register(np.log(a), (self,), back)

  def sqrt(self):
    y = np.sqrt(self.data)

    def back(g):
      return (g * 0.5 / y,)

    return register(y, (self,), back)

  def tanh(self):
    y = np.tanh(self.data)

    def back(g):
      return (g * (1 - y * y),)

    return register(y, (self,), back)

  def sigmoid(self):
    a = self.data
    e = np.exp(-np.abs(a))  # never above 1
    y = np.where(a >= 0, 1 / (1 + e), e / (1 + e))
    d = e / ((1 + e) * (1 + e))

    def back(g):
      return (g * d,)

    return register(y, (self,), back)

  def relu(self):
    on = self.data > 0

    def back(g):
      return (np.where(on, g, 0),)

    return register(np.where(on, self.data, 0), (self,), back)

  # ---- shapes

  def reshape(self, *shape):
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
      shape = tuple(shape[0])
    s = self.shape

    def back(g):
      return (g.reshape(s),)

    return register(self.data.reshape(shape), (self,), back)

  def transpose(self, *axes):
    """transpose((2, 0, 1)): all axes.  transpose(0, 1): swap two.  transpose(): reverse."""
    n = self.ndim
    if len(axes) == 0 or axes == (None,):
      p = list(range(n))[::-1]
    elif len(axes) == 1 and isinstance(axes[0], (tuple, list)):
      p = axes_of(tuple(axes[0]), n)
    elif len(axes) == 2:
      i, j = axes
      p = list(range(n))
      p[i], p[j] = p[j], p[i]
    else:
      p = axes_of(axes, n)
    q = [0] * n
    y = self.data.transpose(p)
    for k in range(n):
      q[p[k]] = k

    def back(g):
      return (g.transpose(q),)

    return register(y, (self,), back)

  def __getitem__(self, idx):
    a = self.data
    idx = own_index(idx)
    plain = plain_index(idx)

    def back(g):
      z = np.zeros_like(a)
      if plain:
        z[idx] = g
      else:
        np.add.at(z, idx, g)
      return (z,)

    return register(a[idx], (self,), back)

  def softmax(self, dim=-1):
    a = self.data
    e = np.exp(a - a.max(axis=dim, keepdims=True))
    p = e / e.sum(axis=dim, keepdims=True)

    def back(g):
      s = (g * p).sum(axis=dim, keepdims=True)
      return (p * (g - s),)

    return register(p, (self,), back)


def cat(ts, axis=-1):
  """glue tensors together along an axis that they have already"""
  ts = list(ts)
  a = []
  n = []
  for t in ts:
    a.append(t.data)
    n.append(t.shape[axis])

  def back(g):
    out = []
    lo = 0
    for k in n:
      s = [slice(None)] * g.ndim
      s[axis] = slice(lo, lo + k)
      out.append(g[tuple(s)])
      lo = lo + k
    return out

  return register(np.concatenate(a, axis=axis), ts, back)
