# bits and pieces all the layers need
from functools import wraps
from inspect import signature
from .module import *


def checked(**want):
	"""@checked(x="T d_model"): the last axes of argument x, by name. A capital letter means any length, the rest are attributes of self.
	Arrays are turned into Tensors on the way."""
	def dress(forward):
		sig = signature(forward)
		@wraps(forward)
		def wrapper(self, *args, **kwargs):
			bound = sig.bind(self, *args, **kwargs); given = bound.arguments
			for name, axes in want.items():
				x = given[name] = lift(given[name]); axes = axes.split()
				sizes = [None if a.isupper() else attrgetter(a)(self) for a in axes]
				if x.ndim < len(sizes) or any(s is not None and s != n for s, n in zip(sizes, x.shape[-len(sizes):])):
					raise ValueError("%s: %s must be (..., %s) = (..., %s), got %s" % (type(self).__name__, name, ", ".join(axes), ", ".join("*" if s is None else str(s) for s in sizes), x.shape))
			return forward(*bound.args, **bound.kwargs)
		return wrapper
	return dress


def keeps_shape(forward):
	"what goes in must come out (the shape at least)"
	@wraps(forward)
	def wrapper(self, x):
		y = forward(self, x)
		assert y.shape == x.shape, (type(self).__name__, x.shape, y.shape)
		return y
	return wrapper


def nth(path, n):
	"property: entry n of some attribute of an attribute, e.g. nth('weight.shape', 0)"
	get = attrgetter(path)
	return property(lambda self: get(self)[n])


def gauss(rng, *shape, std=0.02):
	rng = np.random.default_rng() if rng is None else rng
	return Parameter(rng.normal(0.0, std, size=shape))


def tdot(x, w, axis=0):
	"last axis of x against axis `axis` of the matrix w, by np.tensordot.   axis=0: x @ w    axis=1: x @ w.T without the transpose"
	a, b = x.data, w.data
	def back(g):
		lead = list(range(g.ndim - 1)); gw = np.tensordot(a, g, axes=(lead, lead))
		return np.tensordot(g, b, axes=([-1], [1 - axis])), gw if axis == 0 else gw.T
	return made(np.tensordot(a, b, axes=([-1], [axis])), (x, w), back)


def ndot(x, w):
	"the same again with np.dot (for axis=0), I wanted to see if it is faster. It is not"
	a, b = x.data, w.data
	return made(np.dot(a, b), (x, w), lambda g: (np.dot(g, b.T), np.dot(a.reshape(-1, b.shape[0]).T, g.reshape(-1, b.shape[1]))))
