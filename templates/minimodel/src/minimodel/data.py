"""Batches of training examples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def batches(
    ids: np.ndarray, batch_size: int, seq_len: int, *, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Random pieces of a long sequence of ids, without end: pairs (x, y), each (batch_size, seq_len).

    A row of x is a piece of `ids`; the same row of y is the piece one place further on, so y holds
    the next token for every place of x. The starts are drawn with `rng`, and every start that leaves
    room for both can be drawn, the first and the last included.

    Raises:
        ValueError: there are fewer than seq_len + 1 ids.
    """
    raise NotImplementedError("draw random pieces of the sequence")
