"""The working precision, and how parameters get their first values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

#: Precision of every parameter and of every number that arrives untyped.
FLOAT: np.dtype[np.float32] = np.dtype(np.float32)


def normal(
    rng: np.random.Generator | None,
) -> Callable[[tuple[int, ...], float], NDArray[np.float32]]:
    """Return a drawer of normal float32 arrays.

    Parameters
    ----------
    rng : numpy.random.Generator or None
        Source of randomness; a fresh unseeded one when None.

    Returns
    -------
    callable
        ``draw(shape, std)``, N(0, std) in float32.
    """
    source = np.random.default_rng() if rng is None else rng

    def draw(shape: tuple[int, ...], std: float) -> NDArray[np.float32]:
        sample = source.standard_normal(shape, dtype=np.float32)
        # float(): an np.float64 scalar would promote the whole array.
        return sample * float(std)

    return draw
