"""A text of a few words, and the sizes of a model that learns it within a second."""

import numpy as np

WORDS = ("the", "old", "dog", "ran", "to", "a", "red", "barn", "and", "sat")
LETTERS = " " + "".join(sorted(set("".join(WORDS))))


def text(rng, words):
    """Words by lot, as ids of letters."""
    said = " ".join(WORDS[int(i)] for i in rng.integers(0, len(WORDS), words))
    return np.array([LETTERS.index(letter) for letter in said])


def run(rng, regime, dtype):
    """`shown` is the only regime: nothing is judged by it."""
    rates = {"max_learning_rate": 0.02, "min_learning_rate": 0.002}
    return {
        "letters": LETTERS, "ids": text(rng, 90), "width": 16, "steps": 60, "batch_size": 8,
        "context_length": 12, "warmup": 15, "max_norm": 1.0, "weight_decay": 0.1, **rates,
        "saved_at": 40, "seed": int(rng.integers(1 << 30)),
    }  # fmt: skip
