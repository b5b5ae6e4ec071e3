from __future__ import annotations

import numpy as np

from minimodel.module import Module
from minimodel.nn._common import Rng, flat, need_last
from minimodel.nn.embedding import Embedding
from minimodel.tensor import Array, Tensor, as_tensor


class LMHead(Module):
    """Y = H E^T with the E of the embedding: tied, nothing of its own to learn."""

    def __init__(self, embedding: Embedding, *, rng: Rng | None = None) -> None:
        self.embedding = embedding
        self.vocab_size_out: int = embedding.vocab_size

    def forward(self, h: Tensor) -> Tensor:
        h = as_tensor(h); e = self.embedding.weight
        H, W = h.data, self.embedding.weight.data
        need_last(H, W.shape[1], "LMHead")

        def backward(dY: Array) -> None:
            h.add_grad(np.einsum("...v,vd->...d", dY, W, optimize=True))
            e.add_grad(np.einsum("nv,nd->vd", flat(dY), flat(H), optimize=True))

        return Tensor.node(np.einsum("...d,vd->...v", H, W, optimize=True), (h, e), backward)
