"""Back from vectors to scores."""
import numpy as np

from ..module import Module
from ..tensor import Tensor


class LMHead(Module):
    def __init__(self, embedding, *, rng=None):
        super().__init__()
        self.embedding = embedding
        n_tokens, n_features = embedding.weight.shape
        self.vocab_size_out = n_tokens

    def forward(self, h):
        table = self.embedding.weight
        scores = np.einsum("...d,vd->...v", h.data, table.data)

        def to_h(g):
            return np.einsum("...v,vd->...d", g, table.data)

        def to_table(g):
            n, d = table.shape
            return g.reshape(-1, n).T @ h.data.reshape(-1, d)

        return Tensor.from_op(scores, (h, to_h), (table, to_table))
