"""Inputs for cross_entropy."""

import numpy as np
from pack.common import distinct, leading, normal


def sizes(rng, regime):
    return 1 if regime == "one_class" else distinct(rng, V=(3, 23))[0]


def forward(rng, regime, dtype):
    V = sizes(rng, regime)
    rows = leading(rng, regime)
    scale = {"huge": 1000.0, "tiny": 1e-7, "confident": 30.0}.get(regime, 1.0)
    logits = normal(rng, (*rows, V), dtype, scale)
    targets = np.asarray(rng.integers(0, V, rows))
    ignore = None
    if regime == "thousand":  # exactly +-1000, and ties
        logits = (1000.0 * rng.choice([-1.0, 1.0], logits.shape)).astype(dtype)
    if regime == "equal":
        logits = np.zeros_like(logits)
    if regime == "spread_rows":
        logits = logits * (10.0 ** np.linspace(-5, 2, rows[-1])[:, None]).astype(dtype)
    if regime in ("ignored", "ignored_class"):
        ignore = -100 if regime == "ignored" else int(rng.integers(0, V))
        targets = np.where(rng.random(rows) < 0.4, ignore, targets)
        targets.reshape(-1)[0] = (ignore + 1) % V if ignore >= 0 else 1  # one is kept
        targets.reshape(-1)[-1] = ignore
    if regime == "all_ignored":
        ignore = int(rng.choice([-1, -100]))
        targets = np.full(rows, ignore)
    if regime == "too_few_targets":
        targets = targets[..., :-1]
    if regime == "flat_targets":
        targets = targets.reshape(-1)[:-1]
    if regime == "class_beyond":
        targets.reshape(-1)[1] = V + int(rng.integers(0, 50))
    if regime == "class_negative":
        targets.reshape(-1)[1] = -int(rng.integers(1, V + 1))
    return {"logits": logits, "targets": targets, "ignore_index": ignore}


def scaled(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    del drawn["ignore_index"]
    return {**drawn, "factor": float(rng.uniform(2, 5))}
