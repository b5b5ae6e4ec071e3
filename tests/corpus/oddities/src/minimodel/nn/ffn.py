import math
from minimodel.bits import *
try: from math import erf
except ImportError:
	# very old pythons (and whatever runs on my calculator). Abramowitz & Stegun 7.1.26, good to 1e-7
	def erf(x):
		t = 1 / (1 + 0.3275911 * abs(x)); y = 1 - ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * math.exp(-x * x)
		return y if x >= 0 else -y
_erf = np.vectorize(erf, otypes=[np.float64])


def gelu(x):
	"x * Phi(x), the exact one"
	x = lift(x); a = x.data; Phi = (0.5 * (1 + _erf(a / math.sqrt(2)))).astype(a.dtype)
	def back(g):
		with np.errstate(over="ignore"): bell = np.exp(-0.5 * a * a) / math.sqrt(2 * math.pi)
		return (g * (Phi + a * bell),)
	return made(a * Phi, (x,), back)


class FFN(Module):
	__slots__ = ("w_1", "b_1", "w_2", "b_2"); d_model, d_ff = nth("w_1.shape", 0), nth("w_1.shape", 1)

	def __init__(self, d_model, d_ff, *, rng=None):
		rng = np.random.default_rng() if rng is None else rng
		self.w_1 = gauss(rng, d_model, d_ff, std=d_model ** -0.5); self.b_1 = Parameter(np.zeros(d_ff)); self.w_2 = gauss(rng, d_ff, d_model, std=d_ff ** -0.5); self.b_2 = Parameter(np.zeros(d_model))

	@checked(x="d_model")
	@keeps_shape
	def forward(self, x): return ndot(gelu(ndot(x, self.w_1) + self.b_1), self.w_2) + self.b_2