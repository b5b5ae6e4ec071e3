"""Inputs for cross-entropy. inputs: (..., V), targets: (...,)"""

import numpy as np


def forward(rng, regime, dtype):
    N, V = (int(n) for n in rng.choice(np.arange(4, 14), 2, replace=False))
    if regime == "large":
        N, V = int(rng.integers(60, 90)), int(rng.integers(2000, 3000))
    rows = (2, 3, N) if regime == "deep" else (1,) if regime == "one_example" else (N,)
    inputs = 3.0 * rng.standard_normal((*rows, V))
    if regime == "equal":
        inputs[...] = rng.uniform(-2, 2)
    if regime == "huge":
        inputs *= 300.0
    if regime == "thousand":  # exactly +-1000, and ties
        inputs = 1000.0 * rng.choice([-1.0, 1.0], inputs.shape)
    if regime == "low":  # far below 0
        inputs -= rng.uniform(800, 5000)
    if regime == "far_rows":  # some rows far above 0 and some far below, in one batch
        each = np.arange(inputs[..., 0].size).reshape((*rows, 1))
        inputs += np.where(each % 2 == 0, 1.0, -1.0) * rng.uniform(1000, 3000, (*rows, 1))
    if regime == "one_high":  # in each row one class is beyond where float32 has an exponential
        where = rng.integers(0, V, (*rows, 1))
        np.put_along_axis(inputs, where, rng.uniform(150, 900, (*rows, 1)), -1)
    inputs = np.asarray(inputs, dtype)
    return {"inputs": inputs, "targets": doubtful(rng, inputs)}


def doubtful(rng, inputs):
    """A target for each row, none of them all but certain: of a loss like exp(-40) float32 keeps no digit."""
    V = inputs.shape[-1]
    targets = rng.integers(0, V, inputs.shape[:-1])
    targets.flat[int(rng.integers(targets.size))] = V - 1  # the last class is one like any other
    for at in np.ndindex(targets.shape):
        best = int(np.argmax(inputs[at]))
        others = np.delete(inputs[at], best)
        if targets[at] == best and inputs[at][best] - others.max() > 2:
            targets[at] = (best + 1) % V
    return targets


def rows(rng, regime, dtype):
    """(N, V), of which each row is a batch by itself."""
    return forward(rng, regime, dtype)


def backward(rng, regime, dtype):
    return forward(rng, regime, dtype)


def batch(rng, regime, dtype):
    """16 rows of 16 logits, in one of which a wrong class is high, or all of them are low."""
    N, V = (16, 16) if regime.startswith("shown") else (int(rng.integers(4, 9)), 11)
    inputs = rng.standard_normal((N, V))
    targets = rng.integers(0, V, N)
    targets[3] = 1
    if regime in ("low", "shown_low"):
        inputs[3] -= 1000.0
    else:
        inputs[3, 0] = 800.0
    return {"inputs": np.asarray(inputs, dtype), "targets": targets}


def sweep(rng, regime, dtype):
    levels = np.arange(0.0, 1001.0, 10.0) if regime == "shown" else rng.uniform(0, 3000, 12)
    if regime == "shown_fine":
        levels = np.arange(80.0, 101.0)
    return {"classes": 16, "levels": levels}
