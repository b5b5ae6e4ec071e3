import math
from dataclasses import KW_ONLY, InitVar, dataclass, field

import numpy as np

from ..module import Module, Parameter
from ..tensor import como_tensor
from ..tensor.op_reduccion import Softmax
from ..utilidades.azar import Azar, generador, pesos_normales
from ..utilidades.formas import separar_cabezas, unir_cabezas
from ..utilidades.numerica import proyectar
from .positional import rope


def scaled_dot_product_attention(q, k, v, mask=None):
    """softmax(q kᵀ / √d) v. En `mask`, True quiere decir «puede mirar».

    Una fila sin nada que mirar da ceros.
    """
    q, k, v = como_tensor(q), como_tensor(k), como_tensor(v)
    puntajes = q @ k.transpose(-1, -2) * (1.0 / math.sqrt(q.shape[-1]))
    permitido = None if mask is None else np.array(mask, dtype=bool)
    return Softmax.aplicar(puntajes, eje=-1, permitido=permitido) @ v


def mascara_causal(largo):
    """Triángulo inferior: cada posición mira hacia atrás y a sí misma."""
    return np.tri(largo, dtype=bool)


@dataclass(eq=False)
class MultiHeadAttention(Module):
    d_model: int
    n_heads: int
    causal: bool = True
    use_rope: bool = False
    _: KW_ONLY
    rng: InitVar[Azar] = None
    w_q: Parameter = field(init=False, repr=False)
    w_k: Parameter = field(init=False, repr=False)
    w_v: Parameter = field(init=False, repr=False)
    w_o: Parameter = field(init=False, repr=False)

    def __post_init__(self, rng):
        d = self.d_model
        if self.n_heads < 1 or d % self.n_heads:
            raise ValueError(f"d_model = {d} no se reparte entre n_heads = {self.n_heads}")
        rng = generador(rng)
        for nombre in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, nombre, Parameter(pesos_normales(rng, d, d, escala=d**-0.5)))

    def forward(self, x):
        q, k, v = (
            separar_cabezas(proyectar(x, w), self.n_heads) for w in (self.w_q, self.w_k, self.w_v)
        )
        if self.use_rope:
            q, k = rope(q), rope(k)
        mascara = mascara_causal(x.shape[-2]) if self.causal else None
        mezcla = scaled_dot_product_attention(q, k, v, mascara)
        return proyectar(unir_cabezas(mezcla), self.w_o)
