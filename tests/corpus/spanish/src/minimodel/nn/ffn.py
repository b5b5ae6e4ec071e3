import math
from dataclasses import KW_ONLY, InitVar, dataclass, field

import numpy as np

from ..module import Module, Parameter
from ..tensor import Funcion, como_tensor
from ..utilidades.azar import Azar, generador, pesos_normales
from ..utilidades.numerica import erf, proyectar

_RAIZ_DE_DOS = math.sqrt(2.0)
_RAIZ_DE_DOS_PI = math.sqrt(2.0 * math.pi)


class Gelu(Funcion):
    """x · Φ(x), con la Φ de la normal de verdad (erf), no la aproximación con tanh."""

    @staticmethod
    def adelante(ctx, x):
        acumulada = 0.5 * (1 + erf(x / _RAIZ_DE_DOS))
        ctx.guardar(x, acumulada)
        return x * acumulada

    @staticmethod
    def atras(ctx, grad):
        x, acumulada = ctx.guardado
        densidad = np.exp(-0.5 * x * x) / _RAIZ_DE_DOS_PI
        return (grad * (acumulada + x * densidad),)


def gelu(x):
    return Gelu.aplicar(como_tensor(x))


@dataclass(eq=False)
class FFN(Module):
    """Ensanchar, gelu, volver a estrechar."""

    d_model: int
    d_ff: int
    _: KW_ONLY
    rng: InitVar[Azar] = None
    w_1: Parameter = field(init=False, repr=False)
    b_1: Parameter = field(init=False, repr=False)
    w_2: Parameter = field(init=False, repr=False)
    b_2: Parameter = field(init=False, repr=False)

    def __post_init__(self, rng):
        rng = generador(rng)
        d, ancho = self.d_model, self.d_ff
        self.w_1 = Parameter(pesos_normales(rng, d, ancho, escala=d**-0.5))
        self.b_1 = Parameter(np.zeros(ancho))
        self.w_2 = Parameter(pesos_normales(rng, ancho, d, escala=ancho**-0.5))
        self.b_2 = Parameter(np.zeros(d))

    def forward(self, x):
        oculto = gelu(proyectar(x, self.w_1, self.b_1))
        return proyectar(oculto, self.w_2, self.b_2)
