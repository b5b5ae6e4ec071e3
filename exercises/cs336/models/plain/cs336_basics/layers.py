"""Layers without position or order: they treat every vector alike."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def truncated_normal(
    rows: int, columns: int, std: float, device: torch.device | None, dtype: torch.dtype | None
) -> nn.Parameter:
    """A weight (rows, columns) with mean 0, cut off at three standard deviations."""
    weight = nn.Parameter(torch.empty(rows, columns, device=device, dtype=dtype))
    nn.init.trunc_normal_(weight, std=std, a=-3 * std, b=3 * std)
    return weight


class Linear(nn.Module):
    """y = W x, without a bias.

    Attributes:
        weight: nn.Parameter (out_features, in_features), drawn from a normal distribution with
            variance 2 / (in_features + out_features), cut off at three standard deviations.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        device: torch.device | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        std = (2 / (in_features + out_features)) ** 0.5
        self.weight = truncated_normal(out_features, in_features, std, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        """(..., in_features) -> (..., out_features)."""
        return x @ self.weight.T


class Embedding(nn.Module):
    """A table of vectors, one row for each token of the vocabulary.

    Attributes:
        weight: nn.Parameter (num_embeddings, embedding_dim), drawn from a normal distribution with
            mean 0 and standard deviation 1, cut off at -3 and 3.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        device: torch.device | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.weight = truncated_normal(num_embeddings, embedding_dim, 1.0, device, dtype)

    def forward(self, token_ids: Tensor) -> Tensor:
        """Give every id its row: integers (...,) -> (..., embedding_dim).

        Raises:
            IndexError: an id is num_embeddings or greater.
        """
        # Unlike self.weight[token_ids], index_select does not count negative ids from the end.
        rows = self.weight.index_select(0, token_ids.flatten())
        return rows.view(*token_ids.shape, self.weight.shape[1])


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
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model, device=device, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) -> (..., d_model)."""
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        inverse_rms = torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + self.eps)
        return (wide * inverse_rms * self.weight).to(x.dtype)


def silu(x: Tensor) -> Tensor:
    """x * sigmoid(x), value by value: (...,) -> (...,)."""
    return x * torch.sigmoid(x)


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
        self.w1 = Linear(d_model, d_ff, device, dtype)
        self.w2 = Linear(d_ff, d_model, device, dtype)
        self.w3 = Linear(d_model, d_ff, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) -> (..., d_model)."""
        return self.w2(silu(self.w1(x)) * self.w3(x))


def softmax(x: Tensor, dim: int) -> Tensor:
    """exp(x) / sum(exp(x)) along the axis `dim`, which sums to 1; the shape stays.

    Large values must not overflow.
    """
    # The largest value becomes 0, which changes no quotient, and so no gradient.
    exps = torch.exp(x - x.detach().amax(dim=dim, keepdim=True))
    return exps / exps.sum(dim=dim, keepdim=True)
