"""Inputs for the LMHead's probes. V lies in 257..1000 and is no multiple of 256, but where said."""

import numpy as np
from pack.common import EQUAL, LONG, REAL, blank, distinct, leading, leaning, leans, normal, varied


def sizes(rng, regime):
    """(V, d): a vocabulary above 256 columns, or below for "small_vocab"."""
    if regime.startswith("shown"):
        return 512, 16
    if regime == "large":
        return int(rng.integers(2100, 2300)), 9
    if regime == "tall":
        return int(rng.integers(*REAL)), 1
    if regime == "crowd":
        return 7, 3
    if regime == "equal_sizes":
        return EQUAL, EQUAL
    if regime == "low_and_wide":
        return distinct(rng, V=(5, 13), d=(20, 40))
    if regime == "one_row":
        return 1, int(rng.integers(3, 7))
    if regime == "small_vocab":
        return distinct(rng, V=(19, 250), d=(3, 13))
    if regime == "divides":
        return int(rng.choice([264, 296, 328, 360, 424, 456, 520, 616])), int(rng.integers(3, 7))
    if regime == "one_column":
        return int(rng.integers(257, 500)), 1
    while True:
        V, d = distinct(rng, V=(257, 1000), d=(3, 11))
        if V % 256:
            return V, d


def width(rng, regime, dtype):
    V, d = sizes(rng, regime)
    if regime == "large":  # more than two bytes can count
        V, d = int(rng.integers(65_600, 69_000)), 1
    (V,) = leaning(rng, [V], largest=LONG)
    d = 1 if V > 5000 else d
    return {"weight": empty_rows(rng, regime, normal(rng, (V, d), dtype))}


def empty_rows(rng, regime, weight):
    """In "empty_rows" a few rows of the table are 0, as a padding token's may be."""
    if regime == "empty_rows":
        weight[rng.choice(len(weight), 3, replace=False)] = 0.0
    return weight


def tied(rng, regime, dtype):
    V, d = sizes(rng, regime)
    return {
        "weight": normal(rng, (V, d), dtype),
        "other": normal(rng, (V, d), dtype),
        "h": normal(rng, (3, d), dtype),
    }


@varied
def forward(rng, regime, dtype):
    V, d = sizes(rng, regime)
    (V,) = leaning(rng, [V], largest=LONG)
    d = 3 if V > 5000 and regime != "tall" else d
    rows = leading(rng, "normal" if regime == "large" else regime)
    if leans(rng) and max(rows, default=0) > 100:  # many rows: fewer columns, and one axis of rows
        V, rows = (V if V < 40 else 29), (max(rows),)
    if V > 5000:
        rows = rows[:1]
    rows = {"tall": (), "crowd": (35, 65)}.get(regime, rows)
    scale = {"huge": 1e4, "tiny": 1e-8}.get(regime, 1.0)
    h = normal(rng, (*rows, d), dtype, scale)
    if regime == "spread_rows":  # each row a few orders of magnitude above the one before
        h = h * (10.0 ** np.linspace(-4, 4, h.shape[-2], dtype=dtype))[:, None].astype(dtype)
    h = blank(rng, regime, h)
    if regime == "constant_rows":
        h = np.broadcast_to(h[..., :1], h.shape).copy()
    return {
        "weight": empty_rows(rng, regime, normal(rng, (V, d), dtype)),
        "h": h,
        "grad": normal(rng, (*rows, V), dtype),
    }


def batch(rng, regime, V):
    if regime == "divides":  # B * T * V is a multiple of 256: the reshape is possible
        return rng.integers(0, V, (4, 8)), rng.integers(0, 256, (4, 8))
    B, T = (
        (2, 8) if regime.startswith("shown") else (int(rng.integers(1, 4)), int(rng.integers(3, 6)))
    )
    ids = rng.integers(0, V, (B, T))
    highest = min(V, 256)
    if regime in (
        "high_targets",
        "shown_high",
    ):  # at least one target that only a full vocabulary can score
        targets = rng.integers(0, V, (B, T))
        targets[0, -1] = int(rng.integers(highest, V))
    else:
        targets = rng.integers(0, highest, (B, T))
    if regime == "repeated":
        ids = np.full_like(ids, int(rng.integers(0, V)))
    return ids, targets


def pipeline(rng, regime, dtype):
    V, d = sizes(rng, regime)
    ids, targets = batch(rng, regime, V)
    return {"weight": normal(rng, (V, d), dtype, 0.02 if regime.startswith("shown") else 0.5),
            "ids": ids, "targets": targets}  # fmt: skip


def training(rng, regime, dtype):
    inputs = pipeline(rng, regime, dtype)
    steps = 20 if regime == "shown" else 3
    return {**inputs, "lr": 5.0 if regime == "shown" else 0.3, "steps": steps}


def fresh(rng, regime, dtype):
    """ids and targets (B, T) from one text in which no token comes twice."""
    V, d = (512, 64) if regime.startswith("shown") else distinct(rng, V=(401, 600), d=(48, 80))
    text = rng.permutation(V)[:132].reshape(4, 33)
    return {
        "vocab_size": V,
        "d_model": d,
        "seed": int(rng.integers(1 << 30)),
        "ids": text[:, :-1].copy(),
        "targets": text[:, 1:].copy(),
    }


def widths(rng, regime, dtype):
    drawn = fresh(rng, regime, dtype)
    del drawn["d_model"]
    return {**drawn, "d_models": [4, 8, 16, 32, 64, 128]}


def seeds(rng, regime, dtype):
    return {**fresh(rng, regime, dtype), "count": 300 if regime == "shown" else 3}


def elsewhere(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    return {**drawn, "more_grad": normal(rng, drawn["h"].shape, dtype)}
