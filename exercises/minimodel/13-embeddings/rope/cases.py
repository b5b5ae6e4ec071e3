"""Inputs for rope. Positions are plain integers (T,); d is even but where the regime says otherwise."""

import numpy as np
from pack.common import EQUAL, FIRSTS, ROWS, SHOWN, blank, distinct, normal, varied


def sizes(rng, regime):
    """(leading axes, T, d), d even; all different, but in "equal_sizes"."""
    if regime == "large":
        return (3,), int(rng.integers(130, 150)), 34
    if regime == "shown_pair":
        return (3,), 5, 2
    if regime == "equal_sizes":
        return (EQUAL, EQUAL), EQUAL, EQUAL
    while True:
        B, T, half = distinct(rng, ROWS, B=(3, 4), T=(3, 7), half=(3, 7))
        d = 4 if regime == "two_pairs" else 2 * half
        if regime == "lone_columns" and (T < 4 or d < T):
            continue
        if d not in SHOWN and len({B, T, half, d}) == 4:
            break
    T = 1 if regime in ("one_position", "one_offset") else T
    lead = {
        "no_batch": (), "single": (1,), "one_first": (1, B), "deep": (2, 1, B), "one_position": (),
    }.get(regime.removesuffix("_offset"), (B,))  # fmt: skip
    return lead, T, d


def places(rng, regime, T, dtype):
    """Positions (T,), or None for 0 .. T - 1."""
    far = 3000 if dtype == "float64" else 90  # float32 angles lose digits far out
    if regime in (
        "offset",
        "one_offset",
        "offset_base",
        "no_batch_offset",
        "deep_offset",
    ):  # a cache already holds the positions before
        return int(rng.integers(5, far)) + np.arange(T)
    if regime == "far":
        return np.sort(rng.integers(2000, 5000, T))
    if regime in ("very_far", "narrow"):  # of which two bytes cannot hold one, or twice as much
        low, high = (33_000, 70_000) if regime == "very_far" else (17_000, 32_000)
        found = np.sort(rng.integers(*((low, high) if dtype == "float64" else (60, far)), T))
        return found.astype(np.int16) if regime == "narrow" else found
    if regime in ("any_order", "int32", "unsigned"):
        found = rng.integers(0, 90 if regime == "unsigned" else far, T)
        return found.astype({"int32": np.int32, "unsigned": np.uint8}.get(regime, found.dtype))
    if regime == "negative":
        return -rng.integers(1, 60, T)
    if regime == "repeated":
        return np.full(T, int(rng.integers(3, 60)))
    if regime == "zero":
        return np.zeros(T, dtype=np.int64)
    if regime == "backwards":
        return np.arange(T)[::-1].copy()
    return None


def bases(rng, regime):
    """The base, or None for the default."""
    if regime in ("small_base", "offset_base"):
        return float(rng.uniform(1.5, 30.0))
    if regime == "large_base":
        return float(rng.choice([1e5, 5e5, 1e6]))
    return None


@varied
def forward(rng, regime, dtype):
    lead, T, d = sizes(rng, regime)
    x = normal(rng, (*lead, T, d), dtype, {"huge": 1e6, "tiny": 1e-9}.get(regime, 1.0))
    if regime == "spread_rows":
        x = x * (10.0 ** np.linspace(-4, 4, T))[:, None].astype(dtype)
    if regime == "lone_columns":  # in each position a single column that is not 0, even or odd
        kept = np.arange(d) == rng.permutation(d)[:T, None]
        x = np.where(kept, x, np.zeros_like(x))
    x = blank(rng, regime, x)
    if regime == "constant_rows":
        x = np.broadcast_to(x[..., :1], x.shape).copy()
    if regime == "odd_width":
        x = x[..., :-1].copy()
    if regime == "one_column":
        x = x[..., :1].copy()
    return {
        "x": x,
        "positions": places(rng, regime, T, dtype),
        "base": bases(rng, regime),
        "grad": normal(rng, x.shape, dtype),
    }


def relative(rng, regime, dtype):
    _, T, d = sizes(rng, regime)
    return {
        "q": normal(rng, (d,), dtype),
        "k": normal(rng, (d,), dtype),
        "positions": np.sort(rng.choice(40, T, replace=False)),
        "shift": int(rng.integers(1, 50)),
    }


def looks_back(rng, regime, dtype):
    """A width, T distances, the distance that a head looks back, and a shift of everything."""
    if regime == "shown":
        return {"d": 16, "T": 16, "back": 3, "shift": 7}
    _, T, d = sizes(rng, "normal")
    return {"d": d, "T": T + 6, "back": int(rng.integers(1, T)), "shift": int(rng.integers(1, 20))}


def one_column(rng, regime, dtype):
    return {"d": 16 if regime == "shown" else sizes(rng, "normal")[-1]}


def more(size):
    """A greater size of the same parity, none of SHOWN."""
    return size + 2 if size + 2 not in SHOWN else size + 4


def again(rng, regime, dtype):
    drawn = forward(rng, "normal", dtype)
    x = drawn["x"]
    T, d = x.shape[-2:]
    return {
        "x": x,
        "longer": normal(rng, (more(T), d), dtype),
        "wider": normal(rng, (T, more(d)), dtype),
        "growing": normal(rng, (max(FIRSTS), d), dtype),
        "firsts": np.array(FIRSTS),
        "positions": places(rng, "any_order", T, dtype),
        "base": int(rng.integers(2, 30)) + 0.25,
        "grad": drawn["grad"],
        "more_grad": normal(rng, x.shape, dtype),
    }


def residual(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    del drawn["base"]
    return {**drawn, "positions": places(rng, "any_order", drawn["x"].shape[-2], dtype)}


def fractions(rng, regime, dtype):
    """As where a longer context is squeezed into the positions of a shorter one."""
    x = forward(rng, "no_batch", dtype)["x"]
    return {"x": x, "positions": (np.arange(len(x)) + rng.uniform(0.1, 0.4)) * 0.9}
