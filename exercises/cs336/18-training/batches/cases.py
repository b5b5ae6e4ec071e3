"""Datasets of token ids, each id once, so that every piece tells where it was cut from."""

import numpy as np

KINDS = {"short_integers": "uint16", "integers": "int32"}


def drawn(rng, regime, n, batch_size, context_length):
    dataset = rng.permutation(n).astype(np.int64)
    if regime == "short_integers":  # beyond what int16 holds
        dataset = dataset + 60_000 - n
    return {"dataset": dataset, "batch_size": batch_size, "context_length": context_length}


def pieces(rng, regime, dtype):
    """A long dataset, at whose end hardly any piece begins."""
    batch_size, context_length = (int(n) for n in rng.choice(np.arange(3, 12), 2, replace=False))
    if regime == "one_row":
        batch_size = 1
    if regime == "large":
        batch_size, context_length = 70, 130
    n = 60_000 if regime == "large" else int(rng.integers(8_000, 12_000))
    return {**drawn(rng, regime, n, batch_size, context_length), "kind": KINDS.get(regime, "int64")}


def starts(rng, regime, dtype):
    """A short one, whose every start comes up many times."""
    context_length = int(rng.integers(4, 9))
    n = context_length + int(rng.integers(20, 30))
    given = drawn(rng, regime, n, 16, context_length)
    return {**given, "calls": 20 * (n - context_length), "seed": int(rng.integers(1 << 31))}


def one_start(rng, regime, dtype):
    context_length = int(rng.integers(4, 9))
    return drawn(rng, regime, context_length + 1, 3, context_length)


def device(rng, regime, dtype):
    return drawn(rng, regime, 100, 4, 7)


def file(rng, regime, dtype):
    return drawn(rng, regime, 500, 4, 7)


def crashes(rng, regime, dtype):
    """shown: a text of 300 tokens, where a start is too far to the right for one batch in four."""
    shown = regime == "shown"
    n, calls = (300, 200) if shown else (int(rng.integers(150, 300)), 1000)
    return {**drawn(rng, regime, n, 8, 12), "calls": calls, "seed": int(rng.integers(1 << 31))}


def learn(rng, regime, dtype):
    """A text in which each of 16 tokens is followed by one of two others, as a coin decides."""
    shown = regime == "shown"
    jumps = np.where(rng.random(4000 if shown else 200) < 0.5, 1, 5)
    ids = (rng.integers(16) + np.cumsum(jumps)) % 16
    return {
        "ids": ids, "batch_size": 8, "context_length": 16, "steps": 120 if shown else 5, "lr": 20.0,
        "seed": int(rng.integers(1 << 31)),
    }  # fmt: skip
