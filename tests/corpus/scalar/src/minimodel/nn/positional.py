import math

import numpy as np

from ..module import Module, drawn
from ..tensor import Tensor
from ..value import Value
from .embedding import Embedding


def sinusoidal(max_len, d_model):
    table = []
    for pos in range(max_len):
        row = []
        for column in range(d_model):
            pair = column // 2
            angle = pos / 10000.0 ** (2 * pair / d_model)
            row.append(math.cos(angle) if column % 2 else math.sin(angle))
        table.append(row)
    return np.array(table, dtype=np.float64).reshape(max_len, d_model)


def _fits(shape, max_len, d_model):
    if len(shape) < 2 or shape[-1] != d_model:
        raise ValueError(f"need (..., T, {d_model}), got {shape}")
    if shape[-2] > max_len:
        raise ValueError(f"{shape[-2]} positions, but max_len is {max_len}")


class LearnedPositional(Module):
    def __init__(self, max_len, d_model, *, rng=None):
        super().__init__()
        self.max_len = max_len
        self.d_model = d_model
        self.weight = drawn(rng, (max_len, d_model), 0.02)

    def forward(self, x):
        _fits(x.shape, self.max_len, self.d_model)
        return x + self.weight[:x.shape[-2]]


class EmbeddingLayer(Module):
    """Which token, plus where it stands."""

    def __init__(self, vocab_size, d_model, max_len=512, pos="learned", scale=False, *, rng=None):
        super().__init__()
        rng = np.random.default_rng() if rng is None else rng
        self.d_model = d_model
        self.max_len = max_len
        self.pos = pos
        self.scale = scale
        self.token = Embedding(vocab_size, d_model, rng=rng)
        if pos == "learned":
            self.position = LearnedPositional(max_len, d_model, rng=rng)
        elif pos == "sinusoidal":
            self.position = sinusoidal(max_len, d_model)
        elif pos is None:
            self.position = None
        else:
            raise ValueError(f"pos is 'learned', 'sinusoidal' or None, not {pos!r}")

    def forward(self, token_ids):
        x = self.token(token_ids)
        if self.scale:
            x = x * math.sqrt(self.d_model)
        if self.pos == "learned":
            return self.position(x)
        if self.pos == "sinusoidal":
            _fits(x.shape, self.max_len, self.d_model)
            return x + self.position[:x.shape[-2]]
        return x


def turn(row, pos, base=10000.0):
    """Rotate the pairs (row[0], row[1]), (row[2], row[3]), ... of a list of Values."""
    d = len(row)
    out = []
    for j in range(0, d, 2):
        angle = pos * base ** (-j / d)
        c, s = math.cos(angle), math.sin(angle)
        a, b = row[j], row[j + 1]
        out.append(Value(a.data * c - b.data * s, (a, b), (c, -s)))
        out.append(Value(a.data * s + b.data * c, (a, b), (s, c)))
    return out


def rope(x, positions=None, base=10000.0):
    if x.ndim < 2:
        raise ValueError(f"rope needs (..., T, d), got {x.shape}")
    T, d = x.shape[-2:]
    if d % 2:
        raise ValueError(f"rope turns pairs, but d = {d} is odd")
    if positions is None:
        positions = np.arange(T)
    positions = np.atleast_1d(np.asarray(positions))
    if positions.shape[-1] != T:
        raise ValueError(f"positions {positions.shape} do not fit x {x.shape}")
    positions = np.broadcast_to(positions, x.shape[:-1]).ravel().tolist()
    out = []
    for row, pos in zip(x.rows(), positions):
        out.extend(turn(row, pos, base))
    return Tensor.of(out, x.shape, x)
