"""Inputs for rope: x (..., T, d) with an even d, positions (T,) or (..., T), a table of max_seq_len."""

import numpy as np

THETA = 10000.0
FAR = 4096


def draw(rng, dtype, *shape):
    return np.asarray(rng.standard_normal(shape), dtype)


def sizes(rng):
    """B, T and d, all different."""
    B, T, d = int(rng.integers(2, 5)), int(rng.choice([5, 7, 9])), int(rng.choice([6, 8, 10, 12]))
    return B, T, d


def pairs(rng, regime, dtype):
    d = {"two_pairs": 4, "wide": 16}.get(regime, int(rng.choice([6, 8, 10, 12])))
    return {"d": d, "theta": THETA}


def forward(rng, regime, dtype):
    B, T, d = sizes(rng)
    if regime == "large":
        B, T, d = 3, 70, 34
    if regime == "equal_sizes":
        B = T = d = 6
    T = 1 if regime == "one_position" else T
    lead = {"no_batch": (), "heads": (B, 3), "deep": (2, 1, B)}.get(regime, (B,))
    room = T if regime in ("normal", "equal_sizes") else T + int(rng.integers(1, 9))
    positions = np.arange(T)
    if regime == "offset":
        room = T + 20
        positions = positions + int(rng.integers(3, 20))
    if regime == "any_order":
        room = T + 20
        positions = rng.permutation(room)[:T]
    if regime == "own_rows":
        room = T + 20
        positions = np.stack([np.sort(rng.permutation(room)[:T]) for _ in range(B)])
    if regime == "far":
        room = FAR
        positions = np.sort(rng.choice(np.arange(FAR // 2 + 1, FAR, 2), T, replace=False))
    theta = float(rng.choice([500.0, 2000.0, 100000.0])) if regime == "other_theta" else THETA
    x = draw(rng, dtype, *lead, T, d)
    return {
        "x": x, "positions": positions.astype(np.int64), "theta": theta, "max_seq_len": room,
        "grad": draw(rng, dtype, *x.shape),
    }  # fmt: skip


def cached(rng, regime, dtype):
    """shown: twelve tokens, all with the same query and the same key."""
    T, d = (12, 8) if regime == "shown" else (int(rng.integers(5, 9)), 6)
    q, k = draw(rng, dtype, T, d), draw(rng, dtype, T, d)
    if regime == "shown":
        q, k = np.broadcast_to(q[:1], q.shape).copy(), np.broadcast_to(q[:1], k.shape).copy()
    return {"q": q, "k": k, "theta": THETA, "max_seq_len": T}
