"""Operaciones que recorren un eje: suma, media, máximo y softmax."""

from ..utilidades.formas import devolver_ejes, ejes_como_tupla, reducir_a_forma
from ..utilidades.numerica import softmax_estable
from .funcion import Funcion


class SumaEjes(Funcion):
    @staticmethod
    def adelante(ctx, x, eje=None, keepdims=False):
        ctx.guardar(x.shape, eje, keepdims)
        return x.sum(axis=eje, keepdims=keepdims)

    @staticmethod
    def atras(ctx, grad):
        forma, eje, keepdims = ctx.guardado
        return (devolver_ejes(grad, forma, eje, keepdims),)


class MediaEjes(Funcion):
    @staticmethod
    def adelante(ctx, x, eje=None, keepdims=False):
        cuantos = 1
        for e in ejes_como_tupla(eje, x.ndim):
            cuantos *= x.shape[e]
        ctx.guardar(x.shape, eje, keepdims, cuantos)
        return x.mean(axis=eje, keepdims=keepdims)

    @staticmethod
    def atras(ctx, grad):
        forma, eje, keepdims, cuantos = ctx.guardado
        return (devolver_ejes(grad / max(cuantos, 1), forma, eje, keepdims),)


class MaximoEjes(Funcion):
    @staticmethod
    def adelante(ctx, x, eje=None, keepdims=False):
        ejes = ejes_como_tupla(eje, x.ndim)
        ganador = x == x.max(axis=ejes, keepdims=True)
        # si hay empate, el gradiente se reparte a partes iguales
        reparto = ganador.astype(x.dtype)
        reparto /= reparto.sum(axis=ejes, keepdims=True)
        ctx.guardar(reparto, eje, keepdims)
        return x.max(axis=ejes, keepdims=keepdims)

    @staticmethod
    def atras(ctx, grad):
        reparto, eje, keepdims = ctx.guardado
        return (reparto * devolver_ejes(grad, reparto.shape, eje, keepdims),)


class Softmax(Funcion):
    """Softmax, con máscara opcional de lo permitido (la usa la atención)."""

    @staticmethod
    def adelante(ctx, x, eje=-1, permitido=None):
        pesos = softmax_estable(x, eje, permitido)
        ctx.guardar(pesos, eje, x.shape)
        return pesos

    @staticmethod
    def atras(ctx, grad):
        pesos, eje, forma = ctx.guardado
        ponderado = grad * pesos
        g = ponderado - pesos * ponderado.sum(axis=eje, keepdims=True)
        # la máscara puede traer más ejes que x
        return (reducir_a_forma(g, forma),)
