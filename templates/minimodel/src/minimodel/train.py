"""Training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from minimodel.module import Module
from minimodel.optim import SGD, AdamW


def train_step(
    model: Module,
    x: np.ndarray,
    y: np.ndarray,
    optimizer: SGD | AdamW,
    max_norm: float | None = None,
) -> float:
    """One update of the model on the batch x, y of token ids (..., T); return the loss before it.

    In this order: zero the gradients, forward, cross-entropy loss, backward, clip, step. Without
    `max_norm` nothing is clipped.
    """
    raise NotImplementedError("do one training step")


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
    """Train on random batches of `ids` and return the loss of each of the `steps` steps.

    After each step, `on_step(step, loss, model)` is called when it was given; step counts from 0.
    """
    raise NotImplementedError("train for a number of steps")
