"""The Transformer block and the language model."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from cs336_basics.attention import MultiHeadSelfAttention
from cs336_basics.layers import Embedding, Linear, RMSNorm, SwiGLU
from cs336_basics.rope import RotaryPositionalEmbedding


class TransformerBlock(nn.Module):
    """Attention and feed-forward, each on a normalised copy and added back:

        x = x + attn(ln1(x))
        x = x + ffn(ln2(x))

    Attributes:
        ln1, ln2: RMSNorm.
        attn: MultiHeadSelfAttention, with a RotaryPositionalEmbedding of d_model / num_heads
            columns.
        ffn: SwiGLU.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        max_seq_len: int,
        theta: float,
        device: torch.device | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        rope = RotaryPositionalEmbedding(theta, d_model // num_heads, max_seq_len, device)
        self.ln1 = RMSNorm(d_model, device=device, dtype=dtype)
        self.attn = MultiHeadSelfAttention(d_model, num_heads, rope, device, dtype)
        self.ln2 = RMSNorm(d_model, device=device, dtype=dtype)
        self.ffn = SwiGLU(d_model, d_ff, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        """(..., seq_len, d_model) -> (..., seq_len, d_model)."""
        x = x + self.attn(self.ln1(x))
        return x + self.ffn(self.ln2(x))


class TransformerLM(nn.Module):
    """Embedding, a stack of blocks, a last norm, and the output layer.

    Attributes:
        token_embeddings: Embedding.
        layers: nn.ModuleList of num_layers TransformerBlocks.
        ln_final: RMSNorm.
        lm_head: Linear, d_model -> vocab_size.
    """

    def __init__(
        self,
        vocab_size: int,
        context_length: int,
        d_model: int,
        num_layers: int,
        num_heads: int,
        d_ff: int,
        rope_theta: float,
        device: torch.device | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.token_embeddings = Embedding(vocab_size, d_model, device, dtype)
        self.layers = nn.ModuleList(
            TransformerBlock(d_model, num_heads, d_ff, context_length, rope_theta, device, dtype)
            for _ in range(num_layers)
        )
        self.ln_final = RMSNorm(d_model, device=device, dtype=dtype)
        self.lm_head = Linear(d_model, vocab_size, device, dtype)

    def forward(self, token_ids: Tensor) -> Tensor:
        """Integers (..., seq_len) -> logits (..., seq_len, vocab_size);
        seq_len <= context_length.
        """
        x = self.token_embeddings(token_ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.ln_final(x))
