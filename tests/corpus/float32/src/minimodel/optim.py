"""Optimisers, gradient clipping and the learning-rate schedule.

Hyperparameters pass through `float` wherever they meet an array: Python
floats adapt to float32, NumPy's own float64 scalars do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from .tensor import Array, Tensor

Update = Callable[[Array, Array], Array]


def _unique(params: Iterable[Tensor]) -> list[Tensor]:
    return list({id(p): p for p in params}.values())


def _make_step(
    params: list[Tensor], updates: list[Update]
) -> Callable[[], None]:
    """Close over parameters and their update rules, (p, g) -> new p."""

    def step() -> None:
        for p, update in zip(params, updates, strict=True):
            if p.grad is not None:
                g = np.asarray(p.grad, dtype=p.dtype)
                p.data = np.asarray(update(p.data, g))

    return step


def _make_zero_grad(params: list[Tensor]) -> Callable[[], None]:
    def zero_grad() -> None:
        for p in params:
            p.grad = None

    return zero_grad


class SGD:
    """Stochastic gradient descent.

    Parameters
    ----------
    params : iterable of Tensor
        What to train.  Parameters without a gradient are left alone.
    lr : float
        Learning rate.
    momentum : float, default 0.0
        ``v = momentum * v + g`` and ``p -= lr * v``.

    Attributes
    ----------
    lr : float
        May be changed between steps.
    step, zero_grad : callable
        Take a step; set all gradients to None.
    """

    def __init__(
        self, params: Iterable[Tensor], lr: float, momentum: float = 0.0
    ) -> None:
        self.params = _unique(params)
        self.lr = lr
        mu = float(momentum)

        def make_update(like: Array) -> Update:
            velocity = np.zeros_like(like)

            def update(p: Array, g: Array) -> Array:
                nonlocal velocity
                velocity = mu * velocity + g
                return p - float(self.lr) * velocity

            return update

        self.step = _make_step(
            self.params, [make_update(p.data) for p in self.params]
        )
        self.zero_grad = _make_zero_grad(self.params)


class AdamW:
    """Adam with decoupled weight decay.

    Parameters
    ----------
    params : iterable of Tensor
        What to train.  Parameters without a gradient are left alone, their
        step counts included.
    lr : float, default 1e-3
        Learning rate.
    betas : tuple of float, default (0.9, 0.999)
        Decay of the two averages.
    eps : float, default 1e-8
        Added to the root.
    weight_decay : float, default 0.01
        Shrinks parameters by ``lr * weight_decay`` per step, past the
        averages.

    Attributes
    ----------
    lr : float
        May be changed between steps.
    step, zero_grad : callable
        Take a step; set all gradients to None.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        self.params = _unique(params)
        self.lr = lr
        b1, b2 = (float(beta) for beta in betas)
        eps, decay = float(eps), float(weight_decay)

        def make_update(like: Array) -> Update:
            t = 0
            m, v = np.zeros_like(like), np.zeros_like(like)

            def update(p: Array, g: Array) -> Array:
                nonlocal t, m, v
                t += 1
                m = b1 * m + (1 - b1) * g
                v = b2 * v + (1 - b2) * g * g
                rate = float(self.lr)
                root = np.sqrt(v / (1 - b2**t)) + eps
                return (1 - rate * decay) * p - rate * (m / (1 - b1**t) / root)

            return update

        self.step = _make_step(
            self.params, [make_update(p.data) for p in self.params]
        )
        self.zero_grad = _make_zero_grad(self.params)


def clip_grad_norm(params: Iterable[Tensor], max_norm: float) -> float:
    """Scale all gradients by one factor so that their norm fits.

    Parameters
    ----------
    params : iterable of Tensor
        Whose gradients; those that have none do not count.
    max_norm : float
        Largest norm of all gradients taken together.

    Returns
    -------
    float
        The norm before scaling.
    """
    found = [(p, p.grad) for p in _unique(params) if p.grad is not None]
    # Squares of float32 overflow at 1e19; the sum is a Python float anyway.
    total = 0.0
    for _, g in found:
        total += float(np.square(g, dtype=np.float64).sum())
    norm = math.sqrt(total)
    if norm > max_norm:
        factor = float(max_norm) / norm
        for p, g in found:
            p.grad = np.asarray(g * factor)
    return norm


def cosine_lr(
    step: int, *, max_lr: float, min_lr: float, warmup: int, total: int
) -> float:
    """Linear warm-up followed by half a cosine.

    Parameters
    ----------
    step : int
        Counted from 0, where a warm-up starts with 0.
    max_lr, min_lr : float
        Rates at `warmup` and from `total` on.
    warmup, total : int
        Steps, warmup < total.

    Returns
    -------
    float
        The rate.

    Raises
    ------
    ValueError
        If `warmup` is not less than `total`.
    """
    if warmup >= total:
        raise ValueError(
            f"warmup = {warmup} must be less than total = {total}"
        )
    if step < warmup:
        return float(max_lr * (step / warmup))
    if step >= total:
        return float(min_lr)
    share = 0.5 + 0.5 * math.cos(math.pi * (step - warmup) / (total - warmup))
    return float(max_lr * share + min_lr * (1 - share))
