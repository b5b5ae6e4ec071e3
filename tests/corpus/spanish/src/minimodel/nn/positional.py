"""Posiciones: sinusoidales, aprendidas y rotatorias (RoPE)."""

import math
from dataclasses import KW_ONLY, InitVar, dataclass, field

import numpy as np

from ..module import Module, Parameter
from ..tensor import Funcion, como_tensor
from ..utilidades.azar import Azar, generador, pesos_normales
from ..utilidades.formas import reducir_a_forma
from .embedding import Embedding


def _angulos(posiciones, d, base):
    """Ángulo de cada (posición, pareja de columnas): pos * base^(-2i/d)."""
    pares = np.arange(0, d, 2)
    return np.asarray(posiciones, dtype=np.float64)[..., None] * base ** (-pares / d)


def sinusoidal(max_len, d_model):
    angulo = _angulos(np.arange(max_len), d_model, 10000.0)
    tabla = np.empty((max_len, d_model))
    tabla[:, 0::2] = np.sin(angulo)
    # con d_model impar hay un coseno menos que senos
    tabla[:, 1::2] = np.cos(angulo[:, : d_model // 2])
    return tabla


def _largo_valido(x, max_len, d_model):
    """Comprueba (..., T, d_model) y devuelve T."""
    if x.ndim < 2 or x.shape[-1] != d_model:
        raise ValueError(f"se esperaba (..., T, {d_model}) y llegó {x.shape}")
    largo = x.shape[-2]
    if largo > max_len:
        raise ValueError(f"la secuencia mide {largo} y el máximo es {max_len}")
    return largo


@dataclass(eq=False)
class LearnedPositional(Module):
    """Un vector entrenable por posición."""

    max_len: int
    d_model: int
    _: KW_ONLY
    rng: InitVar[Azar] = None
    weight: Parameter = field(init=False, repr=False)

    def __post_init__(self, rng):
        self.weight = Parameter(pesos_normales(rng, self.max_len, self.d_model))

    def forward(self, x):
        largo = _largo_valido(x, self.max_len, self.d_model)
        return x + self.weight[:largo]


@dataclass(eq=False)
class EmbeddingLayer(Module):
    """Token + posición, lo que va en la puerta del modelo.

    `position` es un LearnedPositional, la tabla sinusoidal (ndarray) o None.
    """

    vocab_size: int
    d_model: int
    max_len: int = 512
    pos: str | None = "learned"
    scale: bool = False
    _: KW_ONLY
    rng: InitVar[Azar] = None
    token: Embedding = field(init=False, repr=False)
    position: LearnedPositional | np.ndarray | None = field(init=False, repr=False)

    def __post_init__(self, rng):
        rng = generador(rng)
        self.token = Embedding(self.vocab_size, self.d_model, rng=rng)
        if self.pos == "learned":
            self.position = LearnedPositional(self.max_len, self.d_model, rng=rng)
        elif self.pos == "sinusoidal":
            self.position = sinusoidal(self.max_len, self.d_model)
        elif self.pos is None:
            self.position = None
        else:
            raise ValueError(f"pos debe ser 'learned', 'sinusoidal' o None, no {self.pos!r}")

    def forward(self, token_ids):
        x = self.token(token_ids)
        if self.scale:
            x = x * math.sqrt(self.d_model)
        if self.pos == "learned":
            return self.position(x)
        if self.pos == "sinusoidal":
            largo = _largo_valido(x, self.max_len, self.d_model)
            return x + self.position[:largo].astype(x.dtype)
        return x


class GirarParejas(Funcion):
    """Gira cada pareja de columnas (2i, 2i+1). La vuelta es el giro contrario."""

    @staticmethod
    def adelante(ctx, x, coseno, seno):
        ctx.guardar(x.shape, coseno, seno)
        return GirarParejas._girar(x, coseno, seno)

    @staticmethod
    def atras(ctx, grad):
        forma, coseno, seno = ctx.guardado
        return (reducir_a_forma(GirarParejas._girar(grad, coseno, -seno), forma),)

    @staticmethod
    def _girar(x, coseno, seno):
        par, impar = x[..., 0::2], x[..., 1::2]
        girado = np.stack([par * coseno - impar * seno, par * seno + impar * coseno], axis=-1)
        return girado.reshape(girado.shape[:-2] + (x.shape[-1],))


def rope(x, positions=None, base=10000.0):
    """Embedding rotatorio. Sin `positions` se usan 0, 1, ..., T-1."""
    x = como_tensor(x)
    if x.ndim < 2:
        raise ValueError(f"rope necesita (..., T, d) y llegó {x.shape}")
    largo, d = x.shape[-2:]
    if d % 2:
        raise ValueError(f"rope necesita un d par y llegó d = {d}")
    posiciones = np.arange(largo) if positions is None else np.asarray(positions)
    if posiciones.ndim == 0 or posiciones.shape[-1] != largo:
        raise ValueError(f"posiciones de forma {posiciones.shape} para una secuencia de {largo}")
    angulo = _angulos(posiciones, d, base)
    return GirarParejas.aplicar(
        x, coseno=np.cos(angulo).astype(x.dtype), seno=np.sin(angulo).astype(x.dtype)
    )
