"""The language-model head: from hidden vectors to one score per token."""

from __future__ import annotations

import numpy as np

from minimodel.module import Module
from minimodel.nn.embedding import Embedding
from minimodel.tensor import Tensor


class LMHead(Module):
    """Tied: the projection is the embedding's table, transposed."""

    def __init__(self, embedding: Embedding, *, rng: np.random.Generator | None = None) -> None:
        super().__init__()
        self.embedding = embedding
        self.vocab_size_out = embedding.vocab_size

    def forward(self, h: Tensor) -> Tensor:
        """(..., d_model) -> (..., vocab_size)"""
        logits = h @ self.embedding.weight.transpose((1, 0))
        return logits
