"""Inputs for the two attentions: x (B, T, d), four matrices (d, d)."""

import numpy as np

FOUR = "w_q", "w_k", "w_v", "w_o"


def draw(rng, dtype, *shape, scale=1.0):
    return np.asarray(scale * rng.standard_normal(shape), dtype)


def sizes(rng):
    """B, T, heads and d_head, all different; d_head is even."""
    B, T, heads = (int(n) for n in rng.choice([2, 3, 5], 3, replace=False))
    return B, T + 4, heads, int(rng.choice([4, 6, 8] if heads < 5 else [4, 6]))


def matrices(rng, dtype, d, names=FOUR):
    """Such that scores and outputs are of the size of 1."""
    return {name: draw(rng, dtype, d, d, scale=1.3 / np.sqrt(d)) for name in names}


def told_apart(found, names):
    """The inputs, no two numbers of whose weights are equal: a learner may keep several weights in one
    matrix, in which each number is looked for.
    """
    flat = np.concatenate([found[name].reshape(-1) for name in names])
    while len(first := np.unique(flat, return_index=True)[1]) < len(flat):
        again = np.ones(len(flat), bool)
        again[first] = False
        flat[again] *= np.asarray(1 + 1e-5, flat.dtype)
    ends = np.cumsum([found[name].size for name in names])
    parts = np.split(flat, ends[:-1])
    return found | {name: part.reshape(found[name].shape) for name, part in zip(names, parts)}


def own_columns(rng, regime, dtype):
    B, T, heads, e = sizes(rng)
    return {"batch": B, "T": T, "heads": heads, "d_model": heads * e}


def projections(rng, regime, dtype):
    _, _, heads, e = sizes(rng)
    return {"heads": heads, **matrices(rng, dtype, heads * e, ("w_v", "w_o"))}


def head_columns(rng, regime, dtype):
    B, T, heads, e = sizes(rng)
    x = draw(rng, dtype, B, T, heads * e)
    return {"heads": heads, "x": x, **matrices(rng, dtype, heads * e, ("w_q", "w_k"))}


def weights(rng, regime, dtype):
    _, _, heads, e = sizes(rng)
    T, d = e, heads * e
    x = draw(rng, dtype, 1, T, d)
    values = np.linalg.pinv(x[0].astype(np.float64)) @ np.tile(np.eye(T), heads)  # (d, heads * T)
    return {
        "heads": heads, "x": x, **matrices(rng, dtype, d, ("w_q", "w_k")),
        "w_v": np.asarray(values.T, dtype),
    }  # fmt: skip


def past(rng, regime, dtype):
    B, T, heads, e = sizes(rng)
    x, other = (draw(rng, dtype, B, T, heads * e) for _ in range(2))
    return {
        "heads": heads, "x": x, "other": other, "since": int(rng.integers(1, T)),
        **matrices(rng, dtype, heads * e),
    }  # fmt: skip


def forward(rng, regime, dtype):
    B, T, heads, e = sizes(rng)
    if regime == "large":
        B, T, heads, e = 2, 40, 6, 8
    if regime == "equal_sizes":
        B = T = heads = e = 4
    if regime == "one_head":
        heads = 1
    T = 1 if regime == "one_token" else T
    lead = {"no_batch": (), "deep": (2, B)}.get(regime, (B,))
    x = draw(rng, dtype, *lead, T, heads * e)
    return {"heads": heads, "x": x, **matrices(rng, dtype, heads * e)}


def slopes(rng, regime, dtype):
    B, T, heads, e = sizes(rng)
    d = heads * e
    found = {
        "heads": heads, "x": draw(rng, dtype, B, T, d), "grad": draw(rng, dtype, B, T, d),
        "directions": draw(rng, dtype, 4, 3, d, d), **matrices(rng, dtype, d),
    }  # fmt: skip
    return told_apart(found, FOUR)
