"""What the cases of optimisers share: parameters of several shapes, and gradients for them."""

from __future__ import annotations

import numpy as np
from pack.common import LONG, distinct, leaning, normal


def shapes_of(rng, regime):
    """A matrix w, a vector b and a parameter k of three axes."""
    n, m, r = distinct(rng, LONG, n=(3, 6), m=(3, 6), r=(3, 7))
    if regime == "large":
        return {"w": (41, 53), "b": (1100,), "k": (67, 1, 3)}
    if regime == "single":
        return {"w": (1, 1), "b": (1,), "k": (1, 1, 1)}
    if regime == "long":
        return {"w": (3, 1), "b": (1,), "k": (1, 1, 3)}
    return {"w": (n, m), "b": (m,), "k": (r, 1, 3)}


FIXED = {"one_step": 1, "decay_first": 1, "long": 150, "hundreds": 450}


def count_of(rng, regime):
    """How many steps."""
    if regime in FIXED:
        return FIXED[regime]
    return leaning(rng, [int(rng.integers(3, 7))], largest=20_000)[0]


def spread(shape, dtype):
    """Factors that set each row some orders of magnitude above the one before."""
    return (10.0 ** np.linspace(-7, 5, shape[0])).reshape(-1, *[1] * (len(shape) - 1)).astype(dtype)


CROWD = 600  # parameters, at most


def how_many(rng):
    """How many parameters there are where there are many."""
    return leaning(rng, [int(np.exp(rng.uniform(*np.log([18, 150]))))], largest=CROWD)[0]


def few(rng, regime, T, dtype):
    """A parameter and T gradients."""
    n, m = distinct(rng, LONG, n=(3, 6), m=(3, 6))
    shape = (n,) if regime == "vector" else (n, m)
    return normal(rng, shape, dtype), normal(rng, (T, *shape), dtype)
