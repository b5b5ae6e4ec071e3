"""Inputs for PositionalEncoding: a table (max_seq_len, d), and x (B, T, d) with T up to max_seq_len."""

from pack.common import EQUAL, SHOWN, distinct, normal


def sizes(rng, regime):
    """(B, T, max_seq_len, d), all different but where the regime says otherwise."""
    if regime == "large":
        return 3, int(rng.integers(130, 150)), 157, 39
    if regime == "equal_sizes":
        return EQUAL, EQUAL, EQUAL, EQUAL
    if regime == "square":  # as many sequences as positions
        return 12, 12, 21, 5
    while True:
        B, T, d = distinct(rng, B=(3, 4), T=(3, 7), d=(3, 13))
        n = T + int(rng.integers(2, 6))
        if n not in {B, d, *SHOWN}:
            break
    T = {"one_position": 1, "full_one": 1, "one_short": n - 1}.get(regime, T)
    n = T if regime.startswith("full") else n
    n = 1 if regime == "too_long_for_one" else n  # one row would broadcast
    T = {"too_long": n + 1, "far_too_long": n + int(rng.integers(3, 40))}.get(regime, T)
    return 1 if regime == "single" else B, T, n, 1 if regime == "one_column" else d


def forward(rng, regime, dtype):
    B, T, n, d = sizes(rng, regime)
    scale = {"huge": 1e6, "tiny": 1e-9}.get(regime, 1.0)
    return {
        "weight": normal(rng, (n, d), dtype, scale),
        "x": normal(rng, (B, T, d), dtype, scale),
        "grad": normal(rng, (B, T, d), dtype),
    }


def too_long(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    return {"weight": drawn["weight"], "x": drawn["x"]}


def residual(rng, regime, dtype):
    return forward(rng, regime, dtype)


def start(rng, regime, dtype):
    n, d = distinct(rng, n=(9, 40), d=(3, 13))
    return {"max_seq_len": n, "embed_dim": d}


def trainable(rng, regime, dtype):
    return start(rng, regime, dtype)


def initialisation(rng, regime, dtype):
    n, d = (151, 1501) if regime == "wide" else (1501, 151)
    return {"max_seq_len": n, "embed_dim": d, "seed": int(rng.integers(1 << 30))}


def again(rng, regime, dtype):
    """Two calls of other lengths on one table, or the second of one position, as after a prompt."""
    B, T, more, d = distinct(rng, B=(3, 4), T=(3, 6), more=(5, 9), d=(4, 13))
    more = 1 if regime == "then_one" else more
    n = max(T, more) + int(rng.integers(1, 4))
    return {
        "weight": normal(rng, (n, d), dtype),
        "new_weight": normal(rng, (n, d), dtype),
        "x": normal(rng, (B, T, d), dtype),
        "other": normal(rng, (1, more, d), dtype),
        "grad": normal(rng, (B, T, d), dtype),
        "other_grad": normal(rng, (1, more, d), dtype),
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
