from ..tensor import Tensor


class Parameter(Tensor):
    """Un Tensor que se entrena: siempre es hoja y nace pidiendo gradiente."""

    def __init__(self, data):
        super().__init__(data, requires_grad=True)
