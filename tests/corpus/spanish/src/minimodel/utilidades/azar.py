"""Números al azar para inicializar."""

import numpy as np

# lo que admite el `rng` de cualquier constructor
Azar = np.random.Generator | None


def generador(rng: Azar) -> np.random.Generator:
    return np.random.default_rng() if rng is None else rng


def pesos_normales(rng: Azar, *forma: int, escala: float = 0.02) -> np.ndarray:
    """N(0, escala) en float64."""
    return generador(rng).normal(0.0, escala, size=forma)
