from .attention import *; from .ffn import *; from .norm import *


class TransformerBlock(Module):
	"Pre-LN: the norm stands in front of each half, the road straight through stays free"
	__slots__ = ("ln_1", "attn", "ln_2", "ffn")
	d_model = property(attrgetter("attn.d_model"))

	def __init__(self, d_model, n_heads, d_ff, *, rng=None):
		rng = np.random.default_rng() if rng is None else rng
		self.ln_1 = LayerNorm(d_model, rng=rng); self.attn = MultiHeadAttention(d_model, n_heads, causal=True, use_rope=True, rng=rng)
		self.ln_2 = LayerNorm(d_model, rng=rng); self.ffn = FFN(d_model, d_ff, rng=rng)

	@checked(x="T d_model")
	@keeps_shape
	def forward(self, x):
		x = x + self.attn(self.ln_1(x))
		return x + self.ffn(self.ln_2(x))