from dataclasses import KW_ONLY, InitVar, dataclass, field

import numpy as np

from .configuracion import MiniGPTConfig
from .module import Module
from .nn.block import TransformerBlock
from .nn.embedding import Embedding
from .nn.lm_head import LMHead
from .nn.norm import LayerNorm
from .utilidades.azar import Azar, generador

__all__ = ["MiniGPT", "MiniGPTConfig"]


@dataclass(eq=False)
class MiniGPT(Module):
    """Embedding -> bloques -> LayerNorm -> salida atada. Las posiciones las pone RoPE."""

    config: MiniGPTConfig
    _: KW_ONLY
    rng: InitVar[Azar] = None
    token_emb: Embedding = field(init=False, repr=False)
    blocks: list[TransformerBlock] = field(init=False, repr=False)
    ln_final: LayerNorm = field(init=False, repr=False)
    lm_head: LMHead = field(init=False, repr=False)

    def __post_init__(self, rng):
        rng, c = generador(rng), self.config
        self.token_emb = Embedding(c.vocab_size, c.d_model, rng=rng)
        self.blocks = [
            TransformerBlock(c.d_model, c.n_heads, c.d_ff, rng=rng) for _ in range(c.n_layers)
        ]
        self.ln_final = LayerNorm(c.d_model)
        self.lm_head = LMHead(self.token_emb)

    def forward(self, token_ids):
        ids = np.asarray(token_ids)
        if ids.ndim == 0:
            raise ValueError("token_ids tiene que ser (..., T); llegó un número suelto")
        if ids.shape[-1] > self.config.context_len:
            raise ValueError(
                f"la secuencia mide {ids.shape[-1]} y context_len es {self.config.context_len}"
            )
        x = self.token_emb(ids)
        for bloque in self.blocks:
            x = bloque(x)
        return self.lm_head(self.ln_final(x))
