from contextlib import contextmanager

import numpy as np

from .module import Module
from .tensor import Tensor
from .utilidades.formas import arreglo_entero
from .utilidades.numerica import softmax_estable


@contextmanager
def _en_evaluacion(modelo):
    """Pone eval() y, pase lo que pase, deja cada módulo en el modo en que estaba."""
    modos = [(m, m.training) for m in modelo.modules()] if isinstance(modelo, Module) else []
    try:
        for modulo, _ in modos:
            modulo.training = False
        yield
    finally:
        for modulo, modo in modos:
            modulo.training = modo


def _quedarse_con(probs, elegidos):
    """Pone a cero todo lo demás y vuelve a sumar 1."""
    recortadas = np.zeros_like(probs)
    recortadas[elegidos] = probs[elegidos]
    return recortadas / recortadas.sum()


def _probabilidades(logits, temperatura, top_k, top_p):
    # se resta el máximo antes de dividir: con temperaturas minúsculas no sale inf - inf
    with np.errstate(over="ignore"):
        probs = softmax_estable((logits - logits.max()) / temperatura)
    if top_k is not None and top_k < len(probs):
        probs = _quedarse_con(probs, np.argsort(-probs, kind="stable")[:top_k])
    if top_p is not None and top_p < 1:
        orden = np.argsort(-probs, kind="stable")
        masa = np.cumsum(probs[orden])
        # el primero que alcanza top_p entra también
        cuantos = int(np.searchsorted(masa, top_p, side="left")) + 1
        probs = _quedarse_con(probs, orden[:cuantos])
    return probs


def _comprobar(ids, n_new, temperature, top_k, top_p):
    if ids.ndim != 1:
        raise ValueError(f"prompt_ids tiene que ser de un solo eje, no {ids.shape}")
    if n_new < 0:
        raise ValueError(f"n_new no puede ser negativo: {n_new}")
    if n_new > 0 and ids.size == 0:
        raise ValueError("con el prompt vacío no hay de dónde seguir")
    if not temperature >= 0:
        raise ValueError(f"temperature tiene que ser >= 0, no {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k tiene que ser al menos 1, no {top_k}")
    if top_p is not None and not 0 <= top_p <= 1:
        raise ValueError(f"top_p tiene que estar entre 0 y 1, no {top_p}")


def generate(model, prompt_ids, n_new, *, temperature=1.0, top_k=None, top_p=None, rng):
    """Continúa el prompt con `n_new` tokens. Devuelve el prompt y lo nuevo, todo junto.

    Orden de los recortes: temperatura, top_k, top_p.
    """
    if np.size(prompt_ids) == 0:
        ids = np.zeros(np.shape(prompt_ids), dtype=np.int64)
    else:
        ids = arreglo_entero(prompt_ids, "prompt_ids").astype(np.int64)
    _comprobar(ids, n_new, temperature, top_k, top_p)
    ventana = model.config.context_len
    with _en_evaluacion(model):
        for _ in range(n_new):
            salida = model(ids[-ventana:])
            datos = salida.data if isinstance(salida, Tensor) else np.asarray(salida)
            logits = datos.reshape(-1, datos.shape[-1])[-1].astype(np.float64)
            if temperature == 0:
                nuevo = int(np.argmax(logits))
            else:
                probs = _probabilidades(logits, float(temperature), top_k, top_p)
                nuevo = int(rng.choice(len(probs), p=probs))
            ids = np.append(ids, nuevo)
    return ids
