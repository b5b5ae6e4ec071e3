"""Token embedding: a table with one trainable row for each token."""

from __future__ import annotations

import numpy as np

from minimodel.module import Module, Parameter
from minimodel.tensor import Tensor


class Embedding(Module):
    """A table (vocab_size, d_model); forward looks rows up."""

    def __init__(
        self, vocab_size: int, d_model: int, *, rng: np.random.Generator | None = None
    ) -> None:
        super().__init__()
        rng = rng or np.random.default_rng()
        self.vocab_size = vocab_size
        self.d_model = d_model
        self.weight = Parameter(rng.normal(0.0, 0.02, (vocab_size, d_model)))

    def forward(self, token_ids: np.ndarray) -> Tensor:
        """(...,) -> (..., d_model)"""
        ids = np.asarray(token_ids)
        if not np.issubdtype(ids.dtype, np.integer):
            raise TypeError(f"token ids must be integers, not {ids.dtype}")
        outside = (ids < 0) | (ids >= self.vocab_size)
        if outside.any():
            raise IndexError(f"token id {ids[outside][0]} is outside a vocabulary of {self.vocab_size}")
        return self.weight[ids]
