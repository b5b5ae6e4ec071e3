"""Inputs for the schedule: its four settings, and the iterations at which it is asked for."""

import numpy as np


def settings(rng, regime):
    warmup = int(rng.integers(4, 20))
    cycle = warmup + 2 * int(rng.integers(4, 30))  # so that there is an iteration halfway
    if regime == "long":
        warmup = int(rng.integers(1000, 3000))
        cycle = warmup + 2 * int(rng.integers(20_000, 90_000))
    if regime == "no_warmup":
        warmup, cycle = 0, cycle - warmup
    if regime == "short":
        warmup, cycle = 1, 3
    highest = float(rng.uniform(0.01, 1.0)) * (1e-4 if regime == "long" else 1.0)
    lowest = 0.0 if regime == "to_zero" else highest * float(rng.uniform(0.1, 0.4))
    return {
        "max_learning_rate": highest,
        "min_learning_rate": lowest,
        "warmup_iters": warmup,
        "cosine_cycle_iters": cycle,
    }


def asked(its, given):
    return {"its": np.array(sorted(its)), **given}


def some(low, high, most=12):
    """At most so many whole numbers from low to high, both included, evenly apart."""
    return {int(n) for n in np.linspace(low, high, most)}


def warmup(rng, regime, dtype):
    given = settings(rng, regime)
    return asked(some(0, given["warmup_iters"] - 1), given)


def top(rng, regime, dtype):
    given = settings(rng, regime)
    return asked({given["warmup_iters"]}, given)


def cosine(rng, regime, dtype):
    given = settings(rng, regime)
    return asked(some(given["warmup_iters"] + 1, given["cosine_cycle_iters"] - 1), given)


def halfway(rng, regime, dtype):
    given = settings(rng, regime)
    return asked({(given["warmup_iters"] + given["cosine_cycle_iters"]) // 2}, given)


def after(rng, regime, dtype):
    given = settings(rng, regime)
    cycle = given["cosine_cycle_iters"]
    return asked({cycle, cycle + 1, cycle + int(rng.integers(2, 20)), 2 * cycle, 10 * cycle}, given)


def whole(rng, regime, dtype):
    """shown: a warm-up of 40 of 100 iterations, from 1 down to 0.1."""
    given = {
        "max_learning_rate": 1.0, "min_learning_rate": 0.1, "warmup_iters": 40, "cosine_cycle_iters": 100,
    }  # fmt: skip
    given = given if regime == "shown" else settings(rng, "normal")
    return {"steps": given["cosine_cycle_iters"] + 20, **given}
