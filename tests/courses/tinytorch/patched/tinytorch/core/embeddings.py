import math

import numpy as np

from .autograd import EmbeddingBackward
from .tensor import Tensor


class Embedding:
    def __init__(self, vocab_size, embed_dim):
        self.vocab_size = vocab_size
        self.embed_dim = embed_dim
        # Xavier initialization
        limit = math.sqrt(6.0 / (vocab_size + embed_dim))
        self.weight = Tensor(
            np.random.uniform(-limit, limit, (vocab_size, embed_dim)), requires_grad=True
        )

    def forward(self, indices):
        ids = indices.data.astype(np.int64)
        if np.any(ids >= self.vocab_size) or np.any(ids < 0):
            raise ValueError(f"index out of range for a vocabulary of {self.vocab_size}")
        result = Tensor(self.weight.data[ids], requires_grad=self.weight.requires_grad)
        if result.requires_grad:
            result._grad_fn = EmbeddingBackward(self.weight, ids)
        return result

    def __call__(self, indices):
        return self.forward(indices)

    def parameters(self):
        return [self.weight]


class PositionalEncoding:
    def __init__(self, max_seq_len, embed_dim):
        self.max_seq_len = max_seq_len
        self.embed_dim = embed_dim
        limit = math.sqrt(2.0 / embed_dim)
        self.position_embeddings = Tensor(
            np.random.uniform(-limit, limit, (max_seq_len, embed_dim)), requires_grad=True
        )

    def forward(self, x):
        if len(x.shape) != 3:
            raise ValueError(f"expected (batch, seq, embed), got {x.shape}")
        batch_size, seq_len, embed_dim = x.shape
        if seq_len > self.max_seq_len:
            raise ValueError(f"sequence length {seq_len} exceeds maximum {self.max_seq_len}")
        pos = self.position_embeddings[:seq_len]
        return x + pos.reshape(1, seq_len, embed_dim)

    def __call__(self, x):
        return self.forward(x)

    def parameters(self):
        return [self.position_embeddings]


def create_sinusoidal_embeddings(max_seq_len, embed_dim):
    position = np.arange(max_seq_len)[:, np.newaxis]
    div_term = np.exp(np.arange(0, embed_dim, 2) * -(math.log(10000.0) / embed_dim))
    pe = np.zeros((max_seq_len, embed_dim))
    pe[:, 0::2] = np.sin(position * div_term)
    pe[:, 1::2] = np.cos(position * div_term[: embed_dim // 2])
    return Tensor(pe)


class EmbeddingLayer:
    def __init__(
        self, vocab_size, embed_dim, max_seq_len=512, pos_encoding="learned", scale_embeddings=False
    ):
        self.vocab_size = vocab_size
        self.embed_dim = embed_dim
        self.max_seq_len = max_seq_len
        self.pos_encoding_type = pos_encoding
        self.scale_embeddings = scale_embeddings
        self.token_embedding = Embedding(vocab_size, embed_dim)
        if pos_encoding == "learned":
            self.pos_encoding = PositionalEncoding(max_seq_len, embed_dim)
        elif pos_encoding == "sinusoidal":
            self.pos_encoding = create_sinusoidal_embeddings(max_seq_len, embed_dim)
        elif pos_encoding is None:
            self.pos_encoding = None
        else:
            raise ValueError(f"unknown pos_encoding: {pos_encoding}")

    def forward(self, tokens):
        squeeze = len(tokens.shape) == 1
        if squeeze:
            tokens = tokens.reshape(1, -1)
        embeds = self.token_embedding.forward(tokens)
        if self.scale_embeddings:
            embeds = embeds * math.sqrt(self.embed_dim)
        if self.pos_encoding_type == "learned":
            output = self.pos_encoding.forward(embeds)
        elif self.pos_encoding_type == "sinusoidal":
            seq_len = tokens.shape[1]
            if seq_len > self.max_seq_len:
                raise ValueError(f"sequence length {seq_len} exceeds maximum {self.max_seq_len}")
            output = embeds + self.pos_encoding[:seq_len]
        else:
            output = embeds
        return output[0] if squeeze else output

    def __call__(self, tokens):
        return self.forward(tokens)

    def parameters(self):
        params = self.token_embedding.parameters()
        if self.pos_encoding_type == "learned":
            params.extend(self.pos_encoding.parameters())
        return params
