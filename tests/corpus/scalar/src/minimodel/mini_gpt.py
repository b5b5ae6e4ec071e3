from dataclasses import dataclass, fields
from numbers import Integral

import numpy as np

from .module import Module
from .nn.block import TransformerBlock
from .nn.embedding import Embedding
from .nn.lm_head import LMHead
from .nn.norm import LayerNorm


@dataclass(frozen=True)
class MiniGPTConfig:
    d_model: int = 64
    n_heads: int = 4
    n_layers: int = 2
    d_ff: int = 256
    vocab_size: int = 64
    context_len: int = 32

    def __post_init__(self):
        for field in fields(self):
            number = getattr(self, field.name)
            if not isinstance(number, Integral) or isinstance(number, bool) or number < 1:
                raise ValueError(f"{field.name} must be a whole number >= 1, not {number!r}")
        if self.d_model % self.n_heads:
            raise ValueError(f"d_model = {self.d_model} is not divisible by n_heads = {self.n_heads}")
        if self.d_model // self.n_heads % 2:
            raise ValueError(f"d_model / n_heads = {self.d_model // self.n_heads} is odd, rope needs pairs")


class MiniGPT(Module):
    def __init__(self, config, *, rng=None):
        super().__init__()
        rng = np.random.default_rng() if rng is None else rng
        self.config = config
        self.token_emb = Embedding(config.vocab_size, config.d_model, rng=rng)
        self.blocks = [TransformerBlock(config.d_model, config.n_heads, config.d_ff, rng=rng)
                       for _ in range(config.n_layers)]
        self.ln_final = LayerNorm(config.d_model)
        self.lm_head = LMHead(self.token_emb)

    def forward(self, token_ids):
        shape = np.shape(token_ids)
        if not shape:
            raise ValueError("token ids need a time axis: (..., T)")
        if shape[-1] > self.config.context_len:
            raise ValueError(f"{shape[-1]} tokens, but context_len is {self.config.context_len}")
        x = self.token_emb(token_ids)
        for block in self.blocks:
            x = block(x)
        return self.lm_head(self.ln_final(x))
