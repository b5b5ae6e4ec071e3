"""Inputs for the Embedding's probes."""

import numpy as np
from pack.common import EQUAL, distinct, leaning, normal

SENTENCE = [[0, 1, 2, 0, 3, 2, 0, 4], [5, 0, 6, 2, 0, 1, 5, 7]]  # 16 words, 8 of them different


def sizes(rng, regime):
    """(V, d)"""
    fixed = {
        "one_column": (23, 1),
        "large": (1201, 39),
        "equal_sizes": (EQUAL, EQUAL),
        "one_row": (1, 5),
    }
    return fixed.get(regime) or distinct(rng, V=(17, 60), d=(3, 13))


def lead(rng, regime):
    """The shape of the ids, (B, T)."""
    fixed = {"single": (1, 1), "large": (3, 37), "equal_sizes": (EQUAL, EQUAL)}
    sizes = (int(rng.integers(2, 4)), int(rng.integers(3, 5)))
    return fixed.get(regime) or tuple(leaning(rng, sizes))


def ids_for(rng, regime, V):
    if regime == "ends":
        return rng.permutation(np.array([0, V - 1, V - 1, 0, V // 2]))
    if regime == "one_axis":  # none comes twice
        return rng.permutation(V)[: int(rng.integers(3, 8))]
    if regime == "repeated":
        return rng.choice(rng.permutation(V)[:2], (3, 4))
    return rng.integers(0, V, lead(rng, regime))


def forward(rng, regime, dtype):
    V, d = sizes(rng, regime)
    ids = ids_for(rng, regime, V)
    scale = {"huge": 1e6, "tiny": 1e-9}.get(regime, 1.0)
    return {
        "weight": normal(rng, (V, d), dtype, scale),
        "ids": ids,
        "grad": normal(rng, (*ids.shape, d), dtype),
    }


def twice(rng, regime, dtype):
    V, d = sizes(rng, regime)
    ids, more = ids_for(rng, regime, V), ids_for(rng, regime, V)
    return {
        "weight": normal(rng, (V, d), dtype),
        "other": normal(rng, (V, d), dtype),
        "ids": ids,
        "more_ids": more,
        "grad": normal(rng, (*ids.shape, d), dtype),
        "more_grad": normal(rng, (*more.shape, d), dtype),
    }


def squared(rng, regime, dtype):
    return forward(rng, regime, dtype)


def outside(rng, regime, dtype):
    V, d = sizes(rng, "normal")
    ids = rng.integers(0, V, (2, 3))
    if regime == "negative":
        ids[1, 1] = -int(rng.integers(1, V))
    elif regime == "first_beyond":
        ids[0, 2] = V
    elif regime == "far_beyond":
        ids[1, 0] = V + int(rng.integers(3, 1000))
    return {"weight": normal(rng, (V, d), dtype), "ids": ids}


def received(rng, regime, dtype):
    """A sentence (2, 8), or ids of which one is more frequent than the others."""
    if regime == "shown":
        return {"weight": normal(rng, (8, 4), dtype), "ids": np.array(SENTENCE)}
    V, d = sizes(rng, regime)
    ids = rng.permutation(np.repeat(rng.permutation(V)[:4], [6, 3, 2, 1])).reshape(3, 4)
    return {"weight": normal(rng, (V, d), dtype), "ids": ids}


def fit(rng, regime, dtype):
    """Each position has a target of its own, so a token that comes again cannot meet them all."""
    drawn = received(rng, regime, dtype)
    targets = normal(rng, (*drawn["ids"].shape, drawn["weight"].shape[1]), dtype)
    return {**drawn, "targets": targets, "lr": 1.0, "steps": 60 if regime == "shown" else 25}


def attributes(rng, regime, dtype):
    V, d = distinct(rng, V=(20, 90), d=(3, 15))
    return {"vocab_size": V, "embed_dim": d}


def trainable(rng, regime, dtype):
    return attributes(rng, regime, dtype)


START_SIZES = {"wide": (151, 1501), "tall": (50_261, 7), "square": (461, 461)}


def initialisation(rng, regime, dtype):
    """So many numbers that the statistics hardly move."""
    V, d = START_SIZES.get(regime, (1501, 151))
    return {"vocab_size": V, "embed_dim": d, "seed": int(rng.integers(1 << 30))}


def start(rng, regime, dtype):
    V, d = (10_000, 256) if regime == "shown" else (1501, 151)
    return {"vocab_size": V, "embed_dim": d, "seed": int(rng.integers(1 << 30))}


def wrapped(rng, regime, dtype):
    V, d = (10, 4) if regime == "shown" else distinct(rng, V=(11, 15), d=(3, 7))
    return {"weight": normal(rng, (V, d), dtype), "wide": V + 5}


def memory(rng, regime, dtype):
    V, d = (10_000, 256) if regime == "shown" else distinct(rng, V=(20, 90), d=(3, 15))
    return {"vocab_size": V, "embed_dim": d}
