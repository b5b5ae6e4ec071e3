"""Cajón de herramientas que comparten todas las capas.

- formas.py    -> ejes, difusión (broadcasting), comprobación de ids
- numerica.py  -> softmax, sigmoide, erf, normalizar, proyectar...
- grafo.py     -> recorrer el grafo hacia atrás
- azar.py      -> generadores y pesos iniciales

Regla que me puse: nada de esta carpeta importa `tensor` ni `nn`; así nunca
hay importaciones en círculo.
"""
