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
    return {"x": x, "dim": DIMS.get(regime, -1)}


def gradients(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    return {**drawn, "grad": normal(rng, drawn["x"].shape, dtype)}


def made(rng, regime, dtype):
    return forward(rng, regime, dtype)


def kept(rng, regime, dtype):
    return forward(rng, regime, dtype)
