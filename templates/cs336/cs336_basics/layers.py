"""Layers without position or order: they treat every vector alike."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Linear(nn.Module):
    """y = W x, without a bias.

    Attributes:
        weight: nn.Parameter (out_features, in_features), drawn from a normal distribution with variance
            2 / (in_features + out_features), cut off at three standard deviations.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        device: torch.device | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        raise NotImplementedError("create the weights of the linear layer")

    def forward(self, x: Tensor) -> Tensor:
        """(..., in_features) -> (..., out_features)."""
        raise NotImplementedError("apply the linear layer")


class Embedding(nn.Module):
    """A table of vectors, one row for each token of the vocabulary.

    Attributes:
        weight: nn.Parameter (num_embeddings, embedding_dim), drawn from a normal distribution with mean 0
            and standard deviation 1, cut off at -3 and 3.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        device: torch.device | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        raise NotImplementedError("create the embedding table")

    def forward(self, token_ids: Tensor) -> Tensor:
        """Give every id its row: integers (...,) -> (..., embedding_dim).

        Raises:
            IndexError: an id is num_embeddings or greater.
        """
        raise NotImplementedError("look up the rows of the token ids")


class RMSNorm(nn.Module):
    """y = x / sqrt(mean(x^2) + eps) * weight, with the mean over the last axis.

    Half precision is computed in float32 and given back as it came.

    Attributes:
        weight: nn.Parameter (d_model,), ones at the start.
    """

    def __init__(
        self,
        d_model: int,
        eps: float = 1e-5,
        device: torch.device | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        raise NotImplementedError("create the gain of the norm")

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) -> (..., d_model)."""
        raise NotImplementedError("normalise with the root mean square")


def silu(x: Tensor) -> Tensor:
    """x * sigmoid(x), value by value: (...,) -> (...,)."""
    raise NotImplementedError("compute the SiLU")


class SwiGLU(nn.Module):
    """w2(silu(w1 x) * w3 x): a feed-forward network with a gate.

    Attributes:
        w1, w3: Linear, d_model -> d_ff.
        w2: Linear, d_ff -> d_model.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        device: torch.device | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        raise NotImplementedError("create the three linear layers")

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) -> (..., d_model)."""
        raise NotImplementedError("apply the gated network")


def softmax(x: Tensor, dim: int) -> Tensor:
    """exp(x) / sum(exp(x)) along the axis `dim`, which sums to 1; the shape stays.

    Large values must not overflow.
    """
    raise NotImplementedError("compute the softmax")
