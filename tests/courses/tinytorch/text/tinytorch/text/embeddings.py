"""Module 11, in the place it had first."""

from math import cos, sin, sqrt

import numpy as np

from ..core.tensor import Tensor


class Layer:
    def __call__(self, x):
        return self.forward(x)


class Embedding(Layer):
    def __init__(self, vocab_size, embed_dim):
        self.vocab_size, self.embed_dim = vocab_size, embed_dim
        bound = sqrt(6 / (vocab_size + embed_dim))
        self.weight = Tensor(
            (2 * np.random.rand(vocab_size, embed_dim) - 1) * bound, requires_grad=True
        )

    def forward(self, indices):
        ids = np.rint(indices.data).astype(int)
        if ids.size and not (0 <= ids.min() and ids.max() < self.vocab_size):
            raise IndexError(f"{self.vocab_size} rows, and ids from {ids.min()} to {ids.max()}")
        return self.weight[ids]

    def parameters(self):
        return [self.weight]


class PositionalEncoding(Layer):
    def __init__(self, max_seq_len, embed_dim):
        self.max_seq_len, self.embed_dim = max_seq_len, embed_dim
        bound = sqrt(2 / embed_dim)
        self.position_embeddings = Tensor(
            (2 * np.random.rand(max_seq_len, embed_dim) - 1) * bound, requires_grad=True
        )

    def forward(self, x):
        places = np.arange(x.shape[-2])
        if len(places) > self.max_seq_len:
            raise ValueError(f"{len(places)} positions, {self.max_seq_len} rows")
        return x + self.position_embeddings[places]

    def parameters(self):
        return [self.position_embeddings]


def create_sinusoidal_embeddings(max_seq_len, embed_dim):
    """Number by number, as it stands in the paper."""
    table = np.zeros((max_seq_len, embed_dim))
    for pos in range(max_seq_len):
        for i in range(0, embed_dim, 2):
            angle = pos / 10000 ** (i / embed_dim)
            table[pos, i] = sin(angle)
            if i + 1 < embed_dim:
                table[pos, i + 1] = cos(angle)
    return Tensor(table)


class EmbeddingLayer(Layer):
    def __init__(
        self, vocab_size, embed_dim, max_seq_len=512, pos_encoding="learned", scale_embeddings=False
    ):
        self.token_embedding = Embedding(vocab_size, embed_dim)
        self.scale = embed_dim**0.5 if scale_embeddings else 1.0
        self.max_seq_len, self.embed_dim = max_seq_len, embed_dim
        self.pos_encoding_type = pos_encoding
        self.pos_encoding = None
        if pos_encoding == "learned":
            self.pos_encoding = PositionalEncoding(max_seq_len, embed_dim)
        if pos_encoding == "sinusoidal":
            self.pos_encoding = create_sinusoidal_embeddings(max_seq_len, embed_dim)

    def forward(self, tokens):
        x = self.token_embedding(tokens) * self.scale
        if self.pos_encoding_type == "learned":
            x = self.pos_encoding(x)
        elif self.pos_encoding_type == "sinusoidal":
            length = x.shape[-2]
            if length > self.max_seq_len:  # the waves go on
                self.max_seq_len = length
                self.pos_encoding = create_sinusoidal_embeddings(length, self.embed_dim)
            x = x + self.pos_encoding[:length]
        return x

    def parameters(self):
        learned = self.pos_encoding.parameters() if self.pos_encoding_type == "learned" else []
        return [self.token_embedding.weight, *learned]
