"""Recorrido del grafo de cálculo.

Un nodo es un Tensor; si tiene `_ctx`, ahí están la función que lo produjo y sus
padres. Todo con pilas y no con recursión: una LSTM de mil pasos rompía el límite
de recursión de Python.
"""

import numpy as np


def orden_topologico(raiz):
    """Lista de tensores en la que cada padre aparece antes que sus hijos."""
    orden, vistos = [], set()
    pila = [(raiz, False)]
    while pila:
        nodo, terminado = pila.pop()
        if terminado:
            orden.append(nodo)
            continue
        if id(nodo) in vistos:
            continue
        vistos.add(id(nodo))
        pila.append((nodo, True))
        if nodo._ctx is not None:
            for padre in nodo._ctx.padres:
                if padre.requires_grad and id(padre) not in vistos:
                    pila.append((padre, False))
    return orden


def propagar(raiz, grad):
    """Lleva `grad` desde la raíz hasta las hojas. Solo las hojas se quedan con `.grad`."""
    pendiente = {id(raiz): grad}
    for nodo in reversed(orden_topologico(raiz)):
        g = pendiente.pop(id(nodo), None)
        if g is None:
            continue
        if nodo._ctx is None:
            nodo._acumular(g)
            continue
        ctx = nodo._ctx
        for padre, g_padre in zip(ctx.padres, ctx.funcion.atras(ctx, g)):
            if g_padre is None or not padre.requires_grad:
                continue
            g_padre = np.asarray(g_padre, dtype=padre.data.dtype)
            # ¡ojo! nunca += : el mismo arreglo puede estar apuntado en dos sitios
            if id(padre) in pendiente:
                g_padre = np.asarray(pendiente[id(padre)] + g_padre)
            pendiente[id(padre)] = g_padre
