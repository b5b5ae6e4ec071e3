from .parametro import Parameter
from .recorrido import recorrer


class Module:
    """Base de todas las capas.

    No tiene __init__: las capas son dataclasses y el __init__ que ellas generan no
    llama al de la clase madre. Por eso `training` vive en la clase hasta que
    alguien llama a train() o eval().
    """

    training = True

    def named_parameters(self):
        """Lista de (nombre, Parameter). Un parámetro compartido sale solo con su primer nombre."""
        return [
            (nombre, cosa)
            for nombre, cosa in recorrer(self, Module, Parameter)
            if isinstance(cosa, Parameter)
        ]

    def parameters(self):
        return [parametro for _, parametro in self.named_parameters()]

    def modules(self):
        """Este módulo y todos los que lleva dentro."""
        return [
            cosa for _, cosa in recorrer(self, Module, Parameter) if isinstance(cosa, Module)
        ]

    def zero_grad(self):
        for parametro in self.parameters():
            parametro.grad = None

    def train(self, mode=True):
        for modulo in self.modules():
            modulo.training = bool(mode)
        return self

    def eval(self):
        return self.train(False)

    def forward(self, *entradas, **opciones):
        raise NotImplementedError(f"{type(self).__name__} no tiene forward")

    def __call__(self, *entradas, **opciones):
        return self.forward(*entradas, **opciones)
