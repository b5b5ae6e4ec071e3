from __future__ import annotations

from minimodel.module import Module
from minimodel.nn._common import Rng
from minimodel.nn.attention import MultiHeadAttention
from minimodel.nn.ffn import FFN
from minimodel.nn.norm import LayerNorm
from minimodel.tensor import Tensor, as_tensor


class TransformerBlock(Module):
    """Pre-LN: x + attn(ln_1(x)), then + ffn(ln_2(x))."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int, *, rng: Rng | None = None) -> None:
        self.ln_1 = LayerNorm(d_model)
        self.attn = MultiHeadAttention(d_model, n_heads, causal=True, use_rope=True, rng=rng)
        self.ln_2 = LayerNorm(d_model)
        self.ffn = FFN(d_model, d_ff, rng=rng)

    def forward(self, x: Tensor) -> Tensor:
        x = as_tensor(x)
        x = x + self.attn(self.ln_1(x))
        return x + self.ffn(self.ln_2(x))
