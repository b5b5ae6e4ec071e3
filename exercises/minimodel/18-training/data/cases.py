"""Inputs for the probes of `batches`. Where ids are told apart, each occurs once."""

import numpy as np
from pack.common import LONG, distinct, leaning

VOCAB = 16  # of the text that a model is trained on


def apart(rng, n, dtype=np.int64):
    """n ids, none of them twice."""
    high = 256 if dtype == np.uint8 else 40 * n
    return rng.permutation(high)[:n].astype(dtype)


FAR_IDS = 60_000  # some of these do not fit into two bytes


def sizes(rng, regime):
    """B, T, and how many starts there are."""
    if regime == "large":
        return 70, 90, 1200
    B, T, starts = distinct(rng, B=(3, 6), T=(3, 9), starts=(3, 12))
    if regime == "one_row":
        B = 1
    if regime == "one_place":
        T = 1
    if regime == "single":
        B = T = 1
    return B, T, starts


def any_seed(rng):
    return int(rng.integers(1 << 30))


def windows(rng, regime, dtype):
    B, T, starts = sizes(rng, regime)
    kind = {"bytes": np.uint8, "narrow": np.int32}.get(regime, np.int64)
    ids = apart(rng, starts + T, kind)
    if regime == "far_ids":
        ids = FAR_IDS + 700 * ids
    count = {"large": 3, "many": 400}.get(regime, 12)
    return {"ids": ids, "batch_size": B, "seq_len": T, "count": count, "seed": any_seed(rng)}


def one_window(rng, regime, dtype):
    """Ids of which only one piece can be drawn, so that nothing is left to chance."""
    B, T, _ = sizes(rng, regime)
    if regime == "long":
        T = int(rng.integers(8_200, 9_000))
    (T,) = leaning(rng, [T], largest=20_000)
    if regime == "traced":
        T = int(rng.integers(9, 14))
    ids = rng.integers(0, 4, T + 1) if regime == "repeated" else apart(rng, T + 1)
    return {"ids": ids, "batch_size": B, "seq_len": T, "seed": any_seed(rng)}


def starts(rng, regime, dtype):
    """Few starts and many draws: that one is never drawn happens once in 10^15 judgements."""
    B, T = distinct(rng, B=(3, 5), T=(3, 7))
    n = {"two": 2, "more_than_places": 11}.get(regime) or int(rng.integers(3, 8))
    T = 1 if regime == "one_place" else T
    return {
        "ids": apart(rng, n + T),
        "batch_size": B,
        "seq_len": T,
        "count": 450 // B,
        "seed": any_seed(rng),
    }


def endless(rng, regime, dtype):
    """A small text, and how many batches are asked for."""
    n, count = int(rng.integers(3, 9)), int(rng.integers(30, 60))
    return {"n": n, "count": leaning(rng, [count], largest=LONG)[0], "seed": any_seed(rng)}


def reaches(rng, regime, dtype):
    """A text so long that a start can only be expected, not waited for."""
    B, T = distinct(rng, B=(3, 5), T=(3, 7))
    n = int(rng.integers(250_000, 300_000))
    kind = {"bytes": "uint8", "narrow": "int16"}.get(regime, "int64")
    return {
        "n": n,
        "kind": kind,
        "batch_size": B,
        "seq_len": T,
        "count": 450 // B,
        "seed": any_seed(rng),
    }


def repeated(rng, regime, dtype):
    """A text of a few kinds of ids, as texts are."""
    B, T = distinct(rng, B=(3, 6), T=(5, 9))
    ids = rng.integers(0, 3, int(rng.integers(20, 40)))
    return {"ids": ids, "batch_size": B, "seq_len": T, "count": 12, "seed": any_seed(rng)}


def continued(rng, regime, dtype):
    """450 draws miss one of 17 starts once in 10^10 times."""
    T = int(rng.integers(1, 4))
    while True:
        ids = rng.integers(0, 2, T + int(rng.integers(9, 18)))
        windows = np.unique(np.lib.stride_tricks.sliding_window_view(ids, T + 1), axis=0)
        if len(np.unique(windows[:, :-1], axis=0)) < len(windows):
            break
    return {"ids": ids, "batch_size": 5, "seq_len": T, "count": 90, "seed": any_seed(rng)}


def kept(rng, regime, dtype):
    """Enough batches that no two of them need be alike."""
    B, T, starts = sizes(rng, regime)
    return {
        "ids": apart(rng, starts + T),
        "batch_size": B,
        "seq_len": T,
        "count": 9,
        "seed": any_seed(rng),
    }


def same_rng(rng, regime, dtype):
    B, T = distinct(rng, B=(3, 6), T=(3, 9))
    seed = any_seed(rng)
    return {
        "ids": apart(rng, 60),
        "others": apart(rng, 45),
        "batch_size": B,
        "seq_len": T,
        "count": 10,
        "seed": seed,
        "other_seed": seed + 1 + int(rng.integers(1000)),
    }


def too_few(rng, regime, dtype):
    B, T, _ = sizes(rng, "normal")
    n = {"none": 0, "one": 1, "one_short": T}.get(regime, int(rng.integers(1, T)))
    return {"ids": apart(rng, n), "batch_size": B, "seq_len": T, "seed": any_seed(rng)}


def learn(rng, regime, dtype):
    """A text in which each of 16 tokens is followed by one of two others, as a coin decides."""
    shown = regime == "shown"
    jumps = np.where(rng.random(4000 if shown else 200) < 0.5, 1, 5)
    ids = (rng.integers(VOCAB) + np.cumsum(jumps)) % VOCAB
    return {
        "ids": ids,
        "batch_size": 8,
        "seq_len": 16,
        "steps": 120 if shown else 5,
        "lr": 20.0,
        "seed": any_seed(rng),
    }


def x_alone(rng, regime, dtype):
    return windows(rng, regime, dtype)
