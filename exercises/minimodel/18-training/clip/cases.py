"""Inputs for clip_grad_norm: gradients of several parameters, and a max_norm beside their length."""

import numpy as np
from pack.common import LONG, distinct, leaning, normal
from pack.optimised import CROWD, shapes_of

SIZES = {"huge": 1e12, "tiny": 1e-12}  # of gradients; 1 elsewhere


def length(grads):
    return float(np.sqrt(sum((g.astype(np.float64) ** 2).sum() for g in grads)))


def limit(rng, regime, norm):
    """max_norm as a fraction of the global norm: below it something is clipped."""
    if regime in ("below", "tiny_below"):
        return norm * float(rng.uniform(1.2, 5.0))
    if regime == "far_below":
        return 1e9
    if regime == "just_below":
        return norm * 1.001
    if regime == "just_above":
        return norm / 1.001
    if regime == "among":  # some parameters alone are longer, some are not
        return 0.3 * norm
    return norm * float(rng.uniform(0.05, 0.6))


def forward(rng, regime, dtype):
    drawn = {}
    kind = np.dtype(dtype).type
    size = SIZES.get(regime.partition("_")[0], 1.0)
    for name, shape in shapes_of(rng, regime).items():
        drawn[name] = normal(rng, shape, dtype, size)
    if regime == "spread":  # one gradient far above the others
        drawn["w"], drawn["k"] = drawn["w"] * kind(1e6), drawn["k"] * kind(1e-3)
    if regime == "one_spike":  # one number far above all others
        drawn["k"][-1, 0, 1] = 1e4
    if regime == "alike":  # every parameter alone is shorter than max_norm, together they are not
        drawn = {name: g / kind(length([g])) for name, g in drawn.items()}
    if regime == "some_zero":
        drawn["b"] = np.zeros_like(drawn["b"])
    if regime == "zeros":
        drawn = {name: np.zeros_like(g) for name, g in drawn.items()}
    norm = length(drawn.values())
    max_norm = limit(rng, regime, norm)
    if regime == "alike":
        max_norm = 1.3
    if regime == "zeros":
        max_norm = 1.0
    if regime == "whole":
        max_norm = 1  # an int
    return {**drawn, "max_norm": max_norm}


def as_numpy(rng, regime, dtype):
    """A whole max_norm as NumPy's computations give it."""
    return {**forward(rng, regime, dtype), "max_norm": np.int64(1)}


def traced(rng, regime, dtype):
    return forward(rng, "among", dtype)


def exactly(rng, regime, dtype):
    """Norms that are whole: 5 or 15, and a max_norm that is just that."""
    factor = int(rng.choice([1, 3]))
    w, b = np.zeros((3, 4), dtype), np.zeros(5, dtype)
    w[int(rng.integers(3)), int(rng.integers(4))] = 3 * factor
    b[int(rng.integers(5))] = -4 * factor
    return {"w": w, "b": b, "max_norm": float(5 * factor)}


def one(rng, regime, dtype):
    n, m = distinct(rng, LONG, n=(3, 6), m=(3, 6))
    g = normal(rng, (n,) if regime == "vector" else (n, m), dtype)
    return {"g": g, "max_norm": float(rng.uniform(0.1, 0.9)) * length([g])}


def returned(rng, regime, dtype):
    """Clipped, or short enough: two ways out of most functions."""
    drawn = one(rng, "normal", dtype)
    return {**drawn, "max_norm": 100.0} if regime == "below" else drawn


def overflowed(rng, regime, dtype):
    drawn = one(rng, "normal", dtype)
    drawn["g"].flat[int(rng.integers(drawn["g"].size))] = {"inf": np.inf, "nan": np.nan}[regime]
    return drawn


def without(rng, regime, dtype):
    drawn = one(rng, regime, dtype)
    h = normal(rng, (4,), dtype)
    if regime == "below":
        drawn["max_norm"] = 100.0
    return {**drawn, "h": h}


def layouts(rng, regime, dtype):
    drawn = one(rng, "normal", dtype)
    return {**drawn, "h": normal(rng, (), dtype)}


def again(rng, regime, dtype):
    drawn = without(rng, "normal", dtype)
    return {**drawn, "more": normal(rng, drawn["g"].shape, dtype)}


def together(rng, regime, dtype):
    """The gradient of p + q reaches both alike; code may hand both the same array."""
    n, m = distinct(rng, LONG, n=(3, 6), m=(3, 6))
    g = normal(rng, (n, m), dtype)
    return {"g": g, "max_norm": float(rng.uniform(0.1, 0.9)) * length([g, g])}


def of_a_module(rng, regime, dtype):
    drawn = without(rng, "normal", dtype)
    return {"w": drawn["g"], "b": drawn["h"], "max_norm": drawn["max_norm"]}


def many(rng, regime, dtype):
    """n gradients of given lengths, each with a direction of its own. "crowd": as many as a model of a dozen
    blocks has parameters.
    """
    if regime == "shown":  # 16 parameters, each of length 3: together 12
        lengths = np.full(16, 3.0)
    elif regime == "shown_uneven":  # together 10.05
        lengths = np.array([10.0, 1.0])
    elif regime == "shown_even":  # none of them alone is as long as 1
        lengths = np.full(16, 0.5)
    elif regime == "crowd":
        n = leaning(rng, [int(rng.integers(150, 170))], largest=CROWD)[0]
        lengths = rng.uniform(0.2, 6.0, n)
    else:
        lengths = rng.uniform(0.2, 6.0, 5)
    grads = rng.standard_normal((len(lengths), 6))
    grads *= (lengths / np.sqrt((grads**2).sum(-1)))[:, None]
    return {"grads": grads.astype(dtype), "max_norm": 1.0}


def sweep(rng, regime, dtype):
    limits = np.arange(1.0, 31.0) / 2 if regime == "shown" else rng.uniform(0.1, 12, 6)
    return {"grads": many(rng, regime, dtype)["grads"], "limits": limits}
