"""Inputs for EmbeddingLayer: a table of tokens, one of positions where they are learned, and ids.

`pos` is told apart from the regime by its beginning: learned, sinusoidal or none; "scaled" in the
regime asks for scale=True.
"""

import numpy as np
from pack.common import ROWS, SHOWN, distinct, normal

KINDS = {"learned": "learned", "sinusoidal": "sinusoidal", "none": None}


def kind(regime):
    """(pos, scale)"""
    return KINDS[regime.split("_")[0]], "scaled" in regime


def sizes(rng, regime):
    """(leading axes, T, max_len, V, d), all different but where the regime says otherwise."""
    if "large" in regime:
        return (3,), int(rng.integers(130, 150)), 157, int(rng.integers(1100, 1300)), 39
    if "long" in regime:  # more positions than the default
        n = int(rng.integers(520, 600))
        return (), n, n, int(rng.integers(17, 40)), 3
    while True:
        B, T, d, V = distinct(rng, ROWS, B=(3, 4), T=(3, 7), d=(3, 13), V=(17, 40))
        n = T + int(rng.integers(2, 6))
        if n not in {B, d, V, *SHOWN}:
            break
    T = 1 if "one_position" in regime else T
    n = 3 * T + 2 if "growing" in regime else n
    n = T if "full" in regime else n
    T = n + 1 if "too_long" in regime else T
    d = 1 if "one_column" in regime else d
    lead = (B,)
    if "no_batch" in regime or "one_position" in regime:
        lead = ()
    if "deep" in regime:
        lead = (2, 1, B)
    if "tiny" in regime:
        lead = (2, n + 2)  # more of them than positions
    return lead, T, n, V, d


def drawn(rng, regime, dtype):
    lead, T, n, V, d = sizes(rng, regime)
    pos, scale = kind(regime)
    size = 1e6 if "huge" in regime else 1e-9 if "tiny" in regime else 1.0
    ids = rng.integers(0, V, (*lead, T))
    if "repeated" in regime:
        ids = rng.choice(ids.reshape(-1)[:2], ids.shape)
    if "begun" in regime:  # with the same token, as texts are, and it is the first
        ids[..., 0] = 0
    if "int32" in regime:
        ids = ids.astype(np.int32)
    return {
        "pos": pos,
        "scale": scale,
        "max_len": n,
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
    return {"pos": pos, "scale": scale, "max_len": n, "vocab_size": V, "d_model": d}


def spread(rng, regime, dtype):
    """Sizes of a table so large that chance hardly moves its standard deviation."""
    pos, scale = kind(regime)
    V, d = distinct(rng, V=(150, 250), d=(40, 60))
    return {"pos": pos, "scale": scale, "vocab_size": V, "d_model": d}


def defaults(rng, regime, dtype):
    V, d, T = distinct(rng, V=(17, 40), d=(3, 8), T=(9, 15))
    return {"tokens": normal(rng, (V, d), dtype), "ids": rng.integers(0, V, (2, T))}


def again(rng, regime, dtype):
    found = forward(rng, regime, dtype)
    lead = found["ids"].shape[:-1]
    more = (*lead, 1) if "then_one" in regime else (int(rng.integers(2, found["max_len"])),)
    more = (found["max_len"],) if "growing" in regime else more
    found["more_ids"] = rng.integers(0, len(found["tokens"]), more)
    found["more_grad"] = normal(rng, (*more, found["tokens"].shape[1]), dtype)
    found["new_tokens"] = normal(rng, found["tokens"].shape, dtype)
    learned = found["places"] is not None
    found["new_places"] = normal(rng, found["places"].shape, dtype) if learned else None
    return found


def refused(rng, regime, dtype):
    """Ids, or a length, that the layer must not take."""
    found = drawn(rng, regime, dtype)
    V, ids = len(found["tokens"]), found["ids"]
    if "negative" in regime:
        ids[1, 1] = -int(rng.integers(1, V))
    elif "beyond" in regime:
        ids[0, 2] = V + int(rng.integers(0, 3))
    elif "float_ids" in regime:
        found["ids"] = ids.astype(np.float64)
    return found
