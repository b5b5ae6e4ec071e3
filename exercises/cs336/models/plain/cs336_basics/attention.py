"""Attention: every position gathers information from others."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from cs336_basics.layers import Linear, softmax
from cs336_basics.rope import RotaryPositionalEmbedding


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> Tensor:
    """softmax(q k^T / sqrt(d_k)) v, with the softmax over the keys.

    q: (..., queries, d_k), k: (..., keys, d_k), v: (..., keys, d_v) -> (..., queries, d_v).
    mask: booleans (..., queries, keys); True lets the query attend to the key, and a key that is
    False has weight 0.
    """
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is None:
        return softmax(scores, dim=-1) @ v
    # The lowest number, not -inf, and zeros after it: a query without any key gets 0, not NaN.
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return softmax(scores, dim=-1).masked_fill(~mask, 0.0) @ v


class MultiHeadSelfAttention(nn.Module):
    """Causal self-attention in num_heads heads of d_k = d_model / num_heads columns each.

    Head j owns rows j * d_k to (j + 1) * d_k of the first three weights. A position attends to
    itself and to earlier ones.

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
        if d_model % num_heads != 0:
            raise ValueError(f"d_model {d_model} is no multiple of num_heads {num_heads}")
        self.num_heads = num_heads
        self.rope = rope
        self.q_proj = Linear(d_model, d_model, device, dtype)
        self.k_proj = Linear(d_model, d_model, device, dtype)
        self.v_proj = Linear(d_model, d_model, device, dtype)
        self.output_proj = Linear(d_model, d_model, device, dtype)

    def split_heads(self, x: Tensor) -> Tensor:
        """(..., seq_len, d_model) -> (..., num_heads, seq_len, d_k)."""
        return x.unflatten(-1, (self.num_heads, -1)).transpose(-3, -2)

    def forward(self, x: Tensor, token_positions: Tensor | None = None) -> Tensor:
        """x: (..., seq_len, d_model), token_positions: (..., seq_len) -> (..., seq_len, d_model).

        token_positions: 0, 1, 2 ... where they are left out.
        """
        q = self.split_heads(self.q_proj(x))
        k = self.split_heads(self.k_proj(x))
        v = self.split_heads(self.v_proj(x))

        seq_len = x.shape[-2]
        if self.rope is not None:
            if token_positions is None:
                token_positions = torch.arange(seq_len, device=x.device)
            token_positions = token_positions.unsqueeze(-2)  # the same for all heads
            q, k = self.rope(q, token_positions), self.rope(k, token_positions)

        causal = torch.ones(seq_len, seq_len, dtype=torch.bool, device=x.device).tril()
        heads = scaled_dot_product_attention(q, k, v, causal)
        return self.output_proj(heads.transpose(-3, -2).flatten(-2))
