"""Every lookup is a product with one-hot rows, so no backward is written by hand."""

import numpy as np

from tinytorch.core.tensor import Tensor


def uniform(limit, shape):
    return Tensor(np.random.uniform(low=-limit, high=limit, size=shape), requires_grad=True)


class Embedding:
    def __init__(self, vocab_size, embed_dim):
        self.vocab_size = vocab_size
        self.weight = uniform(np.sqrt(6.0 / (vocab_size + embed_dim)), (vocab_size, embed_dim))

    def forward(self, indices):
        ids = indices.data.astype(int)
        bad = ids[(ids < 0) | (ids >= self.vocab_size)]
        if bad.size:
            raise IndexError(f"no row {bad[0]} among {self.vocab_size}")
        choice = (ids.reshape(-1)[:, None] == np.arange(self.vocab_size)).astype(np.float32)
        return (Tensor(choice) @ self.weight).reshape(*ids.shape, -1)

    def __call__(self, indices):
        return self.forward(indices)

    def parameters(self):
        return [self.weight]


class PositionalEncoding:
    def __init__(self, max_seq_len, embed_dim):
        self.max_seq_len = max_seq_len
        self.position_embeddings = uniform(np.sqrt(2.0 / embed_dim), (max_seq_len, embed_dim))

    def forward(self, x):
        T = x.shape[1]
        if T > self.max_seq_len:
            raise ValueError("sequence too long: %d > %d" % (T, self.max_seq_len))
        choice = Tensor(np.eye(T, self.max_seq_len))
        rows = choice @ self.position_embeddings
        return x + rows

    def __call__(self, x):
        return self.forward(x)

    def parameters(self):
        return [self.position_embeddings]


def frequencies(embed_dim, base=10000.0):
    pairs = np.arange((embed_dim + 1) // 2)
    return base ** (-2.0 * pairs / embed_dim)


def create_sinusoidal_embeddings(max_seq_len, embed_dim):
    angles = np.outer(np.arange(max_seq_len), frequencies(embed_dim))
    both = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return Tensor(both.reshape(max_seq_len, -1)[:, :embed_dim])


class EmbeddingLayer:
    def __init__(
        self, vocab_size, embed_dim, max_seq_len=512, pos_encoding="learned", scale_embeddings=False
    ):
        self.token_embedding = Embedding(vocab_size, embed_dim)
        self.pos_encoding = {
            "learned": lambda: PositionalEncoding(max_seq_len, embed_dim),
            "sinusoidal": lambda: Waves(max_seq_len, embed_dim),
            None: lambda: Nothing(),
        }[pos_encoding]()
        self.factor = np.sqrt(embed_dim) if scale_embeddings else None

    def forward(self, tokens):
        flat = len(tokens.shape) == 1
        x = self.token_embedding(tokens.reshape(1, -1) if flat else tokens)
        if self.factor is not None:
            x = x * self.factor
        y = self.pos_encoding(x)
        return y.reshape(*y.shape[1:]) if flat else y

    def __call__(self, tokens):
        return self.forward(tokens)

    def parameters(self):
        return self.token_embedding.parameters() + self.pos_encoding.parameters()


class Waves:
    def __init__(self, max_seq_len, embed_dim):
        self.table = create_sinusoidal_embeddings(max_seq_len, embed_dim)

    def __call__(self, x):
        if x.shape[1] > self.table.shape[0]:
            raise ValueError("no waves for that many positions")
        return x + self.table[: x.shape[1]]

    def parameters(self):
        return []


class Nothing:
    def __call__(self, x):
        return x

    def parameters(self):
        return []
