from dataclasses import KW_ONLY, InitVar, dataclass, field

from ..module import Module
from ..utilidades.azar import Azar
from ..utilidades.numerica import proyectar
from .embedding import Embedding


@dataclass(eq=False)
class LMHead(Module):
    """Salida atada: usa la misma matriz del embedding, al revés. No añade parámetros."""

    embedding: Embedding
    _: KW_ONLY
    rng: InitVar[Azar] = None  # no hay nada que sortear
    vocab_size_out: int = field(init=False)

    def __post_init__(self, rng):
        self.vocab_size_out = self.embedding.vocab_size

    def forward(self, h):
        # se lee embedding.weight en cada llamada, así siguen atados pase lo que pase
        return proyectar(h, self.embedding.weight.transpose())
