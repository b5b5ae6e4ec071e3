import math
from minimodel.bits import *
from .positional import *


def scaled_dot_product_attention(q, k, v, mask=None):
	"softmax(q k^T / sqrt(d)) v.   mask: True = may look.   A row that may look at nothing gives zeros"
	q, k, v = lift(q), lift(k), lift(v); scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
	if mask is not None: scores = scores.where(mask, -math.inf)
	return scores.softmax(dim=-1) @ v


class MultiHeadAttention(Module):
	__slots__ = ("w_q", "w_k", "w_v", "w_o", "n_heads", "causal", "use_rope"); d_model = nth("w_q.shape", 0); d_head = property(lambda self: self.d_model // self.n_heads)

	def __init__(self, d_model, n_heads, causal=True, use_rope=False, *, rng=None):
		if n_heads < 1 or d_model % n_heads != 0: raise ValueError("d_model = %s cannot be cut into n_heads = %s equal heads" % (d_model, n_heads))
		rng = np.random.default_rng() if rng is None else rng
		for name in "qkvo": setattr(self, "w_" + name, gauss(rng, d_model, d_model, std=d_model ** -0.5))
		self.n_heads, self.causal, self.use_rope = n_heads, causal, use_rope

	def _heads(self, x, w):
		# (..., T, d) -> (..., T, head, d_head) -> (..., head, T, d_head). Head j gets columns j*d_head to (j+1)*d_head
		y = tdot(x, w); return y.reshape(y.shape[:-1] + (self.n_heads, self.d_head)).transpose(-3, -2)

	@checked(x="T d_model")
	@keeps_shape
	def forward(self, x):
		q, k, v = (self._heads(x, w) for w in (self.w_q, self.w_k, self.w_v)); T = x.shape[-2]
		if self.use_rope: q, k = rope(q), rope(k)
		y = scaled_dot_product_attention(q, k, v, mask=np.tri(T, dtype=bool) if self.causal else None)
		return tdot(y.transpose(-3, -2).reshape(x.shape), self.w_o)


if __name__ == "__main__":
	a = MultiHeadAttention(8, 2, use_rope=True); x = np.random.default_rng(1).normal(size=(3, 5, 8)); x2 = x.copy(); x2[:, 3:] += 1
	assert np.allclose(a(Tensor(x)).data[:, :3], a(Tensor(x2)).data[:, :3]); print("attention: ok, nobody looks ahead")
