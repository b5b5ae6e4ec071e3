"""Look around, then think."""
from ..module import Module
from .attention import MultiHeadAttention
from .ffn import FFN
from .norm import LayerNorm


def _with(stream, norm, part):
    """What a part makes of the normalised stream, put on top of the stream itself."""
    return stream + part(norm(stream))


class TransformerBlock(Module):
    def __init__(self, d_model, n_heads, d_ff, *, rng=None):
        super().__init__()
        self.ln_1, self.ln_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.attn = MultiHeadAttention(d_model, n_heads, causal=True, use_rope=True, rng=rng)
        self.ffn = FFN(d_model, d_ff, rng=rng)

    def forward(self, x):
        informed = _with(x, self.ln_1, self.attn)
        return _with(informed, self.ln_2, self.ffn)
