from dataclasses import KW_ONLY, InitVar, dataclass, field

from ..module import Module
from ..utilidades.azar import Azar, generador
from .attention import MultiHeadAttention
from .ffn import FFN
from .norm import LayerNorm


@dataclass(eq=False)
class TransformerBlock(Module):
    """Bloque Pre-LN: se normaliza antes de cada subcapa y se suma por fuera."""

    d_model: int
    n_heads: int
    d_ff: int
    _: KW_ONLY
    rng: InitVar[Azar] = None
    ln_1: LayerNorm = field(init=False, repr=False)
    attn: MultiHeadAttention = field(init=False, repr=False)
    ln_2: LayerNorm = field(init=False, repr=False)
    ffn: FFN = field(init=False, repr=False)

    def __post_init__(self, rng):
        rng = generador(rng)
        self.ln_1 = LayerNorm(self.d_model)
        self.attn = MultiHeadAttention(
            self.d_model, self.n_heads, causal=True, use_rope=True, rng=rng
        )
        self.ln_2 = LayerNorm(self.d_model)
        self.ffn = FFN(self.d_model, self.d_ff, rng=rng)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.ffn(self.ln_2(x))
