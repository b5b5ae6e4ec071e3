from ..module import Module, default_rng
from .attention import MultiHeadAttention
from .ffn import FFN
from .norm import LayerNorm


class TransformerBlock(Module):
    """Pre-LN: the residual stream itself is never normalised."""

    __slots__ = ("ln_1", "attn", "ln_2", "ffn")

    def __init__(self, d_model, n_heads, d_ff, *, rng=None):
        rng = default_rng(rng)
        self.ln_1 = LayerNorm(d_model)
        self.attn = MultiHeadAttention(d_model, n_heads, causal=True, use_rope=True, rng=rng)
        self.ln_2 = LayerNorm(d_model)
        self.ffn = FFN(d_model, d_ff, rng=rng)

    @property
    def d_model(self):
        return self.attn.d_model

    @property
    def n_heads(self):
        return self.attn.n_heads

    @property
    def d_head(self):
        return self.attn.d_head

    @property
    def d_ff(self):
        return self.ffn.d_ff

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.ffn(self.ln_2(x))
