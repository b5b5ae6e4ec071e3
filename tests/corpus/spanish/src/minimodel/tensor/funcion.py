"""La clase base de todas las operaciones derivables."""


class Contexto:
    """La mochila de una operación: de dónde vino y qué guardó para la vuelta."""

    def __init__(self, funcion, padres):
        self.funcion = funcion
        self.padres = padres
        self.necesita = tuple(padre.requires_grad for padre in padres)
        self.guardado = ()

    def guardar(self, *cosas):
        self.guardado = cosas


class Funcion:
    """Se hereda y se escriben dos métodos estáticos:

    adelante(ctx, *arreglos, **opciones) -> arreglo
    atras(ctx, grad) -> tupla con un gradiente (o None) por cada arreglo
    """

    @staticmethod
    def adelante(ctx, *arreglos, **opciones):
        raise NotImplementedError

    @staticmethod
    def atras(ctx, grad):
        raise NotImplementedError

    @classmethod
    def aplicar(cls, *tensores, **opciones):
        # importación tardía: nucleo.py necesita las operaciones y ellas a Tensor
        from .nucleo import Tensor

        ctx = Contexto(cls, tensores)
        salida = cls.adelante(ctx, *(t.data for t in tensores), **opciones)
        return Tensor._nacer(salida, ctx if any(ctx.necesita) else None)
