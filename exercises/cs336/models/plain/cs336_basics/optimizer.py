"""The optimizer, and the schedule of its learning rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch


class AdamW(torch.optim.Optimizer):
    """Adam with decoupled weight decay. In step t = 1, 2, ..., for each parameter p with
    gradient g:

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
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move each parameter that has a gradient; returns what `closure` gives, None without
        one.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self._update(p, group)
        return loss

    def _update(self, p: torch.nn.Parameter, group: dict[str, Any]) -> None:
        """One step for one parameter, with the settings of its group."""
        state = self.state[p]
        if not state:
            state.update(t=0, m=torch.zeros_like(p), v=torch.zeros_like(p))
        state["t"] += 1
        t, m, v = state["t"], state["m"], state["v"]
        lr, (beta1, beta2) = group["lr"], group["betas"]

        m.mul_(beta1).add_(p.grad, alpha=1 - beta1)
        v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
        step_size = lr * math.sqrt(1 - beta2**t) / (1 - beta1**t)
        p.addcdiv_(m, v.sqrt().add_(group["eps"]), value=-step_size)
        p.mul_(1 - lr * group["weight_decay"])


def get_lr_cosine_schedule(
    it: int,
    max_learning_rate: float,
    min_learning_rate: float,
    warmup_iters: int,
    cosine_cycle_iters: int,
) -> float:
    """The learning rate of iteration `it`.

    Below warmup_iters it rises in a straight line from 0 towards the maximum, then it falls along
    half a cosine, which reaches the minimum at cosine_cycle_iters; after that it stays there.
    """
    if it < warmup_iters:
        return max_learning_rate * it / warmup_iters
    if it >= cosine_cycle_iters:
        return min_learning_rate
    progress = (it - warmup_iters) / (cosine_cycle_iters - warmup_iters)
    height = (1 + math.cos(math.pi * progress)) / 2
    return min_learning_rate + height * (max_learning_rate - min_learning_rate)
