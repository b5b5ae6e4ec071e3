"""One transformer block."""

from __future__ import annotations

import numpy as np

from minimodel.module import Module
from minimodel.nn.attention import MultiHeadAttention
from minimodel.nn.ffn import FFN
from minimodel.nn.norm import LayerNorm
from minimodel.tensor import Tensor


class TransformerBlock(Module):
    """Pre-LN: attention and feed-forward, each on a normalised copy and added back."""

    def __init__(
        self, d_model: int, n_heads: int, d_ff: int, *, rng: np.random.Generator | None = None
    ) -> None:
        super().__init__()
        rng = rng or np.random.default_rng()
        self.ln_1 = LayerNorm(d_model)
        self.attn = MultiHeadAttention(d_model, n_heads, causal=True, use_rope=True, rng=rng)
        self.ln_2 = LayerNorm(d_model)
        self.ffn = FFN(d_model, d_ff, rng=rng)

    def forward(self, x: Tensor) -> Tensor:
        """(..., T, d_model) -> (..., T, d_model)"""
        x = x + self.attn(self.ln_1(x))
        x = x + self.ffn(self.ln_2(x))
        return x
