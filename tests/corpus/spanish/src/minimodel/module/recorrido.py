"""Buscar parámetros y submódulos dentro de atributos, listas y diccionarios."""


def hijos(cosa):
    """Pares (nombre, valor) de lo que hay directamente dentro de `cosa`."""
    if isinstance(cosa, dict):
        return [(str(clave), valor) for clave, valor in cosa.items()]
    if isinstance(cosa, (list, tuple)):
        return [(str(i), valor) for i, valor in enumerate(cosa)]
    return list(vars(cosa).items())


def recorrer(raiz, clase_modulo, clase_parametro):
    """Va soltando (nombre con puntos, objeto) de cada módulo y cada parámetro, una sola vez.

    La raíz sale la primera con nombre "". El orden es el de los atributos.
    """
    vistos = set()

    def visitar(nombre, cosa):
        es_contenedor = isinstance(cosa, (dict, list, tuple))
        if not es_contenedor and not isinstance(cosa, (clase_modulo, clase_parametro)):
            return
        if id(cosa) in vistos:
            return
        vistos.add(id(cosa))
        if not es_contenedor:
            yield nombre, cosa
        if isinstance(cosa, clase_parametro):
            return
        for trozo, valor in hijos(cosa):
            yield from visitar(f"{nombre}.{trozo}" if nombre else trozo, valor)

    yield from visitar("", raiz)
