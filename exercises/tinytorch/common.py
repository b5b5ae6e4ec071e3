"""What the pack's cases share: sizes that nobody has shown, and float32 arrays. Ids fit in float32."""

import numpy as np

SHOWN = {512, 256, 16, 8, 2}  # sizes of the "shown" regime; no other draw uses a V, d or T of these
EQUAL = 6  # of every axis in the regime "equal_sizes"


def leaning(rng, sizes, **limit):
    """Sizes, one of them near a number that the code under test mentions, where the draw wants that."""
    return rng.leaning(sizes, **limit) if hasattr(rng, "leaning") else sizes


def distinct(rng, **ranges):
    """Sizes from inclusive ranges, pairwise different and none of SHOWN, in the order given."""
    while True:
        sizes = [int(rng.integers(low, high + 1)) for low, high in ranges.values()]
        if len(set(sizes)) == len(sizes) and not SHOWN & set(sizes):
            return leaning(rng, sizes)


def normal(rng, shape, dtype, scale=1.0):
    """Normal values of standard deviation `scale`."""
    return np.asarray(scale * rng.standard_normal(shape), dtype)


def one_hot(ids, n):
    """ids (...) -> (..., n): 1 where the last axis is at the id."""
    return (np.asarray(ids)[..., None] == np.arange(n)).astype(np.float64)
