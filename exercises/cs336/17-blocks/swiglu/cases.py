"""Inputs for the SwiGLU. d_ff is a multiple of 64, as in the course, but where a regime asks for another."""

import numpy as np
from pack.draws import distinct, leading, normal


def forward(rng, regime, dtype):
    (d,), d_ff = distinct(rng, d=(4, 8)), int(rng.choice([64, 128]))
    if regime == "any_d_ff":
        d, d_ff = distinct(rng, d=(4, 8), d_ff=(9, 16))
    if regime == "equal_sizes":
        d = d_ff = 64
    if regime == "narrow":  # fewer hidden numbers than features
        d, d_ff = 64 + d, 64
    if regime == "large":
        d, d_ff = 67, 128
    return {
        "x": normal(rng, (*leading(rng, regime), d), dtype),
        "w1": normal(rng, (d_ff, d), dtype),
        "w2": normal(rng, (d, d_ff), dtype),
        "w3": normal(rng, (d_ff, d), dtype),
    }


def gradients(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    return {**drawn, "grad": normal(rng, drawn["x"].shape, dtype)}


def made(rng, regime, dtype):
    return forward(rng, regime, dtype)


def kept(rng, regime, dtype):
    return forward(rng, regime, dtype)


def initialisation(rng, regime, dtype):
    return {"d": 64, "d_ff": 192}


def growth(rng, regime, dtype):
    """Inputs that double, from far below 1 to far above."""
    d, d_ff = (16, 48) if regime == "shown" else distinct(rng, d=(4, 8), d_ff=(9, 16))
    return {
        "x": normal(rng, (20, d), dtype), "w1": normal(rng, (d_ff, d), dtype, d**-0.5),
        "w2": normal(rng, (d, d_ff), dtype, d_ff**-0.5), "w3": normal(rng, (d_ff, d), dtype, d**-0.5),
        "factors": np.asarray(2.0 ** np.arange(-4, 7), dtype),
    }  # fmt: skip
