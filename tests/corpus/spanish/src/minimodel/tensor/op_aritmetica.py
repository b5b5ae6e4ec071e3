"""+ - * / ** @ y el menos unario."""

import numpy as np

from ..utilidades.formas import reducir_a_forma
from .funcion import Funcion


class Suma(Funcion):
    @staticmethod
    def adelante(ctx, a, b):
        ctx.guardar(a.shape, b.shape)
        return a + b

    @staticmethod
    def atras(ctx, grad):
        forma_a, forma_b = ctx.guardado
        return reducir_a_forma(grad, forma_a), reducir_a_forma(grad, forma_b)


class Resta(Funcion):
    @staticmethod
    def adelante(ctx, a, b):
        ctx.guardar(a.shape, b.shape)
        return a - b

    @staticmethod
    def atras(ctx, grad):
        forma_a, forma_b = ctx.guardado
        return reducir_a_forma(grad, forma_a), reducir_a_forma(-grad, forma_b)


class Producto(Funcion):
    @staticmethod
    def adelante(ctx, a, b):
        ctx.guardar(a, b)
        return a * b

    @staticmethod
    def atras(ctx, grad):
        a, b = ctx.guardado
        quiere_a, quiere_b = ctx.necesita
        return (
            reducir_a_forma(grad * b, a.shape) if quiere_a else None,
            reducir_a_forma(grad * a, b.shape) if quiere_b else None,
        )


class Cociente(Funcion):
    @staticmethod
    def adelante(ctx, a, b):
        cociente = a / b
        ctx.guardar(a.shape, b, cociente)
        return cociente

    @staticmethod
    def atras(ctx, grad):
        forma_a, b, cociente = ctx.guardado
        quiere_a, quiere_b = ctx.necesita
        sobre_b = grad / b
        return (
            reducir_a_forma(sobre_b, forma_a) if quiere_a else None,
            # d(a/b)/db = -(a/b)/b
            reducir_a_forma(-sobre_b * cociente, b.shape) if quiere_b else None,
        )


class Negacion(Funcion):
    @staticmethod
    def adelante(ctx, a):
        return -a

    @staticmethod
    def atras(ctx, grad):
        return (-grad,)


class Potencia(Funcion):
    @staticmethod
    def adelante(ctx, base, exponente):
        potencia = base**exponente
        ctx.guardar(base, exponente, potencia)
        return potencia

    @staticmethod
    def atras(ctx, grad):
        base, exponente, potencia = ctx.guardado
        quiere_base, quiere_exponente = ctx.necesita
        g_base = g_exponente = None
        if quiere_base:
            # con exponente 0 la derivada es 0, también en base 0 (si no: 0 * inf)
            rebajado = np.where(exponente == 0, 0, exponente - 1)
            g_base = reducir_a_forma(grad * exponente * base**rebajado, base.shape)
        if quiere_exponente:
            logaritmo = np.log(np.where(base > 0, base, 1))
            g_exponente = reducir_a_forma(grad * potencia * logaritmo, exponente.shape)
        return g_base, g_exponente


class ProductoMatricial(Funcion):
    """Como `np.matmul`, vectores sueltos incluidos."""

    @staticmethod
    def adelante(ctx, a, b):
        ctx.guardar(a, b)
        return a @ b

    @staticmethod
    def atras(ctx, grad):
        a, b = ctx.guardado
        quiere_a, quiere_b = ctx.necesita
        # a los vectores les presto un eje: a es una fila, b una columna
        fila = a[None, :] if a.ndim == 1 else a
        columna = b[:, None] if b.ndim == 1 else b
        if b.ndim == 1:
            grad = np.expand_dims(grad, -1)
        if a.ndim == 1:
            grad = np.expand_dims(grad, -2)
        g_a = g_b = None
        if quiere_a:
            g_a = grad @ columna.swapaxes(-1, -2)
            g_a = reducir_a_forma(g_a, fila.shape).reshape(a.shape)
        if quiere_b:
            g_b = fila.swapaxes(-1, -2) @ grad
            g_b = reducir_a_forma(g_b, columna.shape).reshape(b.shape)
        return g_a, g_b
