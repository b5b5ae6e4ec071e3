"""Inputs for SGD's probes. With momentum the rate stays what it was at the first step."""

import numpy as np
from pack.common import LONG, distinct, normal
from pack.optimised import count_of, few, how_many, shapes_of, spread

SIZES = {"huge": 1e12, "tiny": 1e-12}  # of parameters and gradients; 1 elsewhere
RATES = {"still": (0.0, 0.0), "quick": (2.5, 5.0)}


def settings(rng, regime, dtype):
    lr, later = (round(float(rng.uniform(0.01, 0.5)), 3) for _ in range(2))
    return {"p": normal(rng, (3, 5), dtype), "lr": lr, "later": later}


def momentum_for(rng, regime):
    """None leaves the default alone."""
    if regime in ("momentum", "long", "large", "huge", "tiny", "spread_rows"):
        return float(rng.uniform(0.3, 0.95))
    return {"no_momentum": 0.0, "all_momentum": 1.0}.get(regime)


def steps(rng, regime, dtype):
    shapes, T = shapes_of(rng, regime), count_of(rng, regime)
    drawn = {}
    for name, shape in shapes.items():
        size = spread(shape, dtype) if regime == "spread_rows" else SIZES.get(regime, 1.0)
        drawn[name] = (normal(rng, shape, dtype) * size).astype(dtype)
        grads = (normal(rng, (T, *shape), dtype) * size).astype(dtype)
        if regime == "some_zero":
            grads *= rng.random(shape) < 0.5
        drawn[name + "_grads"] = np.zeros_like(grads) if regime == "zeros" else grads
    lr = float(rng.uniform(*RATES.get(regime, (0.02, 0.3))))
    return {**drawn, "lr": lr, "momentum": momentum_for(rng, regime)}


def schedule(rng, regime, dtype):
    p, grads = few(rng, regime, 4, dtype)
    lrs = rng.uniform(0.02, 0.3, 4)
    if regime == "pause":  # a rate of 0 moves nothing
        lrs[1] = 0.0
    return {"p": p, "grads": grads, "lrs": lrs}


def another_rate(rng, regime, dtype):
    p, grads = few(rng, regime, 3, dtype)
    lr, later = rng.uniform(0.02, 0.3, 2)
    momentum = float(rng.uniform(0.3, 0.95))
    return {"p": p, "grads": grads, "lr": float(lr), "later": float(later), "momentum": momentum}


def accumulated(rng, regime, dtype):
    p, grads = few(rng, regime, 3, dtype)
    momentum = float(rng.uniform(0.3, 0.95)) if regime == "momentum" else 0.0
    return {"p": p, "grads": grads, "lr": float(rng.uniform(0.1, 0.4)), "momentum": momentum}


def cleared(rng, regime, dtype):
    p, grads = few(rng, regime, 1, dtype)
    return {"p": p, "grad": grads[0], "lr": float(rng.uniform(0.1, 0.4))}


def rewritten(rng, regime, dtype):
    p, grads = few(rng, regime, 4, dtype)
    other = normal(rng, p.shape, dtype, 3.0)
    lr, momentum = float(rng.uniform(0.1, 0.4)), float(rng.uniform(0.3, 0.95))
    return {"p": p, "other": other, "grads": grads, "lr": lr, "momentum": momentum}


def without(rng, regime, dtype):
    """One of three parameters never gets a gradient."""
    p, grads = few(rng, regime, 3, dtype)
    idle, q = normal(rng, (3, 2), dtype), normal(rng, p.shape, dtype)
    momentum = float(rng.uniform(0.3, 0.95)) if regime == "momentum" else 0.0
    lr = float(rng.uniform(0.1, 0.4))
    place = {"first": 0, "last": 2}.get(regime, 1)
    return {
        "p": p, "idle": idle, "q": q, "place": place, "grads": grads, "lr": lr, "momentum": momentum
    }  # fmt: skip


def apart(rng, regime, dtype):
    p, grads = few(rng, regime, 4, dtype)
    q = normal(rng, p.shape, dtype)
    lr, momentum = float(rng.uniform(0.1, 0.4)), float(rng.uniform(0.3, 0.95))
    return {"p": p, "q": q, "grads": grads, "lr": lr, "momentum": momentum}


def succession(rng, regime, dtype):
    p, grads = few(rng, regime, 5, dtype)
    lr, momentum = float(rng.uniform(0.1, 0.4)), float(rng.uniform(0.3, 0.95))
    return {"p": p, "grads": grads, "first": 3, "lr": lr, "momentum": momentum}


def of_a_module(rng, regime, dtype):
    n, m = distinct(rng, LONG, n=(3, 6), m=(3, 6))
    drawn = {"w": (n, m), "b": (m,), "w_grad": (n, m), "b_grad": (m,)}
    drawn = {name: normal(rng, shape, dtype) for name, shape in drawn.items()}
    return {**drawn, "lr": float(rng.uniform(0.1, 0.4)), "momentum": float(rng.uniform(0.3, 0.95))}


def crowd(rng, regime, dtype):
    """p (n, 3): n parameters; grads (T, n, 3)."""
    n = how_many(rng)
    p, grads = normal(rng, (n, 3), dtype), normal(rng, (2, n, 3), dtype)
    return {"p": p, "grads": grads, "lr": float(rng.uniform(0.02, 0.3))}
