from dataclasses import dataclass


def sin_repetir(params):
    """Lista de parámetros (vale un iterador), cada uno una vez aunque venga dos."""
    return list({id(p): p for p in params}.values())


@dataclass(eq=False)
class Optimizador:
    params: list

    def __post_init__(self):
        self.params = sin_repetir(self.params)

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def con_gradiente(self):
        """(posición, parámetro) de los que tienen algo que aplicar."""
        return [(i, p) for i, p in enumerate(self.params) if p.grad is not None]
