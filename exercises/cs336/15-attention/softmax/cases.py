"""Inputs for the softmax."""

import numpy as np
from pack.draws import EQUAL, distinct, normal

DIMS = {"dim_0": 0, "dim_1": 1, "dim_minus_2": -2, "dim_minus_3": -3, "last_by_number": 2}


def forward(rng, regime, dtype):
    a, b, c, d = distinct(rng, a=(2, 8), b=(2, 8), c=(3, 8), d=(3, 8))
    shapes = {
        "vector": (d,),
        "three_axes": (a, b, c),
        "four_axes": (2, a, b, c),
        "square": (EQUAL, EQUAL),
        "cube": (EQUAL, EQUAL, EQUAL),
        "one_class": (b, 1),
        "large": (3, 37, 301),
    }
    shape = (a, b, c) if regime in DIMS else shapes.get(regime, (b, c))
    x = normal(rng, shape, dtype, 2.0)
    if regime == "around_100":
        x = x / 4 + np.asarray(100.0, dtype)
    if regime == "far_below":
        x = x - np.asarray(300.0, dtype)
    if regime == "far_apart":  # whole numbers, which float32 keeps
        x = np.asarray(rng.permuted(np.tile(np.arange(shape[-1]) * 400.0, (b, 1)), axis=1), dtype)
    if regime == "rows_apart":  # one maximum for all of them leaves zeros of most
        x = x + np.asarray(400.0 * np.arange(len(x)), dtype)[:, None]
    if regime == "masked":
        x[..., ::2] = -np.inf
    if regime == "one_high":  # in each row one score is beyond where float32 has an exponential
        where = rng.integers(0, c, (b, 1))
        np.put_along_axis(x, where, np.asarray(rng.uniform(150, 900, (b, 1)), dtype), -1)
    return {"x": x, "dim": DIMS.get(regime, -1)}


def gradients(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    return {**drawn, "grad": normal(rng, drawn["x"].shape, dtype)}


def made(rng, regime, dtype):
    return forward(rng, regime, dtype)


def kept(rng, regime, dtype):
    return forward(rng, regime, dtype)


def hot(rng, regime, dtype):
    """16 rows of 16 scores, in one of which a score is high, or all are low."""
    rows, classes = (16, 16) if regime.startswith("shown") else (int(rng.integers(4, 9)), 11)
    x = normal(rng, (rows, classes), dtype)
    if regime in ("low", "shown_low"):
        x[3] -= 1000.0
    else:
        x[3, 0] = 800.0
    return {"x": x}


def sweep(rng, regime, dtype):
    levels = np.arange(0.0, 1001.0, 10.0) if regime == "shown" else rng.uniform(0, 3000, 12)
    if regime == "shown_fine":
        levels = np.arange(80.0, 101.0)
    return {"classes": 16, "levels": levels}
