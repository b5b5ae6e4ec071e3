from __future__ import annotations

import numpy as np

from .autograd import Gather
from .tensor import Tensor

BASE = 10_000


class Table:
    """What both tables have: rows that are drawn, taken, and trained."""

    def draw(self, rows: int, columns: int, limit: float) -> Tensor:
        self.rows = rows
        values = np.random.uniform(-1.0, 1.0, size=(rows, columns)) * limit
        return Tensor(values, requires_grad=True)

    def __call__(self, x: Tensor) -> Tensor:
        return self.forward(x)


class Embedding(Table):
    def __init__(self, vocab_size: int, embed_dim: int):
        fan_in, fan_out = vocab_size, embed_dim
        self.weight = self.draw(vocab_size, embed_dim, (6 / (fan_in + fan_out)) ** 0.5)

    def forward(self, indices: Tensor) -> Tensor:
        ids = indices.data.astype("i8")
        for id in ids.flat:
            if not 0 <= id < self.rows:
                raise ValueError(f"id {id} of {self.rows}")
        return Tensor.of(Gather(ids), self.weight)

    def parameters(self) -> list[Tensor]:
        return [self.weight]


class PositionalEncoding(Table):
    def __init__(self, max_seq_len: int, embed_dim: int):
        self.position_embeddings = self.draw(max_seq_len, embed_dim, (2 / embed_dim) ** 0.5)

    def forward(self, x: Tensor) -> Tensor:
        length = x.data.shape[-2]
        if length > self.rows:
            raise ValueError(f"{length} positions of {self.rows}")
        first = self.position_embeddings[0:length]
        return first + x

    def parameters(self) -> list[Tensor]:
        return [self.position_embeddings]


def create_sinusoidal_embeddings(max_seq_len: int, embed_dim: int) -> Tensor:
    column = np.arange(embed_dim)
    exponent = (column // 2 * 2) / embed_dim
    angle = np.arange(max_seq_len).reshape(-1, 1) / np.power(BASE, exponent)
    return Tensor(np.where(column % 2 == 0, np.sin(angle), np.cos(angle)))


class EmbeddingLayer:
    def __init__(
        self,
        vocab_size: int,
        embed_dim: int,
        max_seq_len: int = 512,
        pos_encoding: str | None = "learned",
        scale_embeddings: bool = False,
    ):
        assert pos_encoding in ("learned", "sinusoidal", None), pos_encoding
        self.embed_dim, self.scale_embeddings = embed_dim, scale_embeddings
        self.kind, self.max_seq_len = pos_encoding, max_seq_len
        self.token_embedding = Embedding(vocab_size, embed_dim)
        if self.kind == "learned":
            self.pos_encoding = PositionalEncoding(max_seq_len, embed_dim)
        if self.kind == "sinusoidal":
            self.pos_encoding = create_sinusoidal_embeddings(max_seq_len, embed_dim)

    def scaled(self, tokens: Tensor) -> Tensor:
        vectors = self.token_embedding(tokens)
        return vectors * np.sqrt(self.embed_dim) if self.scale_embeddings else vectors

    def forward(self, tokens: Tensor) -> Tensor:
        vectors = self.scaled(tokens)
        if self.kind is None:
            return vectors
        if self.kind == "learned":
            return self.pos_encoding(vectors)
        length = vectors.data.shape[-2]
        if length > self.max_seq_len:
            raise ValueError(f"{length} positions of {self.max_seq_len}")
        return vectors + self.pos_encoding[0:length]

    __call__ = forward

    def parameters(self) -> list[Tensor]:
        own = self.token_embedding.parameters()
        return own + self.pos_encoding.parameters() if self.kind == "learned" else own
