"""What the cases of this pack share: sizes that no test of the course has, and arrays of them."""

from __future__ import annotations

import numpy as np

LARGEST = 70_001  # numbers that most code goes through in no time
EQUAL = 6  # of every axis in the regime "equal_sizes": no axis can be told by its length


def distinct(rng, largest=LARGEST, **ranges):
    """Sizes from inclusive ranges, pairwise different, in the order given."""
    while True:
        sizes = [int(rng.integers(low, high + 1)) for low, high in ranges.values()]
        if len(set(sizes)) == len(sizes):
            return rng.leaning(sizes, largest=largest)


def normal(rng, shape, dtype, scale=1.0):
    """Normal values of standard deviation `scale`, in the learner's dtype."""
    return np.asarray(scale * rng.standard_normal(shape), dtype)


def leading(rng, regime):
    """The axes before the last: batch and sequence, as the course's tests have them, or those of a regime."""
    fixed = {"no_batch": (), "large": (3, 37), "equal_sizes": (EQUAL, EQUAL), "single": (1, 1)}
    if regime in fixed:
        return fixed[regime]
    if regime == "one_axis":
        return (int(rng.integers(3, 8)),)
    if regime == "deep":
        return (2, 3, int(rng.integers(4, 6)))
    return int(rng.integers(2, 4)), int(rng.integers(4, 6))
