"""Inputs for checkpoints: a small model's sizes, data, and how far it was trained."""

import numpy as np


def resume(rng, regime, dtype):
    n, m = (int(n) for n in rng.choice(np.arange(3, 8), 2, replace=False))
    if regime == "large":
        n, m = 80, 120
    draw = lambda *shape: np.asarray(rng.standard_normal(shape), dtype)
    return {
        "x": draw(9, n),
        "y": draw(9, m),
        "iteration": 0 if regime == "none_yet" else int(rng.integers(3, 100_000)),
        "steps": int(rng.integers(3, 6)),
        "lr": float(rng.uniform(0.02, 0.1)),
        "place": regime if regime in ("text", "bytes", "open_file") else "path",
    }


def save(rng, regime, dtype):
    return buffers(rng, regime, dtype)


def buffers(rng, regime, dtype):
    drawn = resume(rng, regime, dtype)
    del drawn["place"]
    return drawn


def goes_on(rng, regime, dtype):
    """`shown` is the only regime. Something that the small model learns nearly to the end."""
    x = rng.standard_normal((40, 5))
    y = np.tanh(x @ rng.standard_normal((5, 3)))
    given = {
        "x": np.asarray(x, dtype),
        "y": np.asarray(y, dtype),
        "seed": int(rng.integers(1 << 31)),
    }
    return {**given, "steps": 300, "more": 60, "lr": 0.02}
