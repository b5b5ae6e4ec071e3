"""The transformer block."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..module import Module
from ..tensor import Tensor
from .attention import MultiHeadAttention
from .ffn import FFN
from .norm import LayerNorm


def make_residual(norm: Module, inner: Module) -> Callable[[Tensor], Tensor]:
    """Close over a Pre-LN branch; x -> x + inner(norm(x))."""
    return lambda x: x + inner(norm(x))


class TransformerBlock(Module):
    """Pre-LN block: causal attention with RoPE, then the FFN.

    Parameters
    ----------
    d_model, n_heads, d_ff : int
        See `MultiHeadAttention` and `FFN`.
    rng : numpy.random.Generator, optional
        Draws the first weights.

    Attributes
    ----------
    ln_1, ln_2 : LayerNorm
        Before either branch.
    attn : MultiHeadAttention
        First branch.
    ffn : FFN
        Second branch.
    forward : callable
        (..., T, d_model) -> same.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        rng = np.random.default_rng() if rng is None else rng
        self.ln_1 = LayerNorm(d_model)
        self.attn = MultiHeadAttention(
            d_model, n_heads, causal=True, use_rope=True, rng=rng
        )
        self.ln_2 = LayerNorm(d_model)
        self.ffn = FFN(d_model, d_ff, rng=rng)
        mix = make_residual(self.ln_1, self.attn)
        think = make_residual(self.ln_2, self.ffn)
        self.forward: Callable[[Tensor], Tensor] = lambda x: think(mix(x))
