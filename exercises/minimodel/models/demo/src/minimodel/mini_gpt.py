"""From ids to logits."""
from dataclasses import astuple, dataclass

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
        if min(astuple(self)) < 1:
            raise ValueError(f"every size must be at least 1: {self}")
        if self.d_model % (2 * self.n_heads):
            raise ValueError(f"{self.n_heads} heads of an even width do not fill {self.d_model}")


class MiniGPT(Module):
    def __init__(self, config, *, rng=None):
        super().__init__()
        self.config = c = config
        self.token_emb = Embedding(c.vocab_size, c.d_model, rng=rng)
        self.blocks = [TransformerBlock(c.d_model, c.n_heads, c.d_ff, rng=rng) for _ in range(c.n_layers)]
        self.ln_final = LayerNorm(c.d_model)
        self.lm_head = LMHead(self.token_emb)

    def forward(self, token_ids):
        T, most = token_ids.shape[-1], self.config.context_len
        if T > most:
            raise ValueError(f"{T} positions, where {most} is the most")
        stream = self.token_emb(token_ids)
        for block in self.blocks:
            stream = block(stream)
        last = self.ln_final(stream)
        return self.lm_head(last)
