"""Inputs for LearnedPositional: a table (max_len, d), and x (..., T, d) with T up to max_len."""

import numpy as np
from pack.common import EQUAL, LONG, ROWS, SHOWN, blank, distinct, normal, varied


def sizes(rng, regime):
    """(leading axes, T, max_len, d), all different but where the regime says otherwise."""
    if regime.startswith("shown"):
        return (), 8 if regime == "shown_full" else 5, 8, 16
    if regime == "large":
        return (3,), int(rng.integers(130, 150)), 157, 39
    if regime == "equal_sizes":
        return (EQUAL,), EQUAL, EQUAL, EQUAL
    if regime == "square":  # as many sequences as positions
        return (12,), 12, 21, 5
    while True:
        B, T, d = distinct(rng, ROWS, B=(3, 4), T=(3, 7), d=(3, 13))
        n = T + int(rng.integers(2, 6))
        if n not in {B, d, *SHOWN}:
            break
    n = d if regime == "square_table" else n
    T = min(T, d - 1) if regime == "square_table" else T
    T = {"one_position": 1, "full_one": 1, "one_short": n - 1}.get(regime, T)
    n = T if regime.startswith("full") else 1 if regime == "full_one" else n
    n = 1 if regime == "too_long_for_one" else n  # one row would broadcast
    T = {"too_long": n + 1, "far_too_long": n + int(rng.integers(3, 40))}.get(regime, T)
    d = 1 if regime == "one_column" else d
    lead = {
        "no_batch": (), "single": (1,), "one_first": (1, B), "deep": (2, 1, B), "one_position": (),
        "deep_and_wide": (2, n + 2),
    }.get(regime, (B,))  # fmt: skip
    return lead, T, n, d


@varied
def forward(rng, regime, dtype):
    lead, T, n, d = sizes(rng, regime)
    scale = {"huge": 1e6, "tiny": 1e-9}.get(regime, 1.0)
    x = normal(rng, (*lead, T, d), dtype, scale)
    if regime == "spread_rows":
        x = x * (10.0 ** np.linspace(-4, 4, T))[:, None].astype(dtype)
    return {
        "weight": normal(rng, (n, d), dtype, scale),
        "x": blank(rng, regime, x),
        "grad": normal(rng, x.shape, dtype),
    }


def start(rng, regime, dtype):
    n, d = distinct(rng, LONG, n=(9, 40), d=(3, 13))
    return {"max_len": n, "d_model": d, "seed": int(rng.integers(1 << 30))}


def again(rng, regime, dtype):
    """Two calls of other lengths on one table, or both of one position, or the second alone, as after a
    prompt; then another table. "evaluating": so, in the mode that changes nothing here.
    """
    B, T, more, d = distinct(rng, B=(3, 4), T=(3, 6), more=(5, 9), d=(4, 13))
    T = 1 if regime == "one_position" else T
    more = more if regime == "normal" else 1
    n = max(T, more) + int(rng.integers(1, 4))
    return {
        "weight": normal(rng, (n, d), dtype),
        "new_weight": normal(rng, (n, d), dtype),
        "evaluating": regime == "evaluating",
        "x": normal(rng, (B, T, d), dtype),
        "other": normal(rng, (more, d), dtype),
        "grad": normal(rng, (B, T, d), dtype),
        "other_grad": normal(rng, (more, d), dtype),
    }


def rows(rng, regime, dtype):
    """A table of which row t holds the number t, and zeros for x."""
    n, d = (8, 16) if regime == "shown" else distinct(rng, n=(5, 11), d=(3, 13))
    return {"max_len": n, "d_model": d}


def loaded(rng, regime, dtype):
    """A table as it is after training."""
    n, d = (8, 16) if regime == "shown" else distinct(rng, n=(6, 11), d=(3, 13))
    return {"weight": normal(rng, (n, d), dtype)}


def learns(rng, regime, dtype):
    """Targets for the first T positions of max_len; the table starts as zeros."""
    T, n, d = (7, 8, 16) if regime == "shown" else (*distinct(rng, T=(3, 5), n=(7, 11)), 4)
    return {
        "max_len": n,
        "target": normal(rng, (T, d), dtype),
        "lr": 0.1,
        "steps": 30 if regime == "shown" else 5,
    }


def residual(rng, regime, dtype):
    return forward(rng, regime, dtype)
