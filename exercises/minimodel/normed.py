"""What the cases of the two norms share: rows that are easy, and rows that are hard to normalise."""

import numpy as np
from pack.common import EQUAL, LONG, blank, distinct, leading, normal

VAST = {"float64": 1e25, "float32": 1e9}  # the cube of which is still a number
WIDE = 70  # rows of as many features
OFFSET = {"float64": 3e5, "float32": 300.0}  # far from 0 for the dtype, beside a spread of 1
VANISHING = {"float64": 1e-22, "float32": 1e-16}  # the square of which is still one


def width(rng, regime):
    if regime.startswith("shown"):
        return 16
    if regime == "large":
        return int(rng.integers(39, 50))
    if regime == "peaked":
        return int(rng.integers(250, 300))
    if regime == "wide_square":
        return WIDE
    if regime == "wide":
        return int(rng.integers(4_200, 5_000))
    if regime == "equal_sizes":
        return EQUAL
    return 1 if regime == "one_feature" else distinct(rng, LONG, d=(5, 13))[0]


def rows_of(rng, regime, lead, d, dtype, *, centred):
    """x: (*lead, d). centred: for a norm that takes the mean away."""
    scales = {
        "huge": 1e6,
        "great_eps": 100.0,
        "tiny": 1e-9,
        "small_eps": 1e-4,
        "least_eps": 1e-6,
        "vast": VAST[np.dtype(dtype).name],
        "vanishing": VANISHING[np.dtype(dtype).name],
    }
    x = normal(rng, (*lead, d), dtype, scales.get(regime, 1.0))
    count = max(1, x.size // d)
    each = np.arange(count).reshape(*lead, 1)
    if regime == "peaked":  # one number outweighs its row, and comes out as the root of d
        x[..., int(rng.integers(d))] += 1e4
    if regime == "normalised":  # nearly: rows as a norm leaves them are rows like any other
        x = x - x.mean(-1, keepdims=True) if centred else x
        x = x / np.sqrt((x * x).mean(-1, keepdims=True))
        x = x * (1 + 1e-4 * rng.standard_normal((*lead, 1)))
    if regime == "large":  # many numbers, and some far outside their row
        x[..., int(rng.integers(d))] *= np.where(each[..., 0] % 3 == 0, 300.0, 1.0)
    if regime == "faint":  # spreads from 1e-2 to 1e-6, row by row: below the root of eps
        x = x * (10.0 ** np.linspace(-2, -6, count)).reshape(*lead, 1)
    if regime == "spread_rows":
        x = x * (10.0 ** np.linspace(-4, 4, count)).reshape(*lead, 1)
    if regime == "constant_rows":  # whole numbers, so that their mean is exact
        level = rng.choice([-1, 1], (*lead, 1)) * rng.integers(1, 10, (*lead, 1))
        x = np.where(each % 2 == 0, level, x)
    x = blank(rng, regime, x)
    if regime == "padding":  # some rows of zeros, as a padding token gives them
        x = np.where(each % 3 == 1, 0.0, x)
    if regime == "level":  # in every row a number that is the row's mean, to the last bit
        x = rng.integers(-9, 10, x.shape).astype(float)
        x[..., -1] = (d - 1) * x[..., -2] - x[..., :-2].sum(-1)
    if regime == "offset":
        x = x + OFFSET[np.dtype(dtype).name]
    if regime == "sparse_rows":  # some numbers are exactly 0
        x = np.where(rng.random(x.shape) < 0.4, 0.0, x)
    return x.astype(dtype)


def leads(rng, regime):
    """The axes before the features."""
    return {"wide_square": (WIDE,), "wide": (2,)}.get(regime) or leading(rng, regime)


def chosen_eps(rng, regime):
    """None for the default."""
    if regime == "other_eps":
        return float(10 ** rng.uniform(-1.3, 1.3))
    if regime == "great_eps":  # beside squares of about the same size
        return float(10 ** rng.uniform(2, 5))
    if regime == "least_eps":
        return float(10 ** rng.uniform(-13, -10))
    if regime in ("no_eps", "plain"):
        return 0.0
    return float(10 ** rng.uniform(-9, -7)) if regime == "small_eps" else None


def turned(rng, T, d, dtype):
    """(T, 3, d) of numbers beside which eps counts; a row in three is 0."""
    x = normal(rng, (T, 3, d), dtype, 1e-3)
    x[:, 1] = 0.0
    return x
