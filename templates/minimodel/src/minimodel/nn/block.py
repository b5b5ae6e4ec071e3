"""One transformer block."""

from __future__ import annotations

import numpy as np

from minimodel.module import Module
from minimodel.tensor import Tensor


class TransformerBlock(Module):
    """Attention and feed-forward, each on a normalised copy and added back (Pre-LN):

        x = x + attn(ln_1(x))
        x = x + ffn(ln_2(x))

    Attributes:
        ln_1, ln_2: LayerNorm.
        attn: MultiHeadAttention, causal and with RoPE.
        ffn: FFN.
    """

    def __init__(
        self, d_model: int, n_heads: int, d_ff: int, *, rng: np.random.Generator | None = None
    ) -> None:
        raise NotImplementedError("create the four parts of the block")

    def forward(self, x: Tensor) -> Tensor:
        """(..., T, d_model) -> (..., T, d_model)."""
        raise NotImplementedError("apply attention and feed-forward with residuals")
