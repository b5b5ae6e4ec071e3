from dataclasses import dataclass, fields
from minimodel.nn import *


@dataclass(frozen=True)
class MiniGPTConfig:
	d_model: int = 64; n_heads: int = 4; n_layers: int = 2; d_ff: int = 256; vocab_size: int = 64; context_len: int = 32

	def __post_init__(self):
		for f in fields(self):
			v = getattr(self, f.name)
			if isinstance(v, bool) or not isinstance(v, (int, np.integer)) or v < 1: raise ValueError("%s must be a positive integer, got %r" % (f.name, v))
		if self.d_model % self.n_heads: raise ValueError("d_model = %d does not divide by n_heads = %d" % (self.d_model, self.n_heads))
		if self.d_model // self.n_heads % 2: raise ValueError("RoPE turns pairs: d_model / n_heads must be even, got %d / %d" % (self.d_model, self.n_heads))


class MiniGPT(Module):
	d_model, vocab_size, context_len = [property(attrgetter("config." + n)) for n in ("d_model", "vocab_size", "context_len")]

	def __init__(self, config, *, rng=None):
		rng = np.random.default_rng() if rng is None else rng; self.config = c = config
		self.token_emb = Embedding(c.vocab_size, c.d_model, rng=rng)
		self.blocks = [TransformerBlock(c.d_model, c.n_heads, c.d_ff, rng=rng) for _ in range(c.n_layers)]
		self.ln_final = LayerNorm(c.d_model, rng=rng); self.lm_head = LMHead(self.token_emb)

	def forward(self, token_ids):
		shape = np.shape(token_ids)
		if not shape: raise ValueError("token ids need a time axis: (..., T)")
		if shape[-1] > self.context_len: raise ValueError("%d tokens do not fit into context_len = %d" % (shape[-1], self.context_len))
		x = self.token_emb(token_ids)
		for block in self.blocks: x = block(x)
		return self.lm_head(self.ln_final(x))


if __name__ == "__main__":
	n = sum(p.size for p in MiniGPT(MiniGPTConfig()).parameters()); assert n == 103680, n; print("mini_gpt: ok,", n, "parameters")
