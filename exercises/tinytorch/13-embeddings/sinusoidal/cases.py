"""Inputs for the waves: nothing but sizes. Odd widths end on a sine without its cosine."""

from pack.common import SHOWN, distinct


def table(rng, regime, dtype):
    T, half = distinct(rng, T=(9, 40), half=(3, 11))
    d = 2 * half + (1 if regime == "odd" else 0)
    while d in SHOWN or d == T:
        d += 2
    d = {
        "one_column": 1,
        "shown_pair": 2,
        "three_columns": 3,
        "wide": int(rng.integers(65, 90)),
    }.get(regime, d)
    if regime == "large":
        T, d = int(rng.integers(130, 150)), int(rng.integers(1030, 1100))
    if regime == "long":  # float32 angles lose digits far out
        T = int(rng.integers(60, 90))
    if regime == "far":
        T, d = int(rng.integers(5100, 6000)), int(rng.integers(3, 6))
    return {"max_seq_len": 1 if regime == "one_position" else T, "embed_dim": d}


def again(rng, regime, dtype):
    T, more, d = distinct(rng, T=(9, 20), more=(21, 33), d=(5, 13))
    return {"max_seq_len": T, "longer": more, "embed_dim": d, "wider": d + 8}


def goes_on(rng, regime, dtype):
    if regime == "shown":
        return {"max_seq_len": 512, "longer": 1024, "embed_dim": 16}
    T, more, d = distinct(rng, T=(9, 20), more=(21, 33), d=(5, 13))
    return {"max_seq_len": T, "longer": more, "embed_dim": d}


def similar(rng, regime, dtype):
    if regime == "shown":
        return {"max_len": 512, "d_model": 16}
    T, half = distinct(rng, T=(70, 90), half=(3, 7))
    return {"max_len": T, "d_model": 2 * half}


def turned(rng, regime, dtype):
    if regime == "shown":
        return {"max_seq_len": 128, "embed_dim": 16}
    T, half = distinct(rng, T=(20, 40), half=(3, 7))
    return {"max_seq_len": T, "embed_dim": 2 * half}


def written(rng, regime, dtype):
    T, d = distinct(rng, T=(9, 20), d=(5, 13))
    return {"max_len": T, "d_model": d}
