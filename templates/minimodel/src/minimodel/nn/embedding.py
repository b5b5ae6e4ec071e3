"""Token embedding: one learned vector per token id."""

from __future__ import annotations

import numpy as np

from minimodel.module import Module
from minimodel.tensor import Tensor


class Embedding(Module):
    """A table of vectors, one row for each token of the vocabulary.

    Attributes:
        vocab_size, d_model: the two sizes, as given.
        weight: Parameter (vocab_size, d_model), drawn from a normal distribution with mean 0 and
            standard deviation 0.02. Its dtype is the dtype of the whole model.
    """

    def __init__(
        self, vocab_size: int, d_model: int, *, rng: np.random.Generator | None = None
    ) -> None:
        raise NotImplementedError("create the embedding table")

    def forward(self, token_ids: np.ndarray) -> Tensor:
        """Give every id its row: (...,) -> (..., d_model), for any number of leading axes.

        In backward, a row's gradient is the sum over all the places where its id occurs, and is
        exactly 0 for an id that does not occur.

        Raises:
            TypeError: the ids are not integers.
            IndexError: an id lies outside [0, vocab_size). A negative id does too: it does not count
                from the end. The message contains the id and the vocabulary size.
        """
        raise NotImplementedError("look up the rows of the token ids")
