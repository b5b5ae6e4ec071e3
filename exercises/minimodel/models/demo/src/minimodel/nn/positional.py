"""Who stands where."""
import numpy as np

from ..module import Module, Parameter
from ..tensor import Tensor
from .embedding import Embedding


def _phases(where, width, base=10000.0):
    """One angle for each position and pair of columns; the last pair may lack its second column."""
    pairs = np.arange((width + 1) // 2)
    return np.einsum("t,p->tp", np.asarray(where, float), float(base) ** (-2 * pairs / width))


def sinusoidal(max_len, d_model):
    waves = np.exp(1j * _phases(np.arange(max_len), d_model))
    return np.stack([waves.imag, waves.real], -1).reshape(max_len, -1)[:, :d_model]


class LearnedPositional(Module):
    def __init__(self, max_len, d_model, *, rng=None):
        super().__init__()
        noise = (rng if rng is not None else np.random.default_rng()).standard_normal((max_len, d_model))
        self.weight = Parameter(0.02 * noise)

    def forward(self, x):
        return _placed(x, self.weight)


def _placed(x, rows):
    """x plus the first rows of a table, which may be a Parameter or a plain array."""
    steps = x.shape[-2]
    if steps > len(rows):
        raise ValueError("a sequence of %d, but there are only %d positions" % (steps, len(rows)))
    return x + rows[:steps]


class EmbeddingLayer(Module):
    def __init__(self, vocab_size, d_model, max_len=512, pos="learned", scale=False, *, rng=None):
        super().__init__()
        makers = {
            "learned": lambda: LearnedPositional(max_len, d_model, rng=rng),
            "sinusoidal": lambda: sinusoidal(max_len, d_model),
            None: lambda: None,
        }
        if pos not in makers:
            raise ValueError("pos can be learned, sinusoidal or None, not %r" % (pos,))
        self.token = Embedding(vocab_size, d_model, rng=rng)
        self.position = makers[pos]()
        self._gain = d_model**0.5 if scale else None

    def forward(self, token_ids):
        x = self.token(token_ids)
        if self._gain is not None:
            x = x * self._gain
        if self.position is None:
            return x
        if isinstance(self.position, Module):
            return self.position(x)
        return _placed(x, self.position)


def rope(x, positions=None, base=10000.0):
    steps, width = x.shape[-2:]
    if width % 2:
        raise ValueError("columns are turned in pairs, %d are not even in number" % width)
    spin = np.exp(1j * _phases(np.arange(steps) if positions is None else positions, width, base))

    def turn(v, spin):
        pairs = (v[..., 0::2] + 1j * v[..., 1::2]) * spin
        return np.stack([pairs.real, pairs.imag], -1).reshape(v.shape).astype(v.dtype)

    return Tensor.from_op(turn(x.data, spin), (x, lambda g: turn(g, spin.conj())))
