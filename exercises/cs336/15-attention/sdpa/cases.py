"""Inputs for attention: q (..., T, d), k (..., S, d), v (..., S, e), a boolean mask (..., T, S) or None."""

import numpy as np


def draw(rng, dtype, *shape):
    return np.asarray(rng.standard_normal(shape), dtype)


def sizes(rng):
    """B, T, S, d and e, all different."""
    return [int(n) for n in rng.choice([3, 4, 5, 6, 7, 9, 10, 11], 5, replace=False)]


def scattered(rng, *shape):
    """A mask that hides about half, in each row something and never all."""
    mask = rng.random(shape) < 0.5
    one, other = rng.integers(0, shape[-1], shape[:-1]), rng.integers(1, shape[-1], shape[:-1])
    np.put_along_axis(mask, one[..., None], True, -1)
    np.put_along_axis(mask, ((one + other) % shape[-1])[..., None], False, -1)
    return mask


def weights(rng, regime, dtype):
    """v is an identity matrix, so that the output is the weights themselves."""
    B, T, S, d, _ = sizes(rng)
    mask = None if regime.startswith("open") else scattered(rng, B, T, S)
    if regime == "open_square":
        T = S
    q, k = draw(rng, dtype, B, T, d), draw(rng, dtype, B, S, d)
    v = np.broadcast_to(np.eye(S, dtype=dtype), (B, S, S)).copy()
    return {"q": q, "k": k, "v": v, "mask": mask}


def forward(rng, regime, dtype):
    B, T, S, d, e = sizes(rng)
    lead = (B,)
    if regime in ("heads", "heads_masked"):
        lead = (2, B)
    if regime == "deep":
        lead = (2, 1, 3)
    if regime == "no_batch":
        lead = ()
    if regime == "large":
        lead, T, S, d, e = (2, 3), 40, 50, 33, 34
    if regime == "equal_sizes":
        lead, T, S, d, e = (6, 6), 6, 6, 6, 6
    if regime == "causal_for_all":
        S = T
    mask = None
    if regime in (
        "masked",
        "heads_masked",
        "deep",
        "large",
        "equal_sizes",
        "far_hidden",
        "no_batch",
    ):
        mask = scattered(rng, *lead, T, S)
    if regime == "causal_for_all":
        mask = np.tri(T, dtype=bool)
    if regime == "batch_of_one_mask":
        mask = scattered(rng, 1, T, S)
    q, k, v = (
        draw(rng, dtype, *lead, T, d),
        draw(rng, dtype, *lead, S, d),
        draw(rng, dtype, *lead, S, e),
    )
    if regime == "thousand":  # the largest score is 1000
        k = k * np.asarray(1000 * np.sqrt(d) / np.abs(q @ np.swapaxes(k, -1, -2)).max(), dtype)
    if regime == "far_hidden":  # all scores are far below 0, the visible ones below -10000
        q, k = np.abs(q) + 1, -(np.abs(k) + 1)
        k = k * np.asarray(20000 * np.sqrt(d) / np.abs(q @ np.swapaxes(k, -1, -2)).min(), dtype)
    return {
        "q": q, "k": k, "v": v, "mask": mask, "grad": draw(rng, dtype, *lead, T, e),
    }  # fmt: skip
