"""From hidden states back to the vocabulary."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..module import Module
from ..tensor import Tensor
from .embedding import Embedding


def make_unembed(embedding: Embedding) -> Callable[[Tensor], Tensor]:
    """Close over the embedding; h -> h @ weight^T."""

    def forward(h: Tensor) -> Tensor:
        return h @ embedding.weight.transpose(0, 1)

    return forward


class LMHead(Module):
    """Output layer that borrows the rows of the embedding.

    Parameters
    ----------
    embedding : Embedding
        Whose weight is used; no parameter is added.
    rng : numpy.random.Generator, optional
        Not needed, there is nothing to draw.

    Attributes
    ----------
    vocab_size_out, d_model : int
        The shape of the embedding's weight.
    forward : callable
        (..., d_model) -> (..., vocab_size_out).
    """

    def __init__(
        self,
        embedding: Embedding,
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.embedding = embedding
        self.vocab_size_out, self.d_model = embedding.weight.shape
        self.forward = make_unembed(embedding)
