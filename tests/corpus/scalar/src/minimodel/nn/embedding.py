import numpy as np

from ..module import Module, drawn


class Embedding(Module):
    """A table with one row of numbers for each token id."""

    def __init__(self, vocab_size, d_model, *, rng=None):
        super().__init__()
        self.vocab_size = vocab_size
        self.d_model = d_model
        self.weight = drawn(rng, (vocab_size, d_model), 0.02)

    def forward(self, token_ids):
        ids = np.asarray(token_ids)
        if ids.dtype.kind not in "iu":
            raise TypeError(f"token ids must be integers, got {ids.dtype}")
        for i in ids.ravel().tolist():
            if not 0 <= i < self.vocab_size:
                raise IndexError(f"token id {i} is outside the vocabulary of size {self.vocab_size}")
        # the same id twice gives the same Values twice, so both gradients meet in that row
        return self.weight[ids]
