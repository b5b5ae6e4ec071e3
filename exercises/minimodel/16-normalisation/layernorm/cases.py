"""Inputs for LayerNorm's probes: rows that are easy, and rows that are nearly or wholly constant."""

import numpy as np
from pack.common import EQUAL, LONG, blank, distinct, leading, normal, varied

VAST = {"float64": 1e25, "float32": 1e9}  # the cube of which is still a number
WIDE = 70  # rows of as many features
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
    if regime == "equal_sizes":
        return EQUAL
    return 1 if regime == "one_feature" else distinct(rng, LONG, d=(5, 13))[0]


def rows_of(rng, regime, lead, d, dtype):
    """x: (*lead, d)."""
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
        x = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)
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
    if regime == "sparse_rows":  # some numbers are exactly 0
        x = np.where(rng.random(x.shape) < 0.4, 0.0, x)
    return x.astype(dtype)


def chosen_eps(rng, regime):
    """None for the default."""
    if regime == "other_eps":
        return float(10 ** rng.uniform(-1.3, 1.3))
    if regime == "great_eps":  # beside squares of about the same size
        return float(10 ** rng.uniform(2, 5))
    if regime == "least_eps":
        return float(10 ** rng.uniform(-13, -10))
    if regime == "no_eps":
        return 0.0
    return float(10 ** rng.uniform(-9, -7)) if regime == "small_eps" else None


@varied
def forward(rng, regime, dtype):
    d = width(rng, regime)
    lead = (WIDE,) if regime == "wide_square" else leading(rng, regime)
    return {
        "x": rows_of(rng, regime, lead, d, dtype),
        "gain": normal(rng, (d,), dtype),
        "bias": normal(rng, (d,), dtype),
        "eps": chosen_eps(rng, regime),
        "grad": normal(rng, (*lead, d), dtype),
    }


def start(rng, regime, dtype):
    return {"d": width(rng, regime)}


def residual(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    del drawn["eps"]
    return drawn


def arrives(rng, regime, dtype):
    return residual(rng, regime, dtype)


def turned(rng, T, d, dtype):
    """(T, 3, d) of numbers beside which eps counts; a row in three is 0."""
    x = normal(rng, (T, 3, d), dtype, 1e-3)
    x[:, 1] = 0.0
    return x


def again(rng, regime, dtype):
    d = width(rng, regime)
    T, S = distinct(rng, T=(3, 4), S=(3, 5))
    return {
        "x": normal(rng, (T, d), dtype),
        "other": normal(rng, (3, S, d), dtype, 4.0),
        "gain": normal(rng, (d,), dtype),
        "bias": normal(rng, (d,), dtype),
        "new_gain": normal(rng, (d,), dtype),
        "new_bias": normal(rng, (d,), dtype),
        "turned": turned(rng, T, d, dtype),
        "grad": normal(rng, (T, d), dtype),
        "other_grad": normal(rng, (3, S, d), dtype),
    }


def step(rng, regime, dtype):
    """A batch (B, T, d) whose sequences end in padding; the loss leaves the padding out."""
    d = width(rng, regime)
    B, T = (2, 8) if regime.startswith("shown") else (3, 4)
    length = np.full(B, T)
    length[-1] = T - 3  # three rows of padding, at the end of the last sequence
    padding = np.arange(T) >= length[:, None]  # (B, T)
    x = np.where(padding[..., None], 0.0, rng.standard_normal((B, T, d)))
    grad = np.where(padding[..., None], 0.0, rng.standard_normal((B, T, d)))
    return {"x": x.astype(dtype), "grad": grad.astype(dtype), "lr": 0.1}


def spreads(rng, regime, dtype):
    """One row at falling spreads; and a row of which every other number differs in the last bit."""
    d = width(rng, regime)
    row = rng.standard_normal(d)
    row = (row - row.mean()) / row.std()
    scale = 10.0 ** -np.arange(13.0) if regime == "shown" else 10.0 ** rng.uniform(-6, 1, 5)
    last_bit = np.full(d, 0.3, dtype)
    last_bit[::2] = np.nextafter(last_bit[0], last_bit.dtype.type(1))
    return {"x": (scale[:, None] * row).astype(dtype), "last_bit": last_bit}


def positions(rng, regime, dtype):
    """A sequence (T, d), and another vector for its last position."""
    T, d = (8, 16) if regime.startswith("shown") else distinct(rng, T=(3, 7), d=(5, 13))
    return {"x": normal(rng, (T, d), dtype), "last": normal(rng, (d,), dtype)}


def prefixes(rng, regime, dtype):
    return {"x": positions(rng, regime, dtype)["x"]}


def widths(rng, regime, dtype):
    """Rows as wide as the widest norm; each norm gets as many features as it takes."""
    if regime == "shown":
        chosen = [4, 8, 16, 32, 64, 128, 256, 512, 768]
    else:
        chosen = [3, *distinct(rng, d=(5, 13), e=(20, 40)), 100]
    x = normal(rng, (8, max(chosen)), dtype)
    return {"x": x, "widths": np.array(chosen)}


def alone(rng, regime, dtype):
    """T positions of a single feature (T, 1), and a bias."""
    T = 8 if regime == "shown" else distinct(rng, T=(3, 7))[0]
    return {"x": normal(rng, (T, 1), dtype), "bias": normal(rng, (1,), dtype)}


def beside(rng, regime, dtype):
    """Small numbers, so that eps counts."""
    drawn = forward(rng, "normal", dtype)
    del drawn["grad"]
    drawn["x"] = (0.1 * drawn["x"]).astype(dtype)
    return {**drawn, "eps": 0.01, "other_eps": float(rng.uniform(0.1, 0.5))}
