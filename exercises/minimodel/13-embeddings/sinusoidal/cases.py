"""Inputs for sinusoidal: nothing but sizes. Odd widths end on a sine without its cosine."""

from pack.common import SHOWN, distinct, leaning, leans


def table(rng, regime, dtype):
    if regime == "large":
        return {"max_len": int(rng.integers(130, 150)), "d_model": int(rng.integers(39, 50))}
    T, half = distinct(rng, T=(9, 40), half=(3, 11))
    d = 2 * half + (1 if regime == "odd" else 0)
    while d in SHOWN or d == T:
        d += 2
    if regime == "wide":
        d = int(rng.integers(65, 90))
    if regime == "very_wide":
        T, d = int(rng.integers(120, 150)), int(rng.integers(1030, 1100))
    if regime == "long":  # float32 angles lose digits far out
        T = int(rng.integers(2000, 3000)) if dtype == "float64" else int(rng.integers(60, 90))
    if regime == "far":
        T, d = int(rng.integers(5100, 6000)), int(rng.integers(3, 6))
    T = leaning(rng, [T], largest=20_000)[0]
    T = 1 if regime == "one_position" and not leans(rng) else T
    d = {"one_column": 1, "shown_pair": 2, "three_columns": 3}.get(regime, d)
    return {"max_len": T, "d_model": d}


def again(rng, regime, dtype):
    T, more, d = distinct(rng, T=(9, 20), more=(21, 33), d=(5, 13))
    return {"max_len": T, "longer": more, "d_model": d, "wider": d + 8}


def written(rng, regime, dtype):
    T, d = distinct(rng, T=(9, 20), d=(5, 13))
    return {"max_len": T, "d_model": d}


def similar(rng, regime, dtype):
    if regime == "shown":
        return {"max_len": 512, "d_model": 16}
    T, half = distinct(rng, T=(70, 90), half=(3, 7))
    return {"max_len": T, "d_model": 2 * half}
