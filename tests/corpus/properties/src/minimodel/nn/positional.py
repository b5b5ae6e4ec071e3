import math
from functools import cached_property

import numpy as np

from ..module import Module, Weight, default_rng, normal
from ..operations import Operation
from ..tensor import dispatch
from .embedding import Embedding


def sinusoidal(max_len, d_model):
    """ndarray (max_len, d_model): sin in the even columns, cos of the same angle in the odd ones."""
    column = np.arange(d_model)
    angle = np.arange(max_len)[:, None] / 10000.0 ** ((column - column % 2) / d_model)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


class _Positional(Module):
    """Adds the first T rows of `table`. Subclasses say what the table is."""

    __slots__ = ()

    @property
    def table(self):
        raise NotImplementedError

    @property
    def max_len(self):
        return self.table.shape[0]

    @property
    def d_model(self):
        return self.table.shape[1]

    def forward(self, x):
        if x.ndim < 2 or x.shape[-1] != self.d_model:
            raise ValueError(f"expected (..., T, {self.d_model}), got {x.shape}")
        steps = x.shape[-2]
        if steps > self.max_len:
            raise ValueError(f"{steps} positions, but max_len is {self.max_len}")
        return x + self.table[:steps]


class LearnedPositional(_Positional):
    __slots__ = ()

    weight = Weight("(max_len, d_model)")

    def __init__(self, max_len, d_model, *, rng=None):
        self.weight = normal(default_rng(rng), max_len, d_model, std=0.02)

    @property
    def table(self):
        return self.weight


class SinusoidalPositional(_Positional):
    """The fixed table, no parameters."""

    __slots__ = ("_size",)

    def __init__(self, max_len, d_model, *, rng=None):
        self._size = (max_len, d_model)

    @cached_property
    def table(self):
        return sinusoidal(*self._size)


class EmbeddingLayer(Module):
    """Token lookup, times sqrt(d_model) if `scale`, plus positions."""

    __slots__ = ("token", "position", "scale")

    kinds = {"learned": LearnedPositional, "sinusoidal": SinusoidalPositional, None: None}

    def __init__(self, vocab_size, d_model, max_len=512, pos="learned", scale=False, *, rng=None):
        if pos not in self.kinds:
            raise ValueError(f"pos must be 'learned', 'sinusoidal' or None, got {pos!r}")
        rng = default_rng(rng)
        self.token = Embedding(vocab_size, d_model, rng=rng)
        kind = self.kinds[pos]
        self.position = kind and kind(max_len, d_model, rng=rng)
        self.scale = scale

    @property
    def vocab_size(self):
        return self.token.vocab_size

    @property
    def d_model(self):
        return self.token.d_model

    @property
    def factor(self):
        return math.sqrt(self.d_model) if self.scale else 1.0

    def forward(self, token_ids):
        x = self.token(token_ids)
        if self.scale:
            x = x * self.factor
        return x if self.position is None else self.position(x)


class Rotate(Operation, symbol="rotate"):
    """Turn the pairs (2i, 2i+1) of the last axis. The way back is a turn by the negative angle."""

    __slots__ = ()

    @staticmethod
    def _turn(x, cos, sin):
        even, odd = x[..., 0::2], x[..., 1::2]
        a, b = even * cos - odd * sin, even * sin + odd * cos
        return np.stack([a, b], axis=-1).reshape(*a.shape[:-1], x.shape[-1])

    @staticmethod
    def forward(x, angle):
        cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
        return Rotate._turn(x, cos, sin), (cos, sin)

    @staticmethod
    def backward(grad, saved):
        cos, sin = saved
        return (Rotate._turn(grad, cos, -sin),)


def rope(x, positions=None, base=10000.0):
    """(..., T, d) -> same; pair i at position p is rotated by p * base^(-2i/d)."""
    if x.ndim < 2:
        raise ValueError(f"rope needs (..., T, d), got {x.shape}")
    steps, d = x.shape[-2:]
    if d % 2:
        raise ValueError(f"rope needs an even last axis, got d = {d}")
    positions = np.arange(steps) if positions is None else np.asarray(positions)
    if positions.shape[-1:] != (steps,):
        raise ValueError(f"positions of shape {positions.shape} for {steps} steps")
    angle = positions[..., None] * float(base) ** (-np.arange(0, d, 2) / d)
    return dispatch("rotate", x, angle=angle)
