from __future__ import annotations

from typing import Any

import numpy as np

from minimodel.module import Module, Parameter
from minimodel.nn._common import Rng, as_ids, normal
from minimodel.tensor import Array, Tensor


class Embedding(Module):
    """Y[..., :] = E[ids[...], :]"""

    def __init__(self, vocab_size: int, d_model: int, *, rng: Rng | None = None) -> None:
        self.vocab_size, self.d_model = vocab_size, d_model
        self.weight: Parameter = normal(rng, vocab_size, d_model)

    def forward(self, token_ids: Any) -> Tensor:
        e, ids = self.weight, as_ids(token_ids); E = e.data
        if (bad := ids[(ids < 0) | (ids >= self.vocab_size)]).size:
            raise IndexError(f"token id {bad[0]} is outside the vocabulary of size {self.vocab_size}")

        def backward(dY: Array) -> None:
            # dE = onehot^T dY, without the one-hot: scatter-add, so a repeated id collects all of its rows
            dE = np.zeros_like(E); np.add.at(dE, ids, dY)
            e.add_grad(dE)

        return Tensor.node(E[ids], (e,), backward)
