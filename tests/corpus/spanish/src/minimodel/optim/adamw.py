import math
from dataclasses import dataclass, field

import numpy as np

from .base import Optimizador


@dataclass(eq=False)
class AdamW(Optimizador):
    """Adam con el decaimiento de pesos por separado.

    Cada parámetro cuenta sus propios pasos: si no tiene gradiente, no avanza.
    """

    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.01
    estado: dict = field(init=False, repr=False, default_factory=dict)

    def step(self):
        lr, (beta_1, beta_2) = float(self.lr), map(float, self.betas)
        for i, p in self.con_gradiente():
            if i not in self.estado:
                self.estado[i] = (0, np.zeros_like(p.data), np.zeros_like(p.data))
            paso, media, cuadrado = self.estado[i]
            paso += 1
            media = beta_1 * media + (1 - beta_1) * p.grad
            cuadrado = beta_2 * cuadrado + (1 - beta_2) * p.grad * p.grad
            self.estado[i] = (paso, media, cuadrado)

            # primero encoge el peso (el decaimiento no pasa por Adam)...
            p.data *= 1 - lr * float(self.weight_decay)
            # ...y después el paso, con los momentos corregidos del sesgo inicial
            raiz = np.sqrt(cuadrado) / math.sqrt(1 - beta_2**paso)
            p.data -= (lr / (1 - beta_1**paso)) * media / (raiz + float(self.eps))
