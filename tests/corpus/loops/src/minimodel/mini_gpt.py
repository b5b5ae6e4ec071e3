from dataclasses import dataclass

import numpy as np

from .module import Module
from .nn.block import TransformerBlock
from .nn.embedding import Embedding, int_ids, make_rng
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
    for n in ("d_model", "n_heads", "n_layers", "d_ff", "vocab_size", "context_len"):
      v = getattr(self, n)
      if isinstance(v, bool) or not isinstance(v, (int, np.integer)):
        raise ValueError("%s must be an integer, got %r" % (n, v))
      if v < 1:
        raise ValueError("%s must be at least 1, got %d" % (n, v))
    if self.d_model % self.n_heads != 0:
      raise ValueError("d_model %d cannot be split into n_heads %d" % (self.d_model, self.n_heads))
    if (self.d_model // self.n_heads) % 2 != 0:
      raise ValueError(
        "d_model / n_heads = %d / %d must be even, the positions need pairs" % (self.d_model, self.n_heads))


class MiniGPT(Module):
  def __init__(self, config, *, rng=None):
    r = make_rng(rng)
    c = config
    self.config = c
    self.token_emb = Embedding(c.vocab_size, c.d_model, rng=r)
    self.blocks = []
    for i in range(c.n_layers):
      b = TransformerBlock(c.d_model, c.n_heads, c.d_ff, rng=r)
      self.blocks.append(b)
    self.ln_final = LayerNorm(c.d_model)
    self.lm_head = LMHead(self.token_emb)

  def forward(self, token_ids):
    a = int_ids(token_ids)
    if a.ndim < 1:
      raise ValueError("token ids need an axis: (..., T), got a single number")
    T = a.shape[-1]
    n = self.config.context_len
    if T > n:
      raise ValueError("%d tokens do not fit into context_len %d" % (T, n))
    x = self.token_emb(a)
    for b in self.blocks:
      x = b(x)
    x = self.ln_final(x)
    y = self.lm_head(x)
    return y
