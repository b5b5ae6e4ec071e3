"""Training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from minimodel.data import batches
from minimodel.module import Module
from minimodel.nn.loss import cross_entropy
from minimodel.optim import SGD, AdamW, clip_grad_norm


def train_step(
    model: Module,
    x: np.ndarray,
    y: np.ndarray,
    optimizer: SGD | AdamW,
    max_norm: float | None = None,
) -> float:
    """One update on the batch x, y; the loss before it."""
    optimizer.zero_grad()
    logits = model(x)
    loss = cross_entropy(logits, y)
    loss.backward()
    if max_norm is not None:
        clip_grad_norm(model.parameters(), max_norm)
    optimizer.step()
    return float(loss.data)


def train(
    model: Module,
    ids: np.ndarray,
    *,
    steps: int,
    batch_size: int,
    seq_len: int,
    optimizer: SGD | AdamW,
    rng: np.random.Generator,
    on_step: Callable[[int, float, Module], object] | None = None,
) -> list[float]:
    """The loss of each of `steps` steps on random batches of `ids`."""
    stream = batches(ids, batch_size, seq_len, rng=rng)
    losses: list[float] = []
    for step in range(steps):
        x, y = next(stream)
        loss = train_step(model, x, y, optimizer)
        losses.append(loss)
        if on_step is not None:
            on_step(step, loss, model)
    return losses
