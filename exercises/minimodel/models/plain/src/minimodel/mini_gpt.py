"""The whole model."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from minimodel.module import Module
from minimodel.nn.block import TransformerBlock
from minimodel.nn.embedding import Embedding
from minimodel.nn.lm_head import LMHead
from minimodel.nn.norm import LayerNorm
from minimodel.tensor import Tensor


@dataclass(frozen=True)
class MiniGPTConfig:
    """The sizes of a model. They cannot be changed once the object exists."""

    d_model: int = 64
    n_heads: int = 4
    n_layers: int = 2
    d_ff: int = 256
    vocab_size: int = 64
    context_len: int = 32

    def __post_init__(self) -> None:
        for field in fields(self):
            size = getattr(self, field.name)
            if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
                raise ValueError(f"{field.name} must be a positive integer, not {size!r}")
        if self.d_model % self.n_heads != 0:
            raise ValueError(f"d_model {self.d_model} does not divide into {self.n_heads} heads")
        if self.d_model // self.n_heads % 2 != 0:
            raise ValueError(f"RoPE needs pairs: {self.d_model} / {self.n_heads} is odd")


class MiniGPT(Module):
    """Embedding, a stack of blocks, a last normalisation, and the tied head."""

    def __init__(self, config: MiniGPTConfig, *, rng: np.random.Generator | None = None) -> None:
        super().__init__()
        rng = rng or np.random.default_rng()
        self.config = config
        self.token_emb = Embedding(config.vocab_size, config.d_model, rng=rng)
        self.blocks = [
            TransformerBlock(config.d_model, config.n_heads, config.d_ff, rng=rng)
            for _ in range(config.n_layers)
        ]
        self.ln_final = LayerNorm(config.d_model)
        self.lm_head = LMHead(self.token_emb)

    def forward(self, token_ids: np.ndarray) -> Tensor:
        """(..., T) -> (..., T, vocab_size)"""
        ids = np.asarray(token_ids)
        if ids.shape[-1] > self.config.context_len:
            raise ValueError(f"{ids.shape[-1]} tokens, but context_len is {self.config.context_len}")
        x = self.token_emb(ids)  # (..., T, d_model)
        for block in self.blocks:
            x = block(x)
        return self.lm_head(self.ln_final(x))
