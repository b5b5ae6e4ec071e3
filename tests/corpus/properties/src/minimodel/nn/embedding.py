import numpy as np

from ..module import Module, Weight, default_rng, normal
from ..operations import Operation
from ..tensor import dispatch


class TakeRows(Operation, symbol="rows"):
    __slots__ = ()

    @staticmethod
    def forward(table, ids):
        return table[ids], (table.shape, ids)

    @staticmethod
    def backward(grad, saved):
        shape, ids = saved
        full = np.zeros(shape, dtype=grad.dtype)
        # not full[ids] += grad: that would count a repeated id once
        np.add.at(full, ids.reshape(-1), grad.reshape(-1, shape[1]))
        return (full,)


class Embedding(Module):
    """(...,) token ids -> (..., d_model)"""

    __slots__ = ()

    weight = Weight("(vocab_size, d_model)")

    def __init__(self, vocab_size, d_model, *, rng=None):
        self.weight = normal(default_rng(rng), vocab_size, d_model, std=0.02)

    @property
    def vocab_size(self):
        return self.weight.shape[0]

    @property
    def d_model(self):
        return self.weight.shape[1]

    def forward(self, token_ids):
        return dispatch("rows", self.weight, ids=self._checked(token_ids))

    def _checked(self, token_ids):
        ids = np.array(token_ids)  # a copy, the tape keeps it until backward
        if not np.issubdtype(ids.dtype, np.integer):
            raise TypeError(f"token ids must be integers, got an array of {ids.dtype}")
        # NumPy would read -1 as the last row, so look before it does
        outside = ids[(ids < 0) | (ids >= self.vocab_size)]
        if outside.size:
            raise IndexError(
                f"token id {outside.flat[0]} is outside the vocabulary of size {self.vocab_size}"
            )
        return ids
