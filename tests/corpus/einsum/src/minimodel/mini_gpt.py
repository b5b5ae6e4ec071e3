from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from minimodel.module import Module
from minimodel.nn._common import Rng, as_ids
from minimodel.nn.block import TransformerBlock
from minimodel.nn.embedding import Embedding
from minimodel.nn.lm_head import LMHead
from minimodel.nn.norm import LayerNorm
from minimodel.tensor import Tensor


@dataclass(frozen=True)
class MiniGPTConfig:
    d_model: int = 64
    n_heads: int = 4
    n_layers: int = 2
    d_ff: int = 256
    vocab_size: int = 64
    context_len: int = 32

    def __post_init__(self) -> None:
        for f in fields(self):
            v = getattr(self, f.name)
            if isinstance(v, bool) or not isinstance(v, (int, np.integer)) or v < 1: raise ValueError(f"{f.name} must be a positive integer, got {v!r}")
        if self.d_model % self.n_heads: raise ValueError(f"d_model {self.d_model} is not divisible by n_heads {self.n_heads}")
        if self.d_model // self.n_heads % 2: raise ValueError(f"RoPE needs an even head size, got d_model / n_heads = {self.d_model // self.n_heads}")


class MiniGPT(Module):
    """Tokens -> embedding -> n_layers blocks -> LayerNorm -> the embedding again, transposed."""

    def __init__(self, config: MiniGPTConfig, *, rng: Rng | None = None) -> None:
        rng = rng or np.random.default_rng()
        self.config = config
        self.token_emb = Embedding(config.vocab_size, config.d_model, rng=rng)
        self.blocks = [TransformerBlock(config.d_model, config.n_heads, config.d_ff, rng=rng) for _ in range(config.n_layers)]
        self.ln_final = LayerNorm(config.d_model)
        self.lm_head = LMHead(self.token_emb)

    def forward(self, token_ids: Any) -> Tensor:
        ids = as_ids(token_ids)
        if ids.ndim == 0: raise ValueError("token_ids need a time axis, got a single id")
        if (T := ids.shape[-1]) > self.config.context_len: raise ValueError(f"sequence length {T} exceeds context_len {self.config.context_len}")
        h = self.token_emb(ids)
        for block in self.blocks: h = block(h)
        return self.lm_head(self.ln_final(h))
