"""The loss, and the clipping of gradients."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor, nn


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean of -log softmax(logits)[target].

    logits: (..., vocab_size), targets: integers (...,) -> a scalar. Large logits must not overflow.
    """
    raise NotImplementedError("compute the cross-entropy")


def clip_gradients(
    parameters: Iterable[nn.Parameter], max_l2_norm: float, eps: float = 1e-6
) -> None:
    """Where the norm of all gradients together is above max_l2_norm, multiply each, in place, by
    max_l2_norm / (norm + eps). Parameters without a gradient are left out.
    """
    raise NotImplementedError("clip the gradients")
