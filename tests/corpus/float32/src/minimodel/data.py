"""Training windows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.integer]


def batches(
    ids: Ids, batch_size: int, seq_len: int, *, rng: np.random.Generator
) -> Iterator[tuple[Ids, Ids]]:
    """Draw random windows without end.

    Parameters
    ----------
    ids : ndarray of int, shape (n,)
        The text.
    batch_size, seq_len : int
        Shape of a batch.
    rng : numpy.random.Generator
        Draws the starts, all legal ones equally likely.

    Returns
    -------
    iterator
        Yields (x, y), each (batch_size, seq_len), y one token later than x.

    Raises
    ------
    ValueError
        At once, if there are fewer than seq_len + 1 ids.
    """
    text = np.asarray(ids)
    if text.ndim != 1:
        raise ValueError(f"ids must have one axis, got shape {text.shape}")
    n_starts = text.size - seq_len
    if n_starts < 1:
        raise ValueError(
            f"{text.size} ids are too few: seq_len = {seq_len} needs at "
            f"least {seq_len + 1}"
        )

    def draw() -> Iterator[tuple[Ids, Ids]]:
        window = np.arange(seq_len)
        while True:
            places = rng.integers(n_starts, size=(batch_size, 1)) + window
            yield text[places], text[places + 1]

    return draw()
