import numpy as np

from ..module import Module
from .attention import MultiHeadAttention
from .ffn import FFN
from .norm import LayerNorm


class TransformerBlock(Module):
    def __init__(self, d_model, n_heads, d_ff, *, rng=None):
        super().__init__()
        rng = np.random.default_rng() if rng is None else rng
        self.ln_1 = LayerNorm(d_model)
        self.attn = MultiHeadAttention(d_model, n_heads, causal=True, use_rope=True, rng=rng)
        self.ln_2 = LayerNorm(d_model)
        self.ffn = FFN(d_model, d_ff, rng=rng)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.ffn(self.ln_2(x))
