"""The loss, and the clipping of gradients."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean of -log softmax(logits)[target].

    logits: (..., vocab_size), targets: integers (...,) -> a scalar. Large logits must not overflow.
    """
    # Shifted so that the largest is 0, differences between large logits stay exact.
    logits = logits - logits.detach().amax(dim=-1, keepdim=True)
    chosen = logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return (logits.logsumexp(dim=-1) - chosen).mean()


@torch.no_grad()
def clip_gradients(
    parameters: Iterable[nn.Parameter], max_l2_norm: float, eps: float = 1e-6
) -> None:
    """Where the norm of all gradients together is above max_l2_norm, multiply each, in place, by
    max_l2_norm / (norm + eps). Parameters without a gradient are left out.
    """
    gradients = [p.grad for p in parameters if p.grad is not None]
    if not gradients:
        return
    norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
    if norm > max_l2_norm:
        for gradient in gradients:
            gradient.mul_(max_l2_norm / (norm + eps))
