from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minimodel.data import batches
from minimodel.module import Module
from minimodel.nn.loss import cross_entropy
from minimodel.optim import Optimizer, clip_grad_norm
from minimodel.tensor import Array


def train_step(model: Module, x: Array, y: Array, optimizer: Optimizer, max_norm: float | None = None) -> float:
    model.zero_grad(); optimizer.zero_grad()
    loss = cross_entropy(model(x), y)
    loss.backward()
    if max_norm is not None: clip_grad_norm(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()


def train(model: Module, ids: Any, *, steps: int, batch_size: int, seq_len: int, optimizer: Optimizer, rng: np.random.Generator,
          on_step: Callable[[int, float, Module], Any] | None = None) -> list[float]:
    stream = batches(ids, batch_size, seq_len, rng=rng); losses: list[float] = []
    for step in range(steps):
        losses.append(train_step(model, *next(stream), optimizer))
        if on_step is not None: on_step(step, losses[-1], model)
    return losses
