"""Las cuentas delicadas, escritas una sola vez.

Las tres primeras trabajan con ndarrays; `normalizar` y `proyectar` solo usan
operadores, así que reciben Tensores (ni se enteran de lo que les llega).
"""

import math

import numpy as np

# math.erf solo sabe de números sueltos; así se aplica a cualquier forma
_erf_uno_a_uno = np.frompyfunc(math.erf, 1, 1)


def softmax_estable(x, eje=-1, permitido=None):
    """Softmax restando el máximo.

    Con `permitido` (booleano) lo prohibido pesa exactamente 0. Una fila en la que
    todo está prohibido sale entera a cero, no NaN.
    """
    if permitido is not None:
        x = np.where(permitido, x, -np.inf)
    tope = np.max(x, axis=eje, keepdims=True, initial=-np.inf)
    tope = np.where(np.isneginf(tope), 0, tope).astype(x.dtype)
    pesos = np.exp(x - tope)
    total = pesos.sum(axis=eje, keepdims=True)
    return pesos / np.where(total == 0, 1, total).astype(x.dtype)


def log_softmax_estable(x, eje=-1):
    """log(softmax(x)) sin pasar por el softmax (que daría log(0))."""
    movido = x - x.max(axis=eje, keepdims=True)
    return movido - np.log(np.exp(movido).sum(axis=eje, keepdims=True))


def sigmoide_estable(x):
    """1 / (1 + e^-x), sin exponenciales de números grandes positivos."""
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, e) / (1 + e)


def erf(x):
    """Función error elemento a elemento; respeta el dtype."""
    return np.asarray(_erf_uno_a_uno(x), dtype=x.dtype)


def normalizar(x, eps, centrar):
    """Divide el último eje por su raíz cuadrática media; con `centrar` antes resta la media.

    centrar=True  -> lo que necesita LayerNorm (varianza sesgada)
    centrar=False -> lo que necesita RMSNorm
    """
    if centrar:
        x = x - x.mean(axis=-1, keepdims=True)
    cuadrado_medio = (x * x).mean(axis=-1, keepdims=True)
    return x / (cuadrado_medio + eps).sqrt()


def proyectar(x, matriz, sesgo=None):
    """x @ matriz (+ sesgo). Todas las capas lineales pasan por aquí."""
    y = x @ matriz
    return y if sesgo is None else y + sesgo
