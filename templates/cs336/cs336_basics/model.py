"""The Transformer block and the language model."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class TransformerBlock(nn.Module):
    """Attention and feed-forward, each on a normalised copy and added back:

        x = x + attn(ln1(x))
        x = x + ffn(ln2(x))

    Attributes:
        ln1, ln2: RMSNorm.
        attn: MultiHeadSelfAttention, with a RotaryPositionalEmbedding of d_model / num_heads columns.
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
        raise NotImplementedError("create the four parts of the block")

    def forward(self, x: Tensor) -> Tensor:
        """(..., seq_len, d_model) -> (..., seq_len, d_model)."""
        raise NotImplementedError("apply attention and feed-forward with residuals")


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
        raise NotImplementedError("put the parts of the model together")

    def forward(self, token_ids: Tensor) -> Tensor:
        """Integers (..., seq_len) -> logits (..., seq_len, vocab_size); seq_len <= context_length."""
        raise NotImplementedError("run the ids through the model")
