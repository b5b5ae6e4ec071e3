"""Batches for training."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor


def get_batch(
    dataset: Any, batch_size: int, context_length: int, device: str
) -> tuple[Tensor, Tensor]:
    """Sequences from random places of a text, and what follows each of their tokens.

    dataset: a NumPy array of token ids, (n,). Each possible start is equally likely, the last one
    included.
    Returns inputs and targets, both integers (batch_size, context_length) on `device`; the targets
    are the inputs one place on.
    """
    starts = torch.randint(len(dataset) - context_length, (batch_size, 1)).numpy()
    places = starts + np.arange(context_length)

    def take(places: np.ndarray) -> Tensor:
        return torch.from_numpy(np.asarray(dataset[places], dtype=np.int64)).to(device)

    return take(places), take(places + 1)
