"""Optimisers, gradient clipping and the learning-rate schedule."""

from __future__ import annotations

from collections.abc import Iterable

from minimodel.module import Parameter


class SGD:
    """Gradient descent with momentum. For each parameter p with gradient g and velocity v (0 at first):

        v = momentum * v + g
        p = p - lr * v

    Attributes:
        lr: the learning rate; may be changed between steps.
    """

    def __init__(self, params: Iterable[Parameter], lr: float, momentum: float = 0.0) -> None:
        raise NotImplementedError("keep the parameters and settings")

    def step(self) -> None:
        """Update every parameter from its gradient."""
        raise NotImplementedError("take one SGD step")

    def zero_grad(self) -> None:
        """Clear the gradients of all parameters."""
        raise NotImplementedError("clear the gradients")


class AdamW:
    """Adam with decoupled weight decay. For each parameter p with gradient g, at step t = 1, 2, ...:

        m = beta_1 * m + (1 - beta_1) * g           m_hat = m / (1 - beta_1^t)
        v = beta_2 * v + (1 - beta_2) * g^2         v_hat = v / (1 - beta_2^t)
        p = p - lr * weight_decay * p - lr * m_hat / (sqrt(v_hat) + eps)

    where the p in the decay is the value before the step. The decay never enters m or v.

    Attributes:
        lr: the learning rate; may be changed between steps.
    """

    def __init__(
        self,
        params: Iterable[Parameter],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        raise NotImplementedError("keep the parameters and settings")

    def step(self) -> None:
        """Update every parameter from its gradient."""
        raise NotImplementedError("take one AdamW step")

    def zero_grad(self) -> None:
        """Clear the gradients of all parameters."""
        raise NotImplementedError("clear the gradients")


def clip_grad_norm(params: Iterable[Parameter], max_norm: float) -> float:
    """Shorten the gradients when they are longer than `max_norm`; return their length before that.

    The length is the norm of all gradients taken together as one long vector. All of them are
    multiplied by the same factor, so the direction stays. Gradients that are short enough stay as
    they are.
    """
    raise NotImplementedError("measure and clip the global norm")


def cosine_lr(step: int, *, max_lr: float, min_lr: float, warmup: int, total: int) -> float:
    """The learning rate at `step`, with warmup < total:

    from 0 to warmup      a straight line, from 0 up to max_lr
    from warmup to total  half a cosine wave, from max_lr down to min_lr
    after total           min_lr
    """
    raise NotImplementedError("compute the scheduled learning rate")
