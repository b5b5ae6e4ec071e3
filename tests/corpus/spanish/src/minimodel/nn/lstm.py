from dataclasses import KW_ONLY, InitVar, dataclass, field

import numpy as np

from ..module import Module, Parameter
from ..utilidades.azar import Azar, generador, pesos_normales
from ..utilidades.numerica import proyectar


@dataclass(eq=False)
class LSTM(Module):
    """Un paso de LSTM. Las cuatro puertas van pegadas en el orden i, f, g, o."""

    d_in: int
    d_hidden: int
    _: KW_ONLY
    rng: InitVar[Azar] = None
    w_x: Parameter = field(init=False, repr=False)
    w_h: Parameter = field(init=False, repr=False)
    b: Parameter = field(init=False, repr=False)

    def __post_init__(self, rng):
        rng = generador(rng)
        ancho, escala = 4 * self.d_hidden, self.d_hidden**-0.5
        self.w_x = Parameter(pesos_normales(rng, self.d_in, ancho, escala=escala))
        self.w_h = Parameter(pesos_normales(rng, self.d_hidden, ancho, escala=escala))
        self.b = Parameter(np.zeros(ancho))

    def forward(self, x_t, h_prev, c_prev):
        todo = proyectar(x_t, self.w_x, self.b) + proyectar(h_prev, self.w_h)
        d = self.d_hidden
        entrada, olvido, candidato, salida = (todo[..., k * d : (k + 1) * d] for k in range(4))
        c_t = olvido.sigmoid() * c_prev + entrada.sigmoid() * candidato.tanh()
        h_t = salida.sigmoid() * c_t.tanh()
        return h_t, c_t
