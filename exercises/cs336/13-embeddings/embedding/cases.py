"""Inputs for the embedding."""

import numpy as np
from pack.draws import EQUAL, distinct, leading, normal


def forward(rng, regime, dtype):
    V, d = distinct(rng, V=(17, 60), d=(3, 13))
    if regime == "equal_sizes":
        V = d = EQUAL
    if regime == "one_column":
        d = 1
    if regime == "large":
        V, d = 1201, 67
    ids = rng.integers(0, V, leading(rng, regime))
    if regime == "repeated":
        ids = rng.choice(rng.permutation(V)[:2], (3, 4))
    if regime == "ends":
        ids = rng.permutation(np.array([0, V - 1, V - 1, 0, V // 2]))[None]
    return {"weight": normal(rng, (V, d), dtype), "ids": ids}


def gradients(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    shape = (*drawn["ids"].shape, drawn["weight"].shape[1])
    return {**drawn, "grad": normal(rng, shape, dtype)}


def made(rng, regime, dtype):
    return forward(rng, regime, dtype)


def kept(rng, regime, dtype):
    return forward(rng, regime, dtype)


def initialisation(rng, regime, dtype):
    V, d = (53, 700) if regime == "wide" else (1501, 21)
    return {"vocab_size": V, "d_model": d}


def outside(rng, regime, dtype):
    drawn = forward(rng, "normal", dtype)
    V = len(drawn["weight"])
    beyond = {"first_beyond": V, "far_beyond": V + int(rng.integers(3, 1000)), "negative": -1}
    drawn["ids"][-1, -1] = beyond[regime]
    return drawn
