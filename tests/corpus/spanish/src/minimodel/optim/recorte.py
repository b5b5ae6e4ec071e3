import math

import numpy as np

from .base import sin_repetir


def clip_grad_norm(params, max_norm):
    """Si la norma global pasa de `max_norm`, encoge todos los gradientes con el mismo factor.

    Devuelve la norma que había antes.
    """
    con_grad = [p for p in sin_repetir(params) if p.grad is not None]
    norma = math.sqrt(sum(float(np.sum(np.square(p.grad, dtype=np.float64))) for p in con_grad))
    if norma > max_norm:
        factor = float(max_norm) / norma
        for p in con_grad:
            p.grad = np.asarray(p.grad * factor)
    return norma
