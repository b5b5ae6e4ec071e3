"""The training loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .data import batches
from .module import Module
from .nn.loss import cross_entropy
from .optim import SGD, AdamW, clip_grad_norm


def train_step(
    model: Module,
    x: NDArray[np.integer],
    y: NDArray[np.integer],
    optimizer: SGD | AdamW,
    max_norm: float | None = None,
) -> float:
    """Learn from one batch.

    Parameters
    ----------
    model : Module
        Maps ids to logits.
    x, y : ndarray of int, shape (..., T)
        Inputs and targets.
    optimizer : SGD or AdamW
        Of the model's parameters.
    max_norm : float, optional
        Clip the gradients to this norm.

    Returns
    -------
    float
        The loss before the step.
    """
    model.zero_grad()
    optimizer.zero_grad()
    loss = cross_entropy(model(x), y)
    loss.backward()
    if max_norm is not None:
        clip_grad_norm(model.parameters(), max_norm)
    optimizer.step()
    return float(loss)


def train(
    model: Module,
    ids: NDArray[np.integer],
    *,
    steps: int,
    batch_size: int,
    seq_len: int,
    optimizer: SGD | AdamW,
    rng: np.random.Generator,
    on_step: Callable[[int, float, Module], object] | None = None,
) -> list[float]:
    """Learn from random windows of a text.

    Parameters
    ----------
    model : Module
        Maps ids to logits.
    ids : ndarray of int, shape (n,)
        The text.
    steps : int
        Number of batches.
    batch_size, seq_len : int
        Shape of a batch.
    optimizer : SGD or AdamW
        Of the model's parameters.
    rng : numpy.random.Generator
        Draws the windows.
    on_step : callable, optional
        ``on_step(step, loss, model)`` after every step, counted from 0.

    Returns
    -------
    list of float
        One loss per step.
    """
    source = batches(ids, batch_size, seq_len, rng=rng)
    losses: list[float] = []
    for step in range(steps):
        x, y = next(source)
        losses.append(train_step(model, x, y, optimizer))
        if on_step is not None:
            on_step(step, losses[-1], model)
    return losses
