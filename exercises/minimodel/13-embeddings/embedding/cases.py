"""Inputs for the Embedding's probes."""

import numpy as np
from pack.common import EQUAL, LONG, REAL, distinct, leading, leans, normal, varied


def dtype(rng, regime, dtype):
    return {}


def attributes(rng, regime, dtype):
    V, d = distinct(rng, V=(20, 90), d=(3, 15))
    return {"vocab_size": V, "d_model": d}


START_SIZES = {"wide": (37, 811), "small": (29, 23), "very_wide": (41, 6007), "tall": (50_261, 3)}


def initialisation(rng, regime, dtype):
    V, d = START_SIZES.get(regime, (1501, 21))
    seed = None if regime == "unseeded" else int(rng.integers(1 << 30))
    return {"vocab_size": V, "d_model": d, "seed": seed}


def tables(rng, regime, dtype):
    V, d = (1, 1) if regime == "one_number" else (2, 2)
    return {"vocab_size": V, "d_model": d, "count": 1000, "seed": int(rng.integers(1 << 30))}


def elsewhere(rng, regime, dtype):
    others = {
        "LearnedPositional": [11, 6],
        "LSTM": [3, 5],
        "MultiHeadAttention": [6, 3],
        "FFN": [6, 7],
    }
    return {"others": others, "seed": int(rng.integers(1 << 30))}


def sizes(rng, regime):
    if regime == "one_column":
        return int(rng.integers(11, 40)), 1
    if regime == "large":
        return int(rng.integers(1100, 1300)), 39
    if regime == "many_ids":
        return 7, 2
    if regime == "crowded":
        return 1250, 2
    if regime == "tall":
        return int(rng.integers(*REAL)), 1
    if regime == "equal_sizes":
        return EQUAL, EQUAL
    if regime == "one_row":
        return 1, int(rng.integers(3, 8))
    if regime == "repeated_bytes":  # no byte holds the place of a number in the table
        return distinct(rng, V=(100, 250), d=(7, 13))
    return distinct(rng, LONG, V=(17, 60), d=(3, 13))


def ids_for(rng, regime, V):
    shape = {"many_ids": (73, 139), "crowded": (40, 50), "tall": (3, 1)}.get(regime) or leading(
        rng, regime
    )
    if regime in ("repeated", "repeated_int32", "repeated_bytes"):
        two = (V // 2, V - 1) if regime == "repeated_bytes" else rng.integers(0, V, 2)
        ids = rng.choice(two, size=(3, 4))
        kind = {"repeated_int32": np.int32, "repeated_bytes": np.uint8}.get(regime, ids.dtype)
        return ids.astype(kind)
    if regime == "round_counts":  # whoever counts in bytes has 0 of the one, and 1 of the other
        first, second = rng.permutation(V)[:2]
        return rng.permutation(np.repeat([first, second], [256, 257])).reshape(27, 19)
    if regime == "ends":
        return rng.permutation(np.array([0, V - 1, V - 1, 0, V // 2]))
    ids = rng.integers(0, V, shape)
    if (leans(rng) or regime == "tall") and ids.size:  # a large table is looked at where it ends
        ids.reshape(-1)[-1] = V - 1
    return ids.astype(np.int32) if regime == "int32" else np.asarray(ids)


SENTENCE = [[0, 1, 2, 0, 3, 2, 0, 4], [5, 0, 6, 2, 0, 1, 5, 7]]  # 16 words, 8 of them different


@varied
def forward(rng, regime, dtype):
    V, d = sizes(rng, regime)
    ids = ids_for(rng, regime, V)
    scale = {"huge": 1e6, "tiny": 1e-9}.get(regime, 1.0)
    return {
        "weight": normal(rng, (V, d), dtype, scale),
        "ids": ids,
        "grad": normal(rng, (*ids.shape, d), dtype),
    }


def uneven(rng, regime, dtype):
    """Powers of 2, which cost no digit."""
    drawn = forward(rng, "normal", dtype)
    drawn["ids"] = drawn["ids"] % 5  # that each comes several times
    far = 40 if dtype == "float64" else 20
    sizes = 2.0 ** rng.integers(-far, far, len(drawn["weight"]))
    return {**drawn, "sizes": sizes.astype(dtype)}


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


def together(rng, regime, dtype):
    drawn = twice(rng, regime, dtype)
    del drawn["other"]
    return drawn


def lookup_only(rng, regime, dtype):
    V, d = sizes(rng, "normal")
    ids = rng.integers(0, V, (2, 3))
    if regime == "float_ids":
        ids = ids.astype(np.float64)
    elif regime == "bool_ids":
        ids = ids > V // 2
    elif regime == "negative":
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
