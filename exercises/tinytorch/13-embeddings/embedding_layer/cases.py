"""Inputs for EmbeddingLayer: a table of tokens, one of positions where they are learned, and ids.

`pos` is told apart from the regime by its beginning: learned, sinusoidal or none; "scaled" in the
regime asks for scale_embeddings=True.
"""

import numpy as np
from pack.common import SHOWN, distinct, normal

KINDS = {"learned": "learned", "sinusoidal": "sinusoidal", "none": None}


def kind(regime):
    """(pos, scale)"""
    return KINDS[regime.split("_")[0]], "scaled" in regime


def sizes(rng, regime):
    """(shape of the ids, max_seq_len, V, d), all sizes different but where the regime says otherwise."""
    if "large" in regime:
        return (3, int(rng.integers(130, 150))), 157, int(rng.integers(1100, 1300)), 39
    if "long" in regime and "too" not in regime:  # more positions than the default
        n = int(rng.integers(520, 600))
        return (1, n), n, int(rng.integers(17, 40)), 3
    while True:
        B, T, d, V = distinct(rng, B=(3, 4), T=(3, 7), d=(3, 13), V=(17, 40))
        n = T + int(rng.integers(2, 6))
        if n not in {B, d, V, *SHOWN}:
            break
    T = 1 if "one_position" in regime else T
    n = T if "full" in regime else n
    n = 1 if "for_one" in regime else n
    T = n + int(rng.integers(1, 5)) if "too_long" in regime and n > 1 else T
    d = 1 if "one_column" in regime else d
    return (T,) if "no_batch" in regime else (B, T), n, V, d


def drawn(rng, regime, dtype):
    shape, n, V, d = sizes(rng, regime)
    pos, scale = kind(regime)
    size = 1e6 if "huge" in regime else 1e-9 if "tiny" in regime else 1.0
    ids = rng.integers(0, V, shape)
    if "repeated" in regime:
        ids = rng.choice(ids.reshape(-1)[:2], ids.shape)
    return {
        "pos": pos,
        "scale": scale,
        "max_seq_len": n,
        "tokens": normal(rng, (V, d), dtype, size),
        "places": normal(rng, (n, d), dtype, size) if pos == "learned" else None,
        "ids": ids,
    }


def forward(rng, regime, dtype):
    found = drawn(rng, regime, dtype)
    found["grad"] = normal(rng, (*found["ids"].shape, found["tokens"].shape[1]), dtype)
    return found


def start(rng, regime, dtype):
    pos, scale = kind(regime)
    n, V, d = distinct(rng, n=(9, 15), V=(17, 40), d=(3, 8))
    return {"pos": pos, "scale": scale, "max_seq_len": n, "vocab_size": V, "embed_dim": d}


def defaults(rng, regime, dtype):
    V, d, T = distinct(rng, V=(17, 40), d=(3, 8), T=(9, 15))
    return {"tokens": normal(rng, (V, d), dtype), "ids": rng.integers(0, V, (2, T))}


def again(rng, regime, dtype):
    found = forward(rng, regime, dtype)
    V, d = found["tokens"].shape
    more = (3, 1) if "then_one" in regime else (1, int(rng.integers(2, found["max_seq_len"])))
    found["more_ids"] = rng.integers(0, V, more)
    found["more_grad"] = normal(rng, (*more, d), dtype)
    found["new_tokens"] = normal(rng, (V, d), dtype)
    return found


def refused(rng, regime, dtype):
    """Ids, or a length, that the layer must not take."""
    found = drawn(rng, regime, dtype)
    V, ids = len(found["tokens"]), found["ids"]
    if "negative" in regime:
        ids[1, 1] = -int(rng.integers(1, V))
    elif "beyond" in regime:
        ids[0, 2] = V + int(rng.integers(0, 3))
    return found


def beyond(rng, regime, dtype):
    return drawn(rng, regime, dtype)


def parts(rng, regime, dtype):
    """Tables as they are drawn at the start, of 64 columns where they are shown."""
    if "shown" not in regime:
        return drawn(rng, regime, dtype)
    pos, scale = kind(regime)
    V, d, n, T = 1000, 64, 32, 8
    places = rng.uniform(-1, 1, (n, d)) * np.sqrt(2 / d) if pos == "learned" else None
    return {
        "pos": pos,
        "scale": scale,
        "max_seq_len": n,
        "tokens": (rng.uniform(-1, 1, (V, d)) * np.sqrt(6 / (V + d))).astype(dtype),
        "places": None if places is None else places.astype(dtype),
        "ids": rng.integers(0, V, (2, T)),
    }
