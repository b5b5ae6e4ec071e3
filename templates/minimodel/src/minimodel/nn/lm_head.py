"""The language-model head: from hidden vectors to one score per token."""

from __future__ import annotations

import numpy as np

from minimodel.module import Module
from minimodel.nn.embedding import Embedding
from minimodel.tensor import Tensor


class LMHead(Module):
    """An output layer that is tied to the embedding: both use the same Parameter.

    The head adds no parameter of its own.

    Attributes:
        embedding: the Embedding it was given.
        vocab_size_out: the number of scores per position, taken from the embedding.
    """

    def __init__(self, embedding: Embedding, *, rng: np.random.Generator | None = None) -> None:
        raise NotImplementedError("tie the head to the embedding")

    def forward(self, h: Tensor) -> Tensor:
        """logits = h @ embedding.weight^T: (..., d_model) -> (..., vocab_size)."""
        raise NotImplementedError("compute the logits")
