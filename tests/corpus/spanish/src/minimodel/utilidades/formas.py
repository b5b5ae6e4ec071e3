"""Ayudas sobre formas, ejes e índices (todo con ndarrays normales)."""

import numpy as np


def reducir_a_forma(grad, forma):
    """Deshace la difusión: suma `grad` sobre los ejes que NumPy estiró."""
    if grad.shape == forma:
        return grad
    sobran = grad.ndim - len(forma)
    if sobran > 0:
        grad = grad.sum(axis=tuple(range(sobran)))
    estirados = tuple(
        eje for eje, largo in enumerate(forma) if largo == 1 and grad.shape[eje] != 1
    )
    if estirados:
        grad = grad.sum(axis=estirados, keepdims=True)
    return grad


def ejes_como_tupla(eje, ndim):
    """None -> todos los ejes; un entero -> tupla de uno; los negativos se corrigen."""
    if eje is None:
        return tuple(range(ndim))
    if not isinstance(eje, (tuple, list)):
        eje = (eje,)
    return tuple(_eje_valido(e, ndim) for e in eje)


def devolver_ejes(grad, forma, eje, keepdims):
    """Lo contrario de reducir: vuelve a poner los ejes perdidos y estira hasta `forma`."""
    if not keepdims:
        perdidos = ejes_como_tupla(eje, len(forma))
        con_unos = tuple(1 if e in perdidos else largo for e, largo in enumerate(forma))
        grad = grad.reshape(con_unos)
    return np.broadcast_to(grad, forma)


def permutacion(argumentos, ndim):
    """Traduce los argumentos de `transpose` a una permutación completa.

    ()          -> todos los ejes al revés
    ((1, 0),)   -> esa permutación
    (0, 1)      -> solo se intercambian esos dos
    (2, 0, 1)   -> permutación sin paréntesis
    """
    if len(argumentos) == 0 or (len(argumentos) == 1 and argumentos[0] is None):
        return tuple(reversed(range(ndim)))
    if len(argumentos) == 1 and isinstance(argumentos[0], (tuple, list)):
        orden = tuple(argumentos[0])
    elif len(argumentos) == 2:
        uno, otro = (_eje_valido(a, ndim) for a in argumentos)
        orden = list(range(ndim))
        orden[uno], orden[otro] = orden[otro], orden[uno]
    else:
        orden = argumentos
    orden = tuple(_eje_valido(a, ndim) for a in orden)
    if sorted(orden) != list(range(ndim)):
        raise ValueError(f"{orden} no es una permutación de {ndim} ejes")
    return orden


def _eje_valido(eje, ndim):
    if not -ndim <= eje < ndim:
        raise ValueError(f"el eje {eje} no existe en un tensor de {ndim} ejes")
    return int(eje) % ndim


def es_indice_basico(indice):
    """True si el índice solo tiene enteros, rebanadas, None y `...` (sin repeticiones)."""
    partes = indice if isinstance(indice, tuple) else (indice,)
    return all(
        parte is None or parte is Ellipsis or isinstance(parte, (int, slice))
        for parte in partes
    )


def arreglo_entero(valores, nombre="ids"):
    """Convierte a ndarray y exige enteros de verdad (los bool no valen)."""
    arreglo = np.asarray(valores)
    if not np.issubdtype(arreglo.dtype, np.integer):
        raise TypeError(f"{nombre}: se esperaban enteros y llegó {arreglo.dtype}")
    return arreglo


def primer_fuera(ids, limite):
    """El primer id que no está en [0, limite), o None si todos son buenos."""
    malos = ids[(ids < 0) | (ids >= limite)]
    return int(malos.flat[0]) if malos.size else None


def separar_cabezas(x, n_cabezas):
    """(..., T, n*d) -> (..., n, T, d). La cabeza j se queda con sus d columnas seguidas."""
    *lote, largo, ancho = x.shape
    partido = x.reshape(tuple(lote) + (largo, n_cabezas, ancho // n_cabezas))
    return partido.transpose(-3, -2)


def unir_cabezas(x):
    """(..., n, T, d) -> (..., T, n*d): deshace `separar_cabezas`."""
    *lote, n_cabezas, largo, d_cabeza = x.shape
    return x.transpose(-3, -2).reshape(tuple(lote) + (largo, n_cabezas * d_cabeza))
