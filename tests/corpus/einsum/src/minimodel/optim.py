from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from minimodel.module import Parameter
from minimodel.tensor import Array


class Optimizer:
    def __init__(self, params: Iterable[Parameter], lr: float) -> None:
        self.params: list[Parameter] = list(dict.fromkeys(params))  # a shared parameter moves once
        self.lr: float = lr

    def zero_grad(self) -> None:
        for p in self.params: p.grad = None

    def step(self) -> None: raise NotImplementedError


class SGD(Optimizer):
    """v = mu v + g;  w -= lr v"""

    def __init__(self, params: Iterable[Parameter], lr: float, momentum: float = 0.0) -> None:
        super().__init__(params, lr)
        self.momentum = momentum
        self.v: list[Array | float] = [0.0 for _ in self.params]

    def step(self) -> None:
        lr, mu = float(self.lr), float(self.momentum)
        for j, p in enumerate(self.params):
            if p.grad is None: continue
            self.v[j] = mu * self.v[j] + p.grad
            p.data -= lr * self.v[j]


class AdamW(Optimizer):
    """m, v: running means of g and g^2, divided by 1 - beta^t;  w -= lr (mhat / (sqrt(vhat) + eps) + wd w)"""

    def __init__(self, params: Iterable[Parameter], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0.01) -> None:
        super().__init__(params, lr)
        self.betas, self.eps, self.weight_decay = betas, eps, weight_decay
        self.t = 0
        self.m: list[Array | float] = [0.0 for _ in self.params]
        self.v: list[Array | float] = [0.0 for _ in self.params]

    def step(self) -> None:
        self.t += 1
        lr, eps, wd, (b1, b2) = float(self.lr), float(self.eps), float(self.weight_decay), map(float, self.betas)
        for j, p in enumerate(self.params):
            if p.grad is None: continue
            g = p.grad
            self.m[j] = b1 * self.m[j] + (1 - b1) * g
            self.v[j] = b2 * self.v[j] + (1 - b2) * np.einsum("...,...->...", g, g)
            mh, vh = self.m[j] / (1 - b1 ** self.t), self.v[j] / (1 - b2 ** self.t)
            p.data -= lr * (mh / (np.sqrt(vh) + eps) + wd * p.data)


def clip_grad_norm(params: Iterable[Parameter], max_norm: float) -> float:
    live = [p for p in dict.fromkeys(params) if p.grad is not None]
    G = [p.grad.astype(np.float64).ravel() for p in live]
    norm = math.sqrt(sum(float(np.einsum("i,i->", g, g)) for g in G))
    if norm > max_norm:
        k = float(max_norm) / norm
        for p in live: p.grad = np.asarray(p.grad * k)
    return norm


def cosine_lr(step: int, *, max_lr: float, min_lr: float, warmup: int, total: int) -> float:
    if not 0 <= warmup < total: raise ValueError(f"need 0 <= warmup < total, got warmup {warmup}, total {total}")
    if step < warmup: return float(max_lr * step / warmup)
    if step >= total: return float(min_lr)
    return float(min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))))
