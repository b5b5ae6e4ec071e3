"""Batches of training examples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def batches(
    ids: np.ndarray, batch_size: int, seq_len: int, *, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Endless (x, y), each (batch_size, seq_len); y holds the token after each of x."""
    ids = np.asarray(ids)
    starts = len(ids) - seq_len  # a window takes seq_len ids, and its last target one more
    if starts < 1:
        raise ValueError(f"{len(ids)} ids are too few for windows of {seq_len} and a target")
    return _windows(ids, batch_size, seq_len, starts, rng)


def _windows(
    ids: np.ndarray, batch_size: int, seq_len: int, starts: int, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    places = np.arange(seq_len)
    while True:
        start = rng.integers(0, starts, size=batch_size)
        at = start[:, None] + places  # (batch_size, seq_len)
        x = ids[at]
        y = ids[at + 1]
        yield x, y
