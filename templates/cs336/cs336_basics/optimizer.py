"""The optimizer, and the schedule of its learning rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch


class AdamW(torch.optim.Optimizer):
    """Adam with decoupled weight decay. In step t = 1, 2, ..., for each parameter p with gradient g:

        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g^2
        p = p - lr * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + eps)
        p = p - lr * weight_decay * p

    t, m and v are kept in `self.state[p]`, so that a checkpoint holds them.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        raise NotImplementedError("hand the parameters and defaults to torch.optim.Optimizer")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move each parameter that has a gradient; returns what `closure` gives, None without one."""
        raise NotImplementedError("take one step of AdamW")


def get_lr_cosine_schedule(
    it: int,
    max_learning_rate: float,
    min_learning_rate: float,
    warmup_iters: int,
    cosine_cycle_iters: int,
) -> float:
    """The learning rate of iteration `it`.

    Below warmup_iters it rises in a straight line from 0 towards the maximum, then it falls along half a
    cosine, which reaches the minimum at cosine_cycle_iters; after that it stays there.
    """
    raise NotImplementedError("compute the learning rate")
