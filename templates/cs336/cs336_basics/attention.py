"""Attention: every position gathers information from others."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from cs336_basics.rope import RotaryPositionalEmbedding


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> Tensor:
    """softmax(q k^T / sqrt(d_k)) v, with the softmax over the keys.

    q: (..., queries, d_k), k: (..., keys, d_k), v: (..., keys, d_v) -> (..., queries, d_v).
    mask: booleans (..., queries, keys); True lets the query attend to the key, and a key that is False has
    weight 0.
    """
    raise NotImplementedError("mix the values by the attention weights")


class MultiHeadSelfAttention(nn.Module):
    """Causal self-attention in num_heads heads of d_k = d_model / num_heads columns each.

    Head j owns rows j * d_k to (j + 1) * d_k of the first three weights. A position attends to itself and
    to earlier ones.

    Attributes:
        q_proj, k_proj, v_proj, output_proj: Linear, d_model -> d_model.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        rope: RotaryPositionalEmbedding | None = None,
        device: torch.device | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """rope: turns the queries and keys of every head; None for no positions."""
        super().__init__()
        raise NotImplementedError("create the four projections")

    def forward(self, x: Tensor, token_positions: Tensor | None = None) -> Tensor:
        """x: (..., seq_len, d_model), token_positions: (..., seq_len) -> (..., seq_len, d_model).

        token_positions: 0, 1, 2 ... where they are left out.
        """
        raise NotImplementedError("attend in every head and join the heads")
