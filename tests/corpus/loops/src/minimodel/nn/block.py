from ..module import Module
from ..tensor import as_tensor
from .attention import MultiHeadAttention
from .embedding import make_rng
from .ffn import FFN
from .norm import LayerNorm


class TransformerBlock(Module):
  """Pre-LN: normalise, transform, add to what was there.  Twice."""

  def __init__(self, d_model, n_heads, d_ff, *, rng=None):
    r = make_rng(rng)
    self.ln_1 = LayerNorm(d_model)
    self.attn = MultiHeadAttention(d_model, n_heads, causal=True, use_rope=True, rng=r)
    self.ln_2 = LayerNorm(d_model)
    self.ffn = FFN(d_model, d_ff, rng=r)

  def forward(self, x):
    x = as_tensor(x)
    u = self.ln_1(x)
    a = self.attn(u)
    x = x + a
    u = self.ln_2(x)
    f = self.ffn(u)
    x = x + f
    return x
