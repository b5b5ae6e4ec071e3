from dataclasses import dataclass, field

from .base import Optimizador


@dataclass(eq=False)
class SGD(Optimizador):
    """v = momentum · v + g ;  p -= lr · v"""

    lr: float
    momentum: float = 0.0
    velocidad: dict = field(init=False, repr=False, default_factory=dict)

    def step(self):
        for i, p in self.con_gradiente():
            v = p.grad.copy()
            if self.momentum:
                if i in self.velocidad:
                    v += float(self.momentum) * self.velocidad[i]
                self.velocidad[i] = v
            # en el sitio: quien tenga agarrado p.data ve el cambio
            p.data -= float(self.lr) * v
