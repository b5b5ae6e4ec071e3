"""Inputs for AdamW's probes. Every parameter gets a gradient before every step, but where said."""

import numpy as np
from pack.common import distinct, normal
from pack.optimised import count_of, few, how_many, shapes_of, spread

GRADIENTS = {"near_eps": 1e-8, "tiny": 1e-12, "huge": 1e12}  # scales; 1 elsewhere
BETAS = {"no_beta_1": (0.0, 0.97), "no_beta_2": (0.8, 0.0), "slow_betas": (0.9997, 0.99995)}
IDLE = {"first": 0, "last": 2}  # the place of the parameter that gets no gradient; 1 elsewhere
SHOWN_GRADIENTS = {"shown": 1.0, "shown_1e6": 1e-6, "shown_1e7": 1e-7, "shown_small": 1e-8}


def settings(rng, regime, dtype):
    lr, later = (round(float(rng.uniform(0.01, 0.5)), 3) for _ in range(2))
    return {"p": normal(rng, (3, 5), dtype), "lr": lr, "later": later}


def arguments(rng, regime):
    """AdamW's settings; None leaves a default alone."""
    lr = 0.0 if regime == "still" else float(rng.uniform(0.02, 0.2))
    plain = {"lr": lr, "beta_1": None, "beta_2": None, "eps": 1e-15, "weight_decay": 0.0}
    if regime == "defaults":
        return dict.fromkeys(plain)
    if regime in ("near_eps", "tiny", "spread_rows"):
        return {**plain, "eps": None}
    if regime in ("decay", "decay_first", "decay_only", "decay_idle_rows"):
        return {**plain, "weight_decay": float(rng.uniform(0.2, 0.9))}
    if regime in ("betas", "traced", "one_step"):
        plain["beta_1"], plain["beta_2"] = (
            float(rng.uniform(0.3, 0.8)),
            float(rng.uniform(0.9, 0.99)),
        )
        if regime == "one_step":
            return plain
        eps = float(rng.uniform(0.05, 0.5)) if regime == "traced" else 1e-15
        return {**plain, "eps": eps, "weight_decay": float(rng.uniform(0.1, 0.5))}
    if regime == "quick":
        lr, decay = (float(number) for number in rng.uniform(2.5, 5.0, 2))
        return {**plain, "lr": lr, "weight_decay": decay}
    if regime in BETAS:
        beta_1, beta_2 = BETAS[regime]
        return {**plain, "beta_1": beta_1, "beta_2": beta_2, "weight_decay": 0.3}
    if regime == "eps_decay":
        return {**plain, "eps": float(rng.uniform(0.1, 2.0)), "weight_decay": 0.5}
    if regime == "no_memory":
        return {**plain, "beta_1": 0.0, "beta_2": 0.0}
    if regime == "eps":
        return {**plain, "eps": float(rng.uniform(0.1, 2.0))}
    return plain


def drawn_gradients(rng, regime, T, shape, dtype):
    """(T, *shape)"""
    g = normal(rng, (T, *shape), dtype, GRADIENTS.get(regime, 1.0))
    if regime in ("zeros", "decay_first", "decay_only"):
        g[...] = 0.0
    if regime == "some_zero":
        g *= rng.random(shape) < 0.5
    if regime == "decay_idle_rows":  # as of a table, of which a batch looks a few rows up
        g *= rng.random((T, shape[0], *[1] * (len(shape) - 1))) < 0.5
    if regime == "spread_rows":
        g *= spread(shape, dtype)
    if regime == "constant":
        g[...] = g[:1]
    return g


def steps(rng, regime, dtype):
    shapes, T = shapes_of(rng, regime), count_of(rng, regime)
    size = {"defaults": 0.05, "tiny": 1e-4}.get(regime, 1.0)
    drawn = {name: normal(rng, shape, dtype, size) for name, shape in shapes.items()}
    for name, shape in shapes.items():
        drawn[name + "_grads"] = drawn_gradients(rng, regime, T, shape, dtype)
    return {**drawn, **arguments(rng, regime)}


def alone(rng, regime, dtype):
    n, m = distinct(rng, n=(3, 6), m=(3, 6))
    grads = drawn_gradients(rng, regime, 3, (n, m), dtype)
    return {"p": normal(rng, (n, m), dtype), "grads": grads, **arguments(rng, regime)}


def schedule(rng, regime, dtype):
    p, grads = few(rng, regime, 4, dtype)
    lrs = rng.uniform(0.02, 0.3, 4)
    if regime == "pause":  # a rate of 0 moves nothing, yet the averages go on
        lrs[1] = 0.0
    return {"p": p, "grads": grads, "lrs": lrs, "weight_decay": float(rng.uniform(0.1, 0.5))}


def accumulated(rng, regime, dtype):
    p, grads = few(rng, regime, 3, dtype)
    return {"p": p, "grads": grads, "lr": float(rng.uniform(0.1, 0.4))}


def rewritten(rng, regime, dtype):
    p, grads = few(rng, regime, 4, dtype)
    other = normal(rng, p.shape, dtype, 3.0)
    lr, decay = float(rng.uniform(0.1, 0.4)), float(rng.uniform(0.1, 0.5))
    return {"p": p, "other": other, "grads": grads, "lr": lr, "weight_decay": decay}


def apart(rng, regime, dtype):
    p, grads = few(rng, regime, 4, dtype)
    return {
        "p": p,
        "q": normal(rng, p.shape, dtype),
        "grads": grads,
        "lr": float(rng.uniform(0.1, 0.4)),
    }


def succession(rng, regime, dtype):
    p, grads = few(rng, regime, 5, dtype)
    return {"p": p, "grads": grads, "first": 3, "lr": float(rng.uniform(0.1, 0.4))}


def of_a_module(rng, regime, dtype):
    n, m = distinct(rng, n=(3, 6), m=(3, 6))
    drawn = {"w": (n, m), "b": (m,), "w_grad": (n, m), "b_grad": (m,)}
    drawn = {name: normal(rng, shape, dtype) for name, shape in drawn.items()}
    return {**drawn, "lr": float(rng.uniform(0.1, 0.4))}


def walk(rng, regime, dtype):
    """One gradient again and again: 1, or near eps, or drawn."""
    g = SHOWN_GRADIENTS.get(regime) or float(rng.uniform(0.5, 3.0))
    steps = 60 if regime.startswith("shown") else 5
    return {"g": np.full((1,), g, dtype), "steps": steps, "lr": 1e-3}


def valley(rng, regime, dtype):
    """From 1 with lr 0.01, or from anywhere."""
    shown = regime == "shown"
    start = np.full((1,), 1.0 if shown else rng.uniform(0.5, 3.0), dtype)
    return {"start": start, "steps": 100 if shown else 5, "lr": 0.01 if shown else 0.1}


def without(rng, regime, dtype):
    """One of three parameters never gets a gradient: the one between two others, or an outer one."""
    p, grads = few(rng, regime, 3, dtype)
    place = IDLE.get(regime, 1)
    drawn = {"p": p, "idle": normal(rng, (3, 2), dtype), "q": normal(rng, p.shape, dtype)}
    lr, decay = float(rng.uniform(0.1, 0.4)), float(rng.uniform(0.1, 0.5))
    return {**drawn, "place": place, "grads": grads, "lr": lr, "weight_decay": decay}


def rest(rng, regime, dtype):
    """From 1 with lr 0.01 and weight_decay 0.1, or from anywhere."""
    if regime == "shown":
        return {"start": np.ones(1, dtype), "steps": 120, "lr": 0.01, "weight_decay": 0.1}
    start, decay = np.full((1,), rng.uniform(0.5, 3.0), dtype), float(rng.uniform(0.1, 0.4))
    return {"start": start, "steps": 5, "lr": 0.05, "weight_decay": decay}


def noise(rng, regime, dtype):
    """Signs + - - + + - - + ..., and gradients a thousand times larger in one than in the other."""
    shown = regime == "shown"
    signs = np.resize([1.0, -1.0, -1.0, 1.0], 100 if shown else 8)
    drawn = {"signs": signs, "quiet": 0.01, "loud": 10.0, "lr": 0.01, "weight_decay": 0.1}
    if not shown:
        drawn.update(quiet=float(rng.uniform(0.01, 0.1)), loud=float(rng.uniform(5, 50)))
        drawn.update(lr=float(rng.uniform(0.02, 0.1)), weight_decay=float(rng.uniform(0.1, 0.4)))
    return {"start": np.full((1,), 1.0 if shown else rng.uniform(0.5, 3.0), dtype), **drawn}


def whole_modules(rng, regime, dtype):
    others = {
        "LayerNorm": [6], "FFN": [6, 7], "LSTM": [3, 5], "Embedding": [7, 3], "LearnedPositional": [5, 3],
        "MultiHeadAttention": [6, 3], "TransformerBlock": [6, 3, 5],
    }  # fmt: skip
    start, lr = float(rng.uniform(0.5, 2.0)), float(rng.uniform(0.05, 0.2))
    weight_decay = float(rng.uniform(0.1, 0.9))
    return {"others": others, "start": start, "steps": 2, "lr": lr, "weight_decay": weight_decay}


def crowd(rng, regime, dtype):
    """p (n, 3): n parameters; grads (T, n, 3)."""
    n = how_many(rng)
    p, grads = normal(rng, (n, 3), dtype), normal(rng, (2, n, 3), dtype)
    return {"p": p, "grads": grads, "lr": float(rng.uniform(0.02, 0.3))}
