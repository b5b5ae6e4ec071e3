"""Tensor with my own autograd.

Order of the backward pass: every tensor waits until ALL its consumers have paid their gradient (Kahn, counting),
no recursion anywhere, so a long LSTM does not blow the stack.
"""
import numpy as np
from collections import deque
from operator import attrgetter


def unbroadcast(g, shape):
	"undo numpy broadcasting: sum g back to `shape`"
	if g.shape == shape: return g
	extra = g.ndim - len(shape)
	if extra > 0: g = g.sum(axis=tuple(range(extra)))
	axes = tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1)
	if axes: g = g.sum(axis=axes, keepdims=True)
	return np.asarray(g).reshape(shape)


def lift(thing, like=None):
	"anything -> Tensor. Numbers and plain arrays take the dtype of `like`, otherwise float32 turns into float64 behind my back"
	if isinstance(thing, Tensor): return thing
	if thing is None: raise TypeError("None is not a number")
	return Tensor(thing) if like is None else Tensor(np.asarray(thing, dtype=like.data.dtype))


def made(data, parents, back):
	"""A Tensor that came out of an operation. back(g) -> one array (or None) for each parent.
	back must not hold on to the result itself, only to arrays, or else we make reference cycles."""
	t = Tensor.__new__(Tensor); t.data = np.asarray(data); t.grad = None
	t.requires_grad = any(p.requires_grad for p in parents)
	t._from, t._back = (tuple(parents), back) if t.requires_grad else ((), None)
	return t


def squash(x):
	"logistic function that never overflows"
	e = np.exp(-np.abs(x))
	return np.where(x >= 0, np.ones_like(e), e) / (1 + e)


# ---- little factories, so I do not have to write the same method twelve times ----

def _one(f, slope):
	"unary method; slope(x, y) is dy/dx"
	def method(self):
		x = self.data; y = f(x)
		return made(y, (self,), lambda g: (g * slope(x, y),))
	return method


def _two(f, da, db):
	"binary method and its mirrored twin (__add__, __radd__)"
	def method(self, other):
		other = lift(other, self); a, b = self.data, other.data; y = f(a, b); need_a, need_b = self.requires_grad, other.requires_grad
		def back(g):
			return unbroadcast(np.asarray(da(g, a, b, y)), a.shape) if need_a else None, \
				unbroadcast(np.asarray(db(g, a, b, y)), b.shape) if need_b else None
		return made(y, (self, other), back)
	return method, lambda self, other: method(lift(other, self), self)


def _peek(path): return property(attrgetter(path))


class Tensor:
	__slots__ = ("data", "grad", "requires_grad", "_from", "_back", "__weakref__")
	__array_ufunc__ = None		# so that ndarray + Tensor lands in Tensor.__radd__ and not in a mess of objects

	def __init__(self, data, requires_grad=False):
		# a copy on purpose. Nobody's arrays change because of me
		data = np.array(data.data if isinstance(data, Tensor) else data)
		if data.dtype not in (np.float32, np.float64): data = data.astype(np.float64)
		self.data = data; self.grad = None; self.requires_grad = bool(requires_grad); self._from = (); self._back = None

	shape, ndim, dtype, size = map(_peek, ("data.shape", "data.ndim", "data.dtype", "data.size"))

	def __repr__(self): return "Tensor(%s%s)" % (self.data, ", requires_grad=True" if self.requires_grad else "")
	def __float__(self): return float(self.data)
	def item(self): return self.data.item()
	def detach(self): return Tensor(self.data)

	# ---------------------------------------------------------------- arithmetic
	__add__, __radd__ = _two(np.add, lambda g, a, b, y: g, lambda g, a, b, y: g)
	__sub__, __rsub__ = _two(np.subtract, lambda g, a, b, y: g, lambda g, a, b, y: -g)
	__mul__, __rmul__ = _two(np.multiply, lambda g, a, b, y: g * b, lambda g, a, b, y: g * a)
	__truediv__, __rtruediv__ = _two(np.divide, lambda g, a, b, y: g / b, lambda g, a, b, y: -g * y / b)
	# x ** 0 has slope 0 also at x = 0 (where 0 * 0 ** -1 would be nan). The second slope is only asked for if the exponent wants a gradient.
	__pow__, __rpow__ = _two(np.power, lambda g, a, b, y: g * b * np.power(a, np.where(b == 0, 1, b - 1)), lambda g, a, b, y: g * y * np.log(np.where(a > 0, a, 1)))

	__neg__ = _one(np.negative, lambda x, y: -1)
	exp = _one(np.exp, lambda x, y: y)
	log = _one(np.log, lambda x, y: 1 / x)
	sqrt = _one(np.sqrt, lambda x, y: 0.5 / y)
	tanh = _one(np.tanh, lambda x, y: 1 - y * y)
	sigmoid = _one(squash, lambda x, y: y * (1 - y))
	relu = _one(lambda x: np.maximum(x, 0), lambda x, y: x > 0)

	def __matmul__(self, other):
		other = lift(other, self); a, b = self.data, other.data
		def back(g):
			A = a[None, :] if a.ndim == 1 else a; B = b[:, None] if b.ndim == 1 else b
			if b.ndim == 1: g = np.expand_dims(g, -1)
			if a.ndim == 1: g = np.expand_dims(g, -2)		# after the line above, for vector @ vector the order matters!!
			ga = np.matmul(g, np.swapaxes(B, -1, -2)); gb = np.matmul(np.swapaxes(A, -1, -2), g)
			return unbroadcast(ga, A.shape).reshape(a.shape), unbroadcast(gb, B.shape).reshape(b.shape)
		return made(np.matmul(a, b), (self, other), back)

	def __rmatmul__(self, other): return lift(other, self) @ self

	# ---------------------------------------------------------------- reductions
	def _axes(self, axis):
		"-> the axes as a set, and the shape as it would be with keepdims"
		if axis is None: axis = tuple(range(self.ndim))
		which = {a % self.ndim for a in (axis if isinstance(axis, (tuple, list)) else (axis,))} if self.ndim else set()
		return which, tuple(1 if i in which else n for i, n in enumerate(self.shape))

	def sum(self, axis=None, keepdims=False):
		y = self.data.sum(axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims); shape = self.shape; kept = self._axes(axis)[1]
		return made(y, (self,), lambda g: (np.broadcast_to(g.reshape(kept), shape),))

	def mean(self, axis=None, keepdims=False):
		n = 1
		for a in self._axes(axis)[0]: n *= self.shape[a]
		return self.sum(axis=axis, keepdims=keepdims) / n

	def max(self, axis=None, keepdims=False):
		if isinstance(axis, list): axis = tuple(axis)
		kept = self._axes(axis)[1]; x = self.data; y = x.max(axis=axis, keepdims=keepdims)
		def back(g):
			hit = x == np.asarray(y).reshape(kept)
			return (g.reshape(kept) * (hit / hit.sum(axis=axis, keepdims=True)),)		# ties share
		return made(y, (self,), back)

	def softmax(self, dim=-1):
		x = self.data; top = x.max(axis=dim, keepdims=True)
		e = np.exp(x - np.where(np.isneginf(top), np.zeros_like(top), top)); s = e.sum(axis=dim, keepdims=True)
		y = e / np.where(s == 0, np.ones_like(s), s)		# a line of nothing but -inf becomes a line of zeros, no nan
		return made(y, (self,), lambda g: (y * (g - (g * y).sum(axis=dim, keepdims=True)),))

	def where(self, mask, otherwise):
		"self where mask is True, the constant elsewhere. No gradient for the constant."
		mask = np.array(mask, dtype=bool); shape = self.shape
		return made(np.where(mask, self.data, self.data.dtype.type(otherwise)), (self,), lambda g: (unbroadcast(np.where(mask, g, np.zeros_like(g)), shape),))

	# ---------------------------------------------------------------- shapes
	def reshape(self, *shape):
		if len(shape) == 1 and isinstance(shape[0], (tuple, list)): shape = tuple(shape[0])
		old = self.shape
		return made(self.data.reshape(shape), (self,), lambda g: (g.reshape(old),))

	def transpose(self, *axes):
		"""transpose((1, 0, 2)): all axes.  transpose(0, 1): those two swapped.  transpose(): all turned round"""
		n = self.ndim
		if len(axes) == 1 and isinstance(axes[0], (tuple, list)): axes = tuple(axes[0])
		elif len(axes) == 1 and axes[0] is None or not axes: axes = tuple(range(n))[::-1]
		elif len(axes) == 2:
			i, j = axes
			return made(np.swapaxes(self.data, i, j), (self,), lambda g: (np.swapaxes(g, i, j),))
		y = np.transpose(self.data, axes); home = tuple(np.argsort([a % n for a in axes])) if n else ()
		return made(y, (self,), lambda g: (np.transpose(g, home),))

	T = property(lambda self: self.transpose())

	def __getitem__(self, key):
		if isinstance(key, tuple): key = tuple(np.array(k) if isinstance(k, np.ndarray) else k for k in key)
		elif isinstance(key, np.ndarray): key = key.copy()
		x = self.data
		plain = all(k is None or k is Ellipsis or isinstance(k, (int, np.integer, slice)) for k in (key if isinstance(key, tuple) else (key,)))
		def back(g):
			full = np.zeros_like(x)
			if plain: full[key] += g
			else: np.add.at(full, key, g)		# the same row may be taken twice
			return (full,)
		return made(x[key], (self,), back)

	# ---------------------------------------------------------------- backward
	def backward(self, grad=None):
		if grad is None:
			if self.data.ndim != 0: raise ValueError("backward() without a gradient needs a scalar, this tensor has shape %s" % (self.shape,))
			grad = np.ones_like(self.data)
		grad = np.broadcast_to(np.asarray(grad.data if isinstance(grad, Tensor) else grad, dtype=self.data.dtype), self.shape)		# numpy complains (ValueError) if it does not fit
		if not self.requires_grad: return
		# 1. count the consumers of everybody
		owed, seen, todo = {}, {id(self)}, [self]
		while todo:
			for p in todo.pop()._from:
				if not p.requires_grad: continue
				owed[id(p)] = owed.get(id(p), 0) + 1
				if id(p) not in seen: seen.add(id(p)); todo.append(p)
		# 2. Kahn: whoever has got everything it is owed may go on
		purse, ready = {id(self): grad}, deque([self])
		while ready:
			t = ready.popleft(); g = purse.pop(id(t))
			if t._back is None:
				t.grad = np.array(g) if t.grad is None else np.asarray(t.grad + g)
				continue
			for p, gp in zip(t._from, t._back(g)):
				if not p.requires_grad: continue
				k = id(p); gp = np.asarray(gp, dtype=p.data.dtype)
				purse[k] = np.asarray(purse[k] + gp) if k in purse else gp
				owed[k] -= 1
				if owed[k] == 0: ready.append(p)


if __name__ == "__main__":
	x = Tensor([[1., 2.], [3., 4.]], requires_grad=True); y = (x * x + 2 * x).sum(); y.backward(); assert np.allclose(x.grad, 2 * x.data + 2)
	z = Tensor(1.0, requires_grad=True); w = z
	for _ in range(20000): w = w + z * 0.5
	w.backward(); assert z.grad == 10001; print("tensor: ok")
