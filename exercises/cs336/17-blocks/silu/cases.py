"""Inputs for the SiLU."""

import numpy as np
from pack.draws import leading, normal

VALUES = {
    "zero": [0.0, -0.0, 0.0],
    "far": [-80.0, -30.0, -20.0, 20.0, 30.0, 80.0],
    "huge": [-1e4, -1e3, -90.0, 90.0, 1e3, 1e4],
}


def forward(rng, regime, dtype):
    if regime in VALUES:
        return {"x": np.asarray(VALUES[regime], dtype)}
    if regime == "scalar":
        return {"x": normal(rng, (), dtype)}
    scale = {"wide": 5.0, "near_zero": 1e-4}.get(regime, 1.5)
    shape = leading(rng, regime) or (1,)
    return {"x": normal(rng, (*shape, int(rng.integers(5, 12))), dtype, scale)}


def gradients(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    return {**drawn, "grad": normal(rng, drawn["x"].shape, dtype)}


def made(rng, regime, dtype):
    return forward(rng, regime, dtype)


def kept(rng, regime, dtype):
    return forward(rng, regime, dtype)


def curve(rng, regime, dtype):
    """Numbers from -8 to 8, or to another end, in even steps."""
    end, each = (
        (8.0, 8) if regime == "shown" else (float(rng.uniform(2, 9)), int(rng.integers(3, 9)))
    )
    return {"x": np.asarray(end * np.arange(-each, each + 1) / each, dtype)}
