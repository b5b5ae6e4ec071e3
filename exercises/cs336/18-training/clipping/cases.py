"""Gradients, and the norm that they may have together. grads: (k, n, m), of k parameters."""

import numpy as np


def sizes(rng, regime):
    if regime == "large":
        return 12, 40, 60
    k, n, m = (int(n) for n in rng.choice(np.arange(3, 8), 3, replace=False))
    return (2, n, m) if regime == "two" else (k, n, m)


def forward(rng, regime, dtype):
    k, n, m = sizes(rng, regime)
    scales = rng.uniform(0.5, 3.0, (k, 1, 1))
    scales *= 10.0 if regime == "long" else 1.0
    grads = np.asarray(scales * rng.standard_normal((k, n, m)), dtype)
    norm = float(np.sqrt((grads.astype(np.float64) ** 2).sum()))
    share = rng.uniform(1.5, 20) if regime == "below" else rng.uniform(0.02, 0.08)
    if regime == "each_below":  # each gradient is short enough by itself
        share = rng.uniform(0.85, 0.9)
    if regime == "zeros":
        grads[...] = 0.0
    return {"grads": grads, "max_l2_norm": norm * float(share), "frozen": regime == "frozen"}


def unlike(rng, regime, dtype):
    """Three parameters of different shapes; in some regimes one of them has no gradient."""
    draw = lambda *shape: np.asarray(2 * rng.standard_normal(shape), dtype)
    n, m = (int(n) for n in rng.choice(np.arange(3, 9), 2, replace=False))
    if regime == "large":
        n, m = 90, 130
    place = {"first_frozen": 0, "middle_frozen": 1}.get(regime, -1)
    grads = {"a": draw(n, m), "b": draw(m), "c": draw(2, m, n)}
    return {**grads, "without": place, "max_l2_norm": float(rng.uniform(0.3, 2))}


def nothing(rng, regime, dtype):
    return {"weights": np.asarray(rng.standard_normal((3, 4)), dtype), "max_l2_norm": 1.0}


def generator(rng, regime, dtype):
    return forward(rng, regime, dtype)


def many(rng, regime, dtype):
    """n gradients of given lengths, each with a direction of its own."""
    if regime == "shown":  # 16 parameters, each of length 3: together 12
        lengths = np.full(16, 3.0)
    elif regime == "shown_uneven":  # together 10.05
        lengths = np.array([10.0, 1.0])
    elif regime == "shown_even":  # none of them alone is as long as 1
        lengths = np.full(16, 0.5)
    else:
        lengths = rng.uniform(2.0, 6.0, 5)
    grads = rng.standard_normal((len(lengths), 6))
    grads *= (lengths / np.sqrt((grads**2).sum(-1)))[:, None]
    return {"grads": grads.astype(dtype), "max_l2_norm": 1.0}


def sweep(rng, regime, dtype):
    limits = np.arange(1.0, 31.0) / 2 if regime == "shown" else rng.uniform(0.1, 12, 6)
    return {"grads": many(rng, regime, dtype)["grads"], "limits": limits}
