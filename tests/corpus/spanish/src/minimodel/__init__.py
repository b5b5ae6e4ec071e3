"""minimodel: un GPT pequeñito hecho a mano, solo con NumPy.

Aquí no importo nada a propósito: `train` y `generate` son módulos y también
funciones, y si las subo a este nivel una cosa tapa a la otra.
"""
