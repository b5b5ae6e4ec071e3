"""Tokens and positions as vectors. Every class has `forward(x)`, can be called, and has `parameters()`, a list."""

from __future__ import annotations

from tinytorch.core.tensor import Tensor


class Embedding:
    """`.weight`: a Tensor (vocab_size, embed_dim) that requires a gradient, drawn evenly between -limit and
    limit, with limit = sqrt(6 / (vocab_size + embed_dim)) (Xavier).
    """

    def __init__(self, vocab_size: int, embed_dim: int) -> None:
        raise NotImplementedError("create the table")

    def forward(self, indices: Tensor) -> Tensor:
        """A row for every id: (...,) -> (..., embed_dim). The ids come as a Tensor.

        Raises ValueError or IndexError for an id outside [0, vocab_size).
        """
        raise NotImplementedError("look the rows up")

    def __call__(self, indices: Tensor) -> Tensor:
        return self.forward(indices)

    def parameters(self) -> list[Tensor]:
        raise NotImplementedError("what is trained")


class PositionalEncoding:
    """`.position_embeddings`: a Tensor (max_seq_len, embed_dim) that requires a gradient, drawn evenly between
    -limit and limit, with limit = sqrt(2 / embed_dim).
    """

    def __init__(self, max_seq_len: int, embed_dim: int) -> None:
        raise NotImplementedError("create the table")

    def forward(self, x: Tensor) -> Tensor:
        """x (batch, T, embed_dim) plus row t at position t. Raises ValueError where T > max_seq_len."""
        raise NotImplementedError("add the rows")

    def __call__(self, x: Tensor) -> Tensor:
        return self.forward(x)

    def parameters(self) -> list[Tensor]:
        raise NotImplementedError("what is trained")


def create_sinusoidal_embeddings(max_seq_len: int, embed_dim: int) -> Tensor:
    """(max_seq_len, embed_dim): sin(pos / 10000^(2i / embed_dim)) in column 2i, its cosine in column 2i + 1."""
    raise NotImplementedError("make the waves")


class EmbeddingLayer:
    """`.token_embedding` is an Embedding; with pos_encoding="learned", `.pos_encoding` is a PositionalEncoding.
    With "sinusoidal" the waves are added, with None nothing is.
    """

    def __init__(
        self,
        vocab_size: int,
        embed_dim: int,
        max_seq_len: int = 512,
        pos_encoding: str | None = "learned",
        scale_embeddings: bool = False,
    ) -> None:
        raise NotImplementedError("create the parts")

    def forward(self, tokens: Tensor) -> Tensor:
        """(batch, T) or (T,) -> (..., T, embed_dim): the tokens' rows, times sqrt(embed_dim) where
        scale_embeddings is set, plus the positions.
        """
        raise NotImplementedError("put them together")

    def __call__(self, tokens: Tensor) -> Tensor:
        return self.forward(tokens)

    def parameters(self) -> list[Tensor]:
        raise NotImplementedError("what is trained: waves are not")
