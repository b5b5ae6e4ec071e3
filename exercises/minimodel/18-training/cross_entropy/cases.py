"""Inputs for cross_entropy."""

import numpy as np
from pack.common import EQUAL, LONG, REAL, distinct, leading, normal

LIMIT = {"float64": 690.0, "float32": 75.0}  # a little below where the bare exponential ends

CERTAIN = {"float64": 30.0, "float32": 10.0}  # nats: beyond, 1 - p has no digit left in this dtype
GONE = 800.0  # nats: beyond, the others are 0 in any dtype


def sizes(rng, regime):
    if regime == "large":
        return int(rng.integers(130, 200))
    if regime == "late_peak":
        return int(rng.integers(1030, 1100))
    if regime == "wide":
        return int(rng.integers(*REAL))
    if regime == "equal_sizes":
        return EQUAL
    if regime == "bytes":
        return int(rng.integers(130, 250))
    if regime == "crowd":
        return 3
    return 1 if regime == "one_class" else distinct(rng, LONG, V=(3, 23))[0]


def forward(rng, regime, dtype):
    V = sizes(rng, regime)
    rows = leading(rng, "no_batch" if regime in ("far_row", "wide") else regime)
    rows = (65, 65) if regime == "crowd" else rows
    scale = {"huge": 1000.0, "tiny": 1e-7, "confident": 30.0}.get(regime, 1.0)
    logits = normal(rng, (*rows, V), dtype, scale)
    targets = np.asarray(rng.integers(0, V, rows))
    if targets.size > 1 or regime == "wide":  # the last class is one like any other
        targets.flat[int(rng.integers(targets.size))] = V - 1
    ignore = None
    if regime == "bytes":  # targets in bytes, which no place in the logits fits into
        targets = targets.astype(np.uint8)
    if regime == "thousand":  # exactly +-1000, and ties
        logits = (1000.0 * rng.choice([-1.0, 1.0], logits.shape)).astype(dtype)
    if regime == "equal":
        logits = np.zeros_like(logits)
    if regime == "shares":  # rows that could be taken for probabilities
        logits = rng.dirichlet(np.ones(V), rows).astype(dtype)
    if regime == "spread_rows":
        logits = logits * (10.0 ** np.linspace(-5, 2, rows[-1])[:, None]).astype(dtype)
    if regime == "under_limit":  # every row far from 0, its exponentials can still be summed
        level = rng.uniform(0.5, 1, (*rows, 1)) * rng.choice([-1, 1], (*rows, 1))
        logits = (logits + LIMIT[np.dtype(dtype).name] * level).astype(dtype)
    if regime == "large":
        logits[::2, :, int(rng.integers(100, V))] = rng.uniform(800, 5000)
    if regime == "late_peak":  # near the end of a long row, one logit beyond any exponential
        logits[..., V - int(rng.integers(1, 6))] = rng.uniform(800, 5000)
    if regime == "overflow":  # in some rows one logit beyond any exponential
        flat = logits.reshape(-1, V)
        flat[::3, int(rng.integers(0, V))] = rng.uniform(800, 5000)
    if regime == "far_row":  # one row by itself
        logits = logits + logits.dtype.type(rng.choice([-1, 1]) * rng.uniform(800, 5000))
    if regime == "low":  # every logit of every row below any exponential
        logits = (logits - rng.uniform(800, 5000, (*rows, 1))).astype(dtype)
    if regime in ("far_rows", "ignored_far"):  # rows high above 0 and rows far below, in one batch
        level = rng.uniform(1000, 3000, (*rows, 1))
        each = np.arange(level.size).reshape(level.shape)
        logits = (logits + np.where(each % 2 == 0, level, -level)).astype(dtype)
    if regime in ("ignored", "ignored_class", "ignored_zero", "ignored_far", "ignored_beyond"):
        ignore = {"ignored": -100, "ignored_far": -1, "ignored_zero": 0}.get(
            regime, int(rng.integers(0, V))
        )
        ignore = V + int(rng.integers(0, 9999)) if regime == "ignored_beyond" else ignore
        targets = np.where(rng.random(rows) < 0.4, ignore, targets)
        targets.reshape(-1)[0] = (ignore + 1) % V if ignore >= 0 else V - 1  # one is kept
        targets.reshape(-1)[-1] = ignore
    if regime == "ignored_far":  # what counts lies behind what does not
        targets.reshape(-1)[::3] = ignore
        targets.reshape(-1)[-1] = int(rng.integers(1, V))
    if regime == "all_ignored":
        ignore = int(rng.choice([-1, -100]))
        targets = np.full(rows, ignore)
    if regime == "too_few_targets":
        targets = targets[..., :-1]
    if regime == "flat_targets":
        targets = targets.reshape(-1)[:-1]
    if regime == "all_flat":  # as many as there are rows, in another shape
        targets = targets.reshape(-1)
    if regime == "turned":
        targets = targets.reshape(targets.shape[::-1] if rows[0] != rows[-1] else (1, *rows))
    if regime == "class_next":  # the first that is not there
        targets.reshape(-1)[1] = V
    if regime == "class_minus_100":  # what others ignore without being asked
        targets.reshape(-1)[1] = -100
    if regime in ("class_beyond", "class_beyond_ignoring"):
        targets.reshape(-1)[1] = V + int(rng.integers(0, 50))
        if regime == "class_beyond_ignoring":  # another target is ignored, this one is not
            ignore = -100
            targets.reshape(-1)[0] = ignore
    if regime in ("class_negative", "class_negative_ignoring"):
        ignore = -100 if regime == "class_negative_ignoring" else None
        targets.reshape(-1)[1] = -int(rng.integers(1, V + 1))
    if targets.shape == logits.shape[:-1]:
        doubt(logits, targets, ignore)
    return {"logits": logits, "targets": targets, "ignore_index": ignore}


def doubt(logits, targets, ignore):
    """Another target for a row whose own one is all but certain: what is left of its loss and its gradient,
    exp(-40) for example, is 0 or not by the digits that code computes with, and either is right.
    """
    V = logits.shape[-1]
    if np.ptp(logits) <= CERTAIN[logits.dtype.name]:
        return
    for at in np.ndindex(targets.shape):
        target, row = int(targets[at]), logits[at].astype(np.float64)
        if V == 1 or target == ignore or not 0 <= target < V:
            continue
        lead = row[target] - np.delete(row, target).max()
        if CERTAIN[logits.dtype.name] < lead < GONE:
            others = [id for id in np.argsort(row) if id not in (target, ignore)]
            targets[at] = others[0] if others else target


def scaled(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    del drawn["ignore_index"]
    return {**drawn, "factor": float(rng.uniform(2, 5) * (-1 if regime == "turned_round" else 1))}


def large(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    del drawn["ignore_index"]
    return drawn


def sweep(rng, regime, dtype):
    """shown_64, shown_32: number by number up to where the exponentials of that dtype have ended."""
    V = 16 if regime.startswith("shown") else sizes(rng, regime)
    levels = np.arange(0.0, 1001.0, 10.0) if regime == "shown" else rng.uniform(0, 3000, 12)
    if regime in ("shown_64", "shown_32"):
        levels = np.arange(0.0, 751.0)
        dtype = {"shown_64": "float64", "shown_32": "float32"}[regime]
    return {"V": V, "levels": levels, "dtype": np.dtype(dtype).name}


def batch(rng, regime, dtype):
    """Ordinary logits, but in one row: one of them is huge, or all are very low."""
    B, T, V = (2, 8, 16) if regime.startswith("shown") else (3, 4, sizes(rng, regime))
    logits = normal(rng, (B, T, V), dtype)
    if regime.endswith("low"):
        logits[0, 1] -= 1000.0
    else:
        logits[0, 1, 0] = 800.0
    targets = rng.integers(0, V, (B, T))
    targets[0, 1] = 1  # not the token of the huge logit
    return {"logits": logits, "targets": targets}


def climb(rng, regime, dtype):
    """V = 4 and logits 0, 1, ... 40, or anything."""
    shown = regime == "shown"
    levels = np.arange(41.0) if shown else np.sort(rng.uniform(0, 5, 8))
    V = 4 if shown else int(rng.integers(3, 9))
    return {"V": V, "levels": levels, "dtype": np.dtype(dtype).name}


def descend(rng, regime, dtype):
    shown = regime == "shown"
    V = 4 if shown else int(rng.integers(3, 9))
    lr = 1.0 if shown else float(rng.uniform(0.5, 2.0))
    return {"V": V, "steps": 200 if shown else 6, "lr": lr, "dtype": np.dtype(dtype).name}


def elsewhere(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    del drawn["ignore_index"]
    targets = drawn["targets"].reshape(-1)
    several = len(set(targets.tolist())) > 1  # one is left out, and others are kept
    drawn["left_out"] = int(targets[0]) if several else -100
    return {**drawn, "grad": normal(rng, drawn["logits"].shape, dtype)}
