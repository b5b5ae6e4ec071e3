from minimodel.bits import *


class LayerNorm(Module):
	__slots__ = ("gain", "bias", "eps"); d_model = nth("gain.shape", 0)

	def __init__(self, d_model, eps=1e-5, *, rng=None):
		self.gain, self.bias, self.eps = Parameter(np.ones(d_model)), Parameter(np.zeros(d_model)), eps

	@checked(x="d_model")
	@keeps_shape
	def forward(self, x):
		away = x - x.mean(axis=-1, keepdims=True); var = (away * away).mean(axis=-1, keepdims=True)
		return away / (var + self.eps).sqrt() \
			* self.gain \
			+ self.bias


class RMSNorm(Module):
	__slots__ = ("gain", "eps"); d_model = nth("gain.shape", 0)

	def __init__(self, d_model, eps=1e-5, *, rng=None): self.gain = Parameter(np.ones(d_model)); self.eps = eps

	@checked(x="d_model")
	@keeps_shape
	def forward(self, x): return x / ((x * x).mean(axis=-1, keepdims=True) + self.eps).sqrt() * self.gain


if __name__ == "__main__": y = LayerNorm(6)(np.random.default_rng(0).normal(3, 9, (4, 6))).data; assert np.allclose(y.mean(-1), 0) and np.allclose(y.var(-1), 1, atol=1e-4); print("norm: ok")