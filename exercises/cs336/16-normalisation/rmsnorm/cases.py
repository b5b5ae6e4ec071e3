"""Inputs for RMSNorm."""

import numpy as np
from pack.draws import EQUAL, distinct, leading, normal

SCALES = {"huge": 1e6, "vast": 1e15, "great_eps": 100.0, "faint": 1e-3, "half": 300.0}


def forward(rng, regime, dtype):
    (d,) = distinct(rng, d=(7, 16))
    d = {"equal_sizes": EQUAL, "one_feature": 1, "large": 131}.get(regime, d)
    x = normal(rng, (*leading(rng, regime), d), dtype, SCALES.get(regime, 1.0))
    if regime == "offset":
        x = x + np.asarray(3.0, dtype)
    if regime == "uneven":  # each row of a size of its own
        x = x * np.asarray(10.0 ** rng.uniform(-1, 1, (*x.shape[:-1], 1)), dtype)
    if regime == "zero_rows":
        x[..., ::2, :] = 0.0
    eps = {"other_eps": 0.3, "great_eps": 3000.0, "vast": 1e-6}.get(regime, 1e-5)
    return {"x": x, "weight": normal(rng, (d,), dtype), "eps": eps}


def gradients(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    return {**drawn, "grad": normal(rng, drawn["x"].shape, dtype)}


def half(rng, regime, dtype):
    drawn = forward(rng, "half", dtype)
    del drawn["eps"]
    return drawn


def made(rng, regime, dtype):
    return forward(rng, regime, dtype)


def kept(rng, regime, dtype):
    return forward(rng, regime, dtype)


def initialisation(rng, regime, dtype):
    return {"d": int(rng.integers(17, 40))}


def one(rng, regime, dtype):
    """8 features in a batch of 2 sequences, of 5 tokens or of 8, or a single vector."""
    lead = {"shown_eight": (2, 8), "eight": (2, 8), "shown_alone": (), "alone": ()}.get(
        regime, (2, 5)
    )
    return {"x": normal(rng, (*lead, 8), dtype), "weight": normal(rng, (8,), dtype), "eps": 1e-5}
