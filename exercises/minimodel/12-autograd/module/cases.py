"""Inputs for Parameter and Module: a few small arrays, each of a shape of its own."""

import numpy as np
from pack.common import distinct, leaning, normal


def arrays(rng, dtype, count):
    """`count` vectors w_0, w_1, ... of different sizes."""
    sizes = distinct(rng, **{str(i): (3, 15) for i in range(count)})
    return {f"w_{i}": normal(rng, (n,), dtype) for i, n in enumerate(sizes)}


def parameter(rng, regime, dtype):
    shape = () if regime == "scalar" else tuple(distinct(rng, n=(3, 7), m=(3, 7)))
    names = ("w", "other", "x", "grad", "more_grad")
    return {name: np.asarray(rng.uniform(0.5, 2.0, shape), dtype) for name in names}


def held(rng, regime, dtype):
    return arrays(rng, dtype, 6)


def crowd(rng, regime, dtype):
    """w (n, 2): a number of parameters that no list of them is written for."""
    n = leaning(rng, [int(rng.integers(18, 150))], largest=600)[0]
    return {"w": normal(rng, (n, 2), dtype), "w_grad": normal(rng, (n, 2), dtype)}


def shared(rng, regime, dtype):
    return arrays(rng, dtype, 2)


def changed(rng, regime, dtype):
    return arrays(rng, dtype, 4)


def names(rng, regime, dtype):
    return arrays(rng, dtype, 5)


def cleared(rng, regime, dtype):
    n, m = distinct(rng, n=(3, 7), m=(3, 7))
    return {
        "w": normal(rng, (n,), dtype),
        "b": normal(rng, (m,), dtype),
        "w_grad": normal(rng, (n,), dtype),
        "b_grad": normal(rng, (m,), dtype),
        "scale": np.asarray(rng.uniform(1.5, 3.0), dtype),
    }


def modes(rng, regime, dtype):
    return arrays(rng, dtype, 1)


def called(rng, regime, dtype):
    return {name: normal(rng, (3,), dtype) for name in ("x", "h", "c")}
