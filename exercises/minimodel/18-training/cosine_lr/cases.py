"""Inputs for cosine_lr: a schedule, and the steps at which it is asked for, in any order."""

import numpy as np


def spans(rng, regime):
    """warmup, total"""
    if regime == "no_warmup":
        return 0, int(rng.integers(5, 40))
    if regime == "short":
        return 1, int(rng.integers(2, 5))
    if regime == "last_step":  # the cosine has a single step
        warmup = int(rng.integers(3, 20))
        return warmup, warmup + 1
    if regime == "long":
        return int(rng.integers(1000, 5000)), int(rng.integers(10**5, 10**6))
    warmup = int(rng.integers(3, 20))
    return warmup, warmup + int(rng.integers(5, 60))


def rates(rng, regime):
    """max_lr, min_lr"""
    max_lr = float(rng.uniform(0.01, 1.0))
    if regime == "to_zero":
        return max_lr, 0.0
    if regime == "quick":
        max_lr += 2.5
    if regime == "flat":
        return max_lr, max_lr
    if regime == "tiny":
        return 1e-7 * max_lr, 1e-9 * max_lr
    return max_lr, max_lr * float(rng.uniform(0.1, 0.5))


def joints(warmup, total):
    """The steps where one part of the schedule ends and another begins, and their neighbours."""
    return {max(0, at + by) for at in (0, warmup, total) for by in (-1, 0, 1)}


def settings(rng, regime):
    """max_lr, min_lr, warmup, total"""
    warmup, total = spans(rng, regime)
    max_lr, min_lr = rates(rng, regime)
    return {"max_lr": max_lr, "min_lr": min_lr, "warmup": warmup, "total": total}


def schedule(rng, regime, dtype):
    """Steps up to `total`."""
    given = settings(rng, regime)
    warmup, total = given["warmup"], given["total"]
    steps = joints(warmup, total) | set(range(0, total, max(1, total // 25)))
    first = 0 if warmup else 1  # step 0 without a warm-up is for `start`
    steps = np.array(sorted(step for step in steps if first <= step <= total))
    if regime == "any_order":
        steps = rng.permutation(np.concatenate([steps, steps]))
    return {"steps": steps, **given}


def after(rng, regime, dtype):
    """Steps beyond `total`."""
    given = settings(rng, regime)
    total = given["total"]
    beyond = {total + 1, total + int(rng.integers(2, 50)), 2 * total, 10 * total, 10**9}
    return {"steps": np.array(sorted(beyond)), **given}


def returned(rng, regime, dtype):
    """A step of the warm-up, one of the cosine, and one beyond `total`."""
    given = settings(rng, regime)
    total = given["total"]
    return {"steps": np.array([1, total - 1, total + 3]), **given}


def start(rng, regime, dtype):
    """The first step of a schedule without warm-up: the contract has it be 0 and be max_lr."""
    return settings(rng, "no_warmup")


def two(rng, regime, dtype):
    """Two schedules, asked for in turns."""
    first, second = settings(rng, "normal"), settings(rng, "to_zero")
    last = min(first["total"], second["total"])
    return {
        "steps": np.arange(0, last, max(1, last // 12)),
        **first,
        **{"other_" + name: value for name, value in second.items()},
    }
