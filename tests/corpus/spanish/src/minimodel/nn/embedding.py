from dataclasses import KW_ONLY, InitVar, dataclass, field

import numpy as np

from ..module import Module, Parameter
from ..utilidades.azar import Azar, pesos_normales
from ..utilidades.formas import arreglo_entero, primer_fuera


@dataclass(eq=False)
class Embedding(Module):
    """Tabla de vectores: una fila por token."""

    vocab_size: int
    d_model: int
    _: KW_ONLY
    rng: InitVar[Azar] = None
    weight: Parameter = field(init=False, repr=False)

    def __post_init__(self, rng):
        self.weight = Parameter(pesos_normales(rng, self.vocab_size, self.d_model))

    def forward(self, token_ids):
        ids = arreglo_entero(token_ids, "token_ids")
        malo = primer_fuera(ids, self.vocab_size)
        if malo is not None:
            # NumPy aceptaría los negativos contando desde el final: aquí no
            raise IndexError(f"el id {malo} está fuera del vocabulario de tamaño {self.vocab_size}")
        # astype copia: si luego cambian los ids por fuera, el backward ni se entera
        return self.weight[ids.astype(np.intp)]
