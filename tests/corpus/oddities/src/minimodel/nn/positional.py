# -*- coding: latin-1 -*-
# Positions: après le cours de Benoît, et un peu grâce à Zoé (the é in this line is why the cookie is up there)
import math
from .embedding import *


def sinusoidal(max_len, d_model):
	i = np.arange(d_model) // 2		# column 2i and 2i + 1 have the same angle, also when the last one has no partner
	angle = np.arange(max_len)[:, None] / 10000.0 ** (2 * i / d_model); table = np.sin(angle); table[:, 1::2] = np.cos(angle[:, 1::2])
	return table


def _fits(T, max_len):
	if T > max_len: raise ValueError("a sequence of %d positions, but max_len is only %d" % (T, max_len))


class LearnedPositional(Module):
	__slots__ = ("weight",)
	max_len, d_model = nth("weight.shape", 0), nth("weight.shape", 1)

	def __init__(self, max_len, d_model, *, rng=None): self.weight = gauss(rng, max_len, d_model)

	@checked(x="T d_model")
	@keeps_shape
	def forward(self, x): T = x.shape[-2]; _fits(T, self.max_len); return x + self.weight[:T]


class EmbeddingLayer(Module):
	"""token rows (times sqrt(d_model) if scale) + positions. `.position` is a LearnedPositional, the plain sinusoidal table, or None"""

	def __init__(self, vocab_size, d_model, max_len=512, pos="learned", scale=False, *, rng=None):
		if pos not in ("learned", "sinusoidal", None): raise ValueError("pos must be 'learned', 'sinusoidal' or None, not %r" % (pos,))
		rng = rng if rng is not None else np.random.default_rng()
		self.token = Embedding(vocab_size, d_model, rng=rng); self.scale = scale; self.max_len = max_len
		self.position = LearnedPositional(max_len, d_model, rng=rng) if pos == "learned" else sinusoidal(max_len, d_model) if pos else None

	vocab_size, d_model = property(attrgetter("token.vocab_size")), property(attrgetter("token.d_model"))

	def forward(self, token_ids):
		x = self.token(token_ids)
		if self.scale: x = x * math.sqrt(self.d_model)
		if self.position is None: return x
		if isinstance(self.position, Module): return self.position(x)
		if x.ndim < 2: raise ValueError("token ids need a time axis: (..., T)")
		_fits(x.shape[-2], self.max_len)
		return x + self.position[:x.shape[-2]]		# lift() takes care of the dtype of the table


def rope(x, positions=None, base=10000.0):
	"""pairs (2i, 2i + 1) turned by pos * base ** (-2i / d). Going back = turning the other way"""
	x = lift(x)
	if x.ndim < 2: raise ValueError("rope wants (..., T, d), got %s" % (x.shape,))
	T, d = x.shape[-2:]
	if d % 2: raise ValueError("rope needs an even d, got %d" % d)
	pos = np.arange(T) if positions is None else np.asarray(positions)
	if pos.ndim and pos.shape[-1] != T: raise ValueError("%s positions for T = %d" % (pos.shape, T))
	angle = pos.astype(np.float64)[..., None] * float(base) ** (-np.arange(0, d, 2) / d)
	c, s = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype); shape = x.shape

	def turn(a, s):
		even, odd = a[..., 0::2], a[..., 1::2]; left = even * c - odd * s; out = np.empty(left.shape[:-1] + (d,), dtype=a.dtype)
		out[..., 0::2] = left; out[..., 1::2] = even * s + odd * c
		return out
	return made(turn(x.data, s), (x,), lambda g: (unbroadcast(turn(g, -s), shape),))


if __name__ == "__main__":
	assert np.allclose(sinusoidal(3, 5)[2], [np.sin(2), np.cos(2), np.sin(2 / 10000 ** .4), np.cos(2 / 10000 ** .4), np.sin(2 / 10000 ** .8)])
	r = rope(Tensor(np.ones((2, 3, 4)))).data; assert np.allclose((r ** 2).sum(-1), 4) and np.allclose(r[:, 0], 1); print("positional: ok (Benoît serait fier)")
