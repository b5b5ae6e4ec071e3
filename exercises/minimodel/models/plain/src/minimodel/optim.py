"""Optimisers, gradient clipping and the learning-rate schedule."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from minimodel.module import Parameter


class SGD:
    """v = momentum * v + g, then p -= lr * v."""

    def __init__(self, params: Iterable[Parameter], lr: float, momentum: float = 0.0) -> None:
        self.params = list(params)
        self.lr = lr
        self.momentum = momentum
        self.velocity = [np.zeros_like(p.data) for p in self.params]

    def step(self) -> None:
        """Update every parameter that has a gradient."""
        for p, velocity in zip(self.params, self.velocity, strict=True):
            if p.grad is None:
                continue
            velocity[...] = self.momentum * velocity + p.grad
            p.data -= self.lr * velocity

    def zero_grad(self) -> None:
        """Clear the gradients of all parameters."""
        for p in self.params:
            p.grad = None


class AdamW:
    """Adam with decoupled weight decay. `lr` may be changed between steps."""

    def __init__(
        self,
        params: Iterable[Parameter],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        self.params = list(params)
        self.lr = lr
        self.betas = betas
        self.eps = eps
        self.weight_decay = weight_decay
        self.t = 0
        self.m = [np.zeros_like(p.data) for p in self.params]
        self.v = [np.zeros_like(p.data) for p in self.params]

    def step(self) -> None:
        """Update every parameter that has a gradient."""
        self.t += 1
        beta_1, beta_2 = self.betas
        for p, m, v in zip(self.params, self.m, self.v, strict=True):
            if p.grad is None:
                continue
            m[...] = beta_1 * m + (1.0 - beta_1) * p.grad
            v[...] = beta_2 * v + (1.0 - beta_2) * p.grad**2
            m_hat = m / (1.0 - beta_1**self.t)
            v_hat = v / (1.0 - beta_2**self.t)
            p.data -= self.lr * self.weight_decay * p.data
            p.data -= self.lr * m_hat / (np.sqrt(v_hat) + self.eps)

    def zero_grad(self) -> None:
        """Clear the gradients of all parameters."""
        for p in self.params:
            p.grad = None


def clip_grad_norm(params: Iterable[Parameter], max_norm: float) -> float:
    """Shorten all gradients by one factor when together they are longer than max_norm."""
    params = [p for p in params if p.grad is not None]
    norm = math.sqrt(sum(float((p.grad.astype(np.float64) ** 2).sum()) for p in params))
    if norm > max_norm:
        for p in params:
            p.grad = p.grad * float(max_norm / norm)
    return norm


def cosine_lr(step: int, *, max_lr: float, min_lr: float, warmup: int, total: int) -> float:
    """A line up to max_lr at `warmup`, half a cosine wave down to min_lr at `total`, then flat."""
    if step < warmup:
        return float(max_lr * step / warmup)
    if step >= total:
        return float(min_lr)
    progress = (step - warmup) / (total - warmup)
    return min_lr + (max_lr - min_lr) * 0.5 * (1.0 + math.cos(math.pi * progress))
