"""Las dos normalizaciones. La cuenta de verdad está en utilidades.numerica.normalizar."""

from dataclasses import KW_ONLY, InitVar, dataclass, field

import numpy as np

from ..module import Module, Parameter
from ..utilidades.azar import Azar
from ..utilidades.numerica import normalizar


@dataclass(eq=False)
class LayerNorm(Module):
    d_model: int
    eps: float = 1e-5
    _: KW_ONLY
    rng: InitVar[Azar] = None
    gain: Parameter = field(init=False, repr=False)
    bias: Parameter = field(init=False, repr=False)

    def __post_init__(self, rng):
        self.gain = Parameter(np.ones(self.d_model))
        self.bias = Parameter(np.zeros(self.d_model))

    def forward(self, x):
        return normalizar(x, self.eps, centrar=True) * self.gain + self.bias


@dataclass(eq=False)
class RMSNorm(Module):
    d_model: int
    eps: float = 1e-5
    _: KW_ONLY
    rng: InitVar[Azar] = None
    gain: Parameter = field(init=False, repr=False)

    def __post_init__(self, rng):
        self.gain = Parameter(np.ones(self.d_model))

    def forward(self, x):
        return normalizar(x, self.eps, centrar=False) * self.gain
