from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from minimodel.tensor import Array


def batches(ids: Any, batch_size: int, seq_len: int, *, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    """Endless random windows. Checked here and not in the generator, which would only complain at the first next()."""
    ids = np.array(ids)
    if ids.ndim != 1: raise ValueError(f"ids must be one sequence, got shape {ids.shape}")
    if (n := len(ids) - seq_len) < 1: raise ValueError(f"{len(ids)} ids are too few for seq_len {seq_len}, need at least {seq_len + 1}")

    def draw() -> Iterator[tuple[Array, Array]]:
        while True:
            W = np.add.outer(rng.integers(0, n, size=batch_size), np.arange(seq_len))  # starts 0 .. n-1, all legal
            yield ids[W], ids[W + 1]

    return draw()
