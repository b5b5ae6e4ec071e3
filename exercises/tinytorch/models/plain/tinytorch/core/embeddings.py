"""Tokens and positions as vectors."""

from __future__ import annotations

import math

import numpy as np

from tinytorch.core.autograd import keep
from tinytorch.core.tensor import Tensor


class Embedding:
    """A row for each token."""

    def __init__(self, vocab_size: int, embed_dim: int) -> None:
        self.vocab_size = vocab_size
        self.embed_dim = embed_dim
        limit = math.sqrt(6.0 / (vocab_size + embed_dim))
        rows = np.random.uniform(-limit, limit, (vocab_size, embed_dim))
        self.weight = Tensor(rows, requires_grad=True)

    def forward(self, indices: Tensor) -> Tensor:
        """(...,) -> (..., embed_dim)"""
        ids = indices.data.astype(int)
        if ((ids < 0) | (ids >= self.vocab_size)).any():
            raise ValueError(f"ids from {ids.min()} to {ids.max()}, and {self.vocab_size} rows")

        def back(g: np.ndarray) -> np.ndarray:
            grad = np.zeros_like(self.weight.data)
            np.add.at(grad, ids, g)
            return grad

        return keep(Tensor(self.weight.data[ids]), (self.weight, back))

    def __call__(self, indices: Tensor) -> Tensor:
        return self.forward(indices)

    def parameters(self) -> list[Tensor]:
        return [self.weight]


class PositionalEncoding:
    """A learned row for each position."""

    def __init__(self, max_seq_len: int, embed_dim: int) -> None:
        self.max_seq_len = max_seq_len
        self.embed_dim = embed_dim
        limit = math.sqrt(2.0 / embed_dim)
        rows = np.random.uniform(-limit, limit, (max_seq_len, embed_dim))
        self.position_embeddings = Tensor(rows, requires_grad=True)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, T, embed_dim) -> the same"""
        seq_len = x.shape[-2]
        if seq_len > self.max_seq_len:
            raise ValueError(f"{seq_len} positions are more than {self.max_seq_len}")
        return x + self.position_embeddings[:seq_len]

    def __call__(self, x: Tensor) -> Tensor:
        return self.forward(x)

    def parameters(self) -> list[Tensor]:
        return [self.position_embeddings]


def create_sinusoidal_embeddings(max_seq_len: int, embed_dim: int) -> Tensor:
    """(max_seq_len, embed_dim)"""
    even = np.arange(0, embed_dim, 2)
    angles = np.arange(max_seq_len)[:, None] / 10000.0 ** (even / embed_dim)
    table = np.empty((max_seq_len, embed_dim))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles[:, : embed_dim // 2])
    return Tensor(table)


class EmbeddingLayer:
    """Tokens plus positions."""

    def __init__(
        self,
        vocab_size: int,
        embed_dim: int,
        max_seq_len: int = 512,
        pos_encoding: str | None = "learned",
        scale_embeddings: bool = False,
    ) -> None:
        if pos_encoding not in ("learned", "sinusoidal", None):
            raise ValueError(f"pos_encoding is 'learned', 'sinusoidal' or None, not {pos_encoding}")
        self.embed_dim = embed_dim
        self.max_seq_len = max_seq_len
        self.pos_encoding_type = pos_encoding
        self.scale_embeddings = scale_embeddings
        self.token_embedding = Embedding(vocab_size, embed_dim)
        self.pos_encoding = None
        if pos_encoding == "learned":
            self.pos_encoding = PositionalEncoding(max_seq_len, embed_dim)
        elif pos_encoding == "sinusoidal":
            self.pos_encoding = create_sinusoidal_embeddings(max_seq_len, embed_dim)

    def forward(self, tokens: Tensor) -> Tensor:
        """(batch, T) or (T,) -> (..., T, embed_dim)"""
        x = self.token_embedding(tokens)
        if self.scale_embeddings:
            x = x * math.sqrt(self.embed_dim)
        if self.pos_encoding_type == "learned":
            return self.pos_encoding(x)
        if self.pos_encoding_type == "sinusoidal":
            seq_len = x.shape[-2]
            if seq_len > self.max_seq_len:
                raise ValueError(f"{seq_len} positions are more than {self.max_seq_len}")
            return x + self.pos_encoding[:seq_len]
        return x

    def __call__(self, tokens: Tensor) -> Tensor:
        return self.forward(tokens)

    def parameters(self) -> list[Tensor]:
        learned = self.pos_encoding_type == "learned"
        return self.token_embedding.parameters() + (self.pos_encoding.parameters() if learned else [])
