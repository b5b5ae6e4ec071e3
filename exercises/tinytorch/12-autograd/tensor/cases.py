"""Inputs for the Tensor's probes: values away from 0, where every slope is defined."""

import numpy as np
from pack.common import distinct, normal


def apart(rng, shape, dtype):
    """Values of either sign and of size 0.5 to 2."""
    return np.asarray(rng.choice([-1.0, 1.0], shape) * rng.uniform(0.5, 2.0, shape), dtype)


def two(rng):
    return distinct(rng, T=(3, 7), d=(3, 7))


def made(rng, regime, dtype):
    return {"x": normal(rng, tuple(two(rng)), dtype)}


def pair(rng, regime, dtype):
    """Two arrays of one shape, or of shapes that broadcast."""
    T, d = two(rng)
    a, b = {"row": ((T, d), (d,)), "batch": ((3, T, d), (1, T, d)), "outer": ((T, 1), (1, d))}.get(
        regime, ((T, d), (T, d))
    )
    shape = np.broadcast_shapes(a, b)
    return {"a": apart(rng, a, dtype), "b": apart(rng, b, dtype), "grad": normal(rng, shape, dtype)}


def add(rng, regime, dtype):
    return pair(rng, regime, dtype)


def subtract(rng, regime, dtype):
    return pair(rng, regime, dtype)


def multiply(rng, regime, dtype):
    return pair(rng, regime, dtype)


def divide(rng, regime, dtype):
    return pair(rng, regime, dtype)


def matmul(rng, regime, dtype):
    n, k, m = distinct(rng, n=(3, 7), k=(3, 7), m=(3, 7))
    a = (3, n, k) if regime in ("batch", "both") else (n, k)
    b = (3, k, m) if regime == "both" else (k, m)
    return {
        "a": normal(rng, a, dtype),
        "b": normal(rng, b, dtype),
        "grad": normal(rng, (*a[:-1], m), dtype),
    }


def number(rng, regime, dtype):
    shape = tuple(two(rng))
    c = float(rng.uniform(1.5, 3))
    return {"x": normal(rng, shape, dtype), "c": c, "grad": normal(rng, shape, dtype)}


def index(rng, regime, dtype):
    T, d = two(rng)
    start = 1 if regime == "inside" else 0
    stop = T - 1
    grad = normal(rng, (stop - start, d), dtype)
    return {"x": normal(rng, (T, d), dtype), "start": start, "stop": stop, "grad": grad}


def lookup(rng, regime, dtype):
    T, d = two(rng)
    places = rng.permutation(T)[:3] if regime == "once" else np.array([1, 0, 1])
    return {"x": normal(rng, (T, d), dtype), "places": places, "grad": normal(rng, (3, d), dtype)}


def reshape(rng, regime, dtype):
    T, d = two(rng)
    shape = [-1] if regime == "flat" else [T, 1, d]
    grad = normal(rng, (T * d,) if regime == "flat" else (T, 1, d), dtype)
    return {"x": normal(rng, (T, d), dtype), "shape": shape, "grad": grad}


def transpose(rng, regime, dtype):
    T, d = two(rng)
    lead = (3,) if regime == "batch" else ()
    return {"x": normal(rng, (*lead, T, d), dtype), "grad": normal(rng, (*lead, d, T), dtype)}


def total(rng, regime, dtype):
    return made(rng, regime, dtype)


def mean(rng, regime, dtype):
    return made(rng, regime, dtype)


def alone(rng, regime, dtype):
    return made(rng, regime, dtype)


def along(rng, regime, dtype):
    T, d = two(rng)
    T = d if regime == "square" else T
    axis = {"first": 0, "kept": -1}.get(regime, 1)
    kept = regime == "kept"
    shape = (T, 1) if kept else (d,) if axis == 0 else (T,)
    drawn = {"x": normal(rng, (T, d), dtype), "axis": axis, "keepdims": kept}
    return {**drawn, "grad": normal(rng, shape, dtype)}


def square(rng, regime, dtype):
    shape = tuple(two(rng))
    return {"x": apart(rng, shape, dtype), "grad": normal(rng, shape, dtype)}


def diamond(rng, regime, dtype):
    shape = tuple(two(rng))
    drawn = {"x": apart(rng, shape, dtype), "w": apart(rng, shape, dtype)}
    return {**drawn, "grad": normal(rng, shape, dtype)}


def again(rng, regime, dtype):
    shape = tuple(two(rng))
    return {name: normal(rng, shape, dtype) for name in ("x", "grad", "more")}
