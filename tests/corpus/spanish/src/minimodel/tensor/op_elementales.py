"""Funciones elemento a elemento."""

import numpy as np

from ..utilidades.numerica import sigmoide_estable
from .funcion import Funcion


class Exponencial(Funcion):
    @staticmethod
    def adelante(ctx, x):
        y = np.exp(x)
        ctx.guardar(y)
        return y

    @staticmethod
    def atras(ctx, grad):
        (y,) = ctx.guardado
        return (grad * y,)


class Logaritmo(Funcion):
    @staticmethod
    def adelante(ctx, x):
        ctx.guardar(x)
        return np.log(x)

    @staticmethod
    def atras(ctx, grad):
        (x,) = ctx.guardado
        return (grad / x,)


class RaizCuadrada(Funcion):
    @staticmethod
    def adelante(ctx, x):
        y = np.sqrt(x)
        ctx.guardar(y)
        return y

    @staticmethod
    def atras(ctx, grad):
        (y,) = ctx.guardado
        return (grad * 0.5 / y,)


class TangenteHiperbolica(Funcion):
    @staticmethod
    def adelante(ctx, x):
        y = np.tanh(x)
        ctx.guardar(y)
        return y

    @staticmethod
    def atras(ctx, grad):
        (y,) = ctx.guardado
        return (grad * (1 - y * y),)


class Sigmoide(Funcion):
    @staticmethod
    def adelante(ctx, x):
        y = sigmoide_estable(x)
        ctx.guardar(y)
        return y

    @staticmethod
    def atras(ctx, grad):
        (y,) = ctx.guardado
        return (grad * y * (1 - y),)


class Relu(Funcion):
    @staticmethod
    def adelante(ctx, x):
        ctx.guardar(x > 0)
        return np.maximum(x, 0)

    @staticmethod
    def atras(ctx, grad):
        (encendido,) = ctx.guardado
        return (grad * encendido,)
