"""A text of a few words, and the sizes of a model that learns it within a second."""

import numpy as np

WORDS = ("the", "old", "dog", "ran", "to", "a", "red", "barn", "and", "sat")
LETTERS = " " + "".join(sorted(set("".join(WORDS))))


def text(rng, words):
    """Words by lot, as ids of letters."""
    said = " ".join(WORDS[i] for i in rng.integers(0, len(WORDS), words))
    return np.array([LETTERS.index(letter) for letter in said])


def run(rng, regime, dtype):
    """`shown` is the only regime: nothing is judged by it."""
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 32}
    return {
        "sizes": {**sizes, "vocab_size": len(LETTERS), "context_len": 12},
        "letters": LETTERS, "ids": text(rng, 600), "held_out": text(rng, 60),
        "steps": 60, "batch_size": 8, "lr": 0.01, "max_norm": 1.0, "seed": int(rng.integers(1 << 30)),
    }  # fmt: skip
