import operator
from dataclasses import dataclass, fields

import numpy as np

from .module import Module, default_rng
from .nn.block import TransformerBlock
from .nn.embedding import Embedding
from .nn.lm_head import LMHead
from .nn.norm import LayerNorm


@dataclass(frozen=True, slots=True)
class MiniGPTConfig:
    d_model: int = 64
    n_heads: int = 4
    n_layers: int = 2
    d_ff: int = 256
    vocab_size: int = 64
    context_len: int = 32

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            try:
                fine = operator.index(value) >= 1 and not isinstance(value, bool)
            except TypeError:
                fine = False
            if not fine:
                raise ValueError(f"{field.name} must be a positive integer, got {value!r}")
        if self.d_model % self.n_heads:
            raise ValueError(f"d_model = {self.d_model} is no multiple of n_heads = {self.n_heads}")
        if self.d_head % 2:
            raise ValueError(f"d_head = {self.d_head} is odd, RoPE turns pairs")

    @property
    def d_head(self):
        return self.d_model // self.n_heads


class MiniGPT(Module):
    __slots__ = ("config", "token_emb", "blocks", "ln_final", "lm_head")

    def __init__(self, config, *, rng=None):
        rng = default_rng(rng)
        self.config = config
        self.token_emb = Embedding(config.vocab_size, config.d_model, rng=rng)
        self.blocks = [
            TransformerBlock(config.d_model, config.n_heads, config.d_ff, rng=rng)
            for _ in range(config.n_layers)
        ]
        self.ln_final = LayerNorm(config.d_model)
        self.lm_head = LMHead(self.token_emb)

    @property
    def vocab_size(self):
        return self.lm_head.vocab_size_out

    @property
    def d_model(self):
        return self.token_emb.d_model

    @property
    def n_layers(self):
        return len(self.blocks)

    @property
    def context_len(self):
        return self.config.context_len

    def forward(self, token_ids):
        ids = np.asarray(token_ids)
        if ids.ndim == 0:
            raise ValueError("token ids need a time axis, got a single id")
        if ids.shape[-1] > self.context_len:
            raise ValueError(f"{ids.shape[-1]} tokens, but context_len is {self.context_len}")
        x = self.token_emb(ids)
        for block in self.blocks:
            x = block(x)
        return self.lm_head(self.ln_final(x))
