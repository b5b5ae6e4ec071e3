"""Operaciones que solo mueven los números de sitio."""

import numpy as np

from ..utilidades.formas import es_indice_basico
from .funcion import Funcion


class Redimensionar(Funcion):
    @staticmethod
    def adelante(ctx, x, forma):
        ctx.guardar(x.shape)
        return x.reshape(forma)

    @staticmethod
    def atras(ctx, grad):
        (forma,) = ctx.guardado
        return (grad.reshape(forma),)


class Permutar(Funcion):
    @staticmethod
    def adelante(ctx, x, orden):
        ctx.guardar(orden)
        return x.transpose(orden)

    @staticmethod
    def atras(ctx, grad):
        (orden,) = ctx.guardado
        # argsort de una permutación = su inversa
        return (grad.transpose(np.argsort(orden)) if orden else grad,)


class Indexar(Funcion):
    @staticmethod
    def adelante(ctx, x, indice):
        ctx.guardar(x.shape, x.dtype, indice)
        return x[indice]

    @staticmethod
    def atras(ctx, grad):
        forma, tipo, indice = ctx.guardado
        g = np.zeros(forma, dtype=tipo)
        if es_indice_basico(indice):
            g[indice] = grad
        else:
            # con índices repetidos `g[indice] += grad` se come sumandos; add.at no
            np.add.at(g, indice, grad)
        return (g,)
