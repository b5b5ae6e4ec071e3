import numpy as np

from ..tensor import Funcion, como_tensor
from ..utilidades.formas import arreglo_entero, primer_fuera
from ..utilidades.numerica import log_softmax_estable


class EntropiaCruzada(Funcion):
    """Media de -log p(objetivo). `filas` y `columnas` dicen qué casillas cuentan."""

    @staticmethod
    def adelante(ctx, logits, filas, columnas):
        planos = logits.reshape(-1, logits.shape[-1])[filas]
        log_p = log_softmax_estable(planos)
        ctx.guardar(logits.shape, log_p, filas, columnas)
        return -log_p[np.arange(len(filas)), columnas].mean()

    @staticmethod
    def atras(ctx, grad):
        forma, log_p, filas, columnas = ctx.guardado
        # el gradiente de siempre: softmax menos uno-en-caliente
        g = np.exp(log_p)
        g[np.arange(len(filas)), columnas] -= 1
        completo = np.zeros((int(np.prod(forma[:-1])), forma[-1]), dtype=log_p.dtype)
        completo[filas] = g * (grad / len(filas))
        return (completo.reshape(forma),)


def cross_entropy(logits, targets, ignore_index=None):
    """Entropía cruzada media (en nats) sobre los objetivos que no se ignoran."""
    logits = como_tensor(logits)
    objetivos = np.asarray(targets)
    if logits.ndim == 0 or logits.shape[:-1] != objetivos.shape:
        raise ValueError(f"logits {logits.shape} y objetivos {objetivos.shape} no encajan")
    cuentan = np.ones(objetivos.shape, dtype=bool)
    if objetivos.size:
        arreglo_entero(objetivos, "targets")
        if ignore_index is not None:
            cuentan = objetivos != ignore_index
    if not cuentan.any():
        raise ValueError("no queda ningún objetivo: todos se ignoran")
    planos = objetivos.reshape(-1)
    filas = np.flatnonzero(cuentan)
    n_clases = logits.shape[-1]
    malo = primer_fuera(planos[filas], n_clases)
    if malo is not None:
        raise ValueError(f"el objetivo {malo} está fuera de [0, {n_clases})")
    return EntropiaCruzada.aplicar(logits, filas=filas, columnas=planos[filas].astype(np.intp))
