"""Token embeddings."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..initial import normal
from ..module import Module, Parameter
from ..tensor import Array, Tensor, record

Lookup = Callable[[NDArray[np.integer]], Tensor]


def make_lookup(weight: Parameter) -> Lookup:
    """Close over a table of rows.

    Parameters
    ----------
    weight : Parameter, shape (vocab_size, d_model)
        The table.

    Returns
    -------
    callable
        ``forward(token_ids)``, (...,) -> (..., d_model).
    """

    def forward(token_ids: NDArray[np.integer]) -> Tensor:
        ids = np.array(token_ids)
        if not np.issubdtype(ids.dtype, np.integer):
            raise TypeError(f"token ids must be integers, not {ids.dtype}")
        rows = weight.data
        vocab_size, d_model = rows.shape
        outside = ids[(ids < 0) | (ids >= vocab_size)]
        if outside.size:
            raise IndexError(
                f"token id {int(outside[0])} is not in a vocabulary of "
                f"size {vocab_size}"
            )

        ids = ids.astype(np.intp)

        def vjp(g: Array) -> tuple[Array]:
            grad = np.zeros_like(rows)
            np.add.at(grad, ids.reshape(-1), g.reshape(-1, d_model))
            return (grad,)

        return record(rows.take(ids, axis=0), (weight,), vjp)

    return forward


class Embedding(Module):
    """One trainable row per token.

    Parameters
    ----------
    vocab_size : int
        Number of tokens.
    d_model : int
        Length of a row.
    rng : numpy.random.Generator, optional
        Draws the first weights, N(0, 0.02).

    Attributes
    ----------
    weight : Parameter, shape (vocab_size, d_model)
        The rows, float32.
    forward : callable
        (...,) integer ids -> (..., d_model).  TypeError for ids that are
        not integers, IndexError for ids outside [0, vocab_size).
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.vocab_size = vocab_size
        self.d_model = d_model
        self.weight = Parameter(normal(rng)((vocab_size, d_model), 0.02))
        self.forward = make_lookup(self.weight)
