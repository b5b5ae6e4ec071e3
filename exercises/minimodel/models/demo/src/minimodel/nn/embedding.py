"""Rows of numbers for tokens."""
import numpy as np

from ..module import Module, Parameter
from ..tensor import Tensor


def _checked(ids, limit):
    ids = np.asarray(ids)
    if ids.dtype.kind not in "iu":
        raise TypeError("ids have to be whole numbers, got %s" % ids.dtype)
    bad = ids[(ids < 0) | (ids >= limit)]
    if bad.size:
        raise IndexError("id %d, but the vocabulary has %d tokens" % (bad.flat[0], limit))
    return ids


class Embedding(Module):
    def __init__(self, vocab_size, d_model, *, rng=None):
        super().__init__()
        self._size = (vocab_size, d_model)
        noise = (rng if rng is not None else np.random.default_rng()).standard_normal(self._size)
        self.weight = Parameter(0.02 * noise)

    vocab_size = property(lambda self: self._size[0])
    d_model = property(lambda self: self._size[1])

    def forward(self, token_ids):
        ids = _checked(token_ids, self.vocab_size)
        table = self.weight

        def scatter(g):  # every occurrence adds to its row
            grad = np.zeros_like(table.data)
            np.add.at(grad, ids, g)
            return grad

        return Tensor.from_op(table.data[ids], (table, scatter))
