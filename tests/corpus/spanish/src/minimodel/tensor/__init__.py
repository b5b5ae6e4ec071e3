"""Tensor con diferenciación automática, a la manera de PyTorch.

Cada operación es una `Funcion` con `adelante` y `atras`, y un `ctx` donde se
guarda lo que hará falta a la vuelta.
"""

from .funcion import Contexto, Funcion
from .nucleo import Tensor, como_tensor

__all__ = ["Tensor", "Funcion", "Contexto", "como_tensor"]
