"""Inputs for the language model: ids (B, T), a table and a head (V, d), and stacked weights of all layers."""

import numpy as np
from pack.attention.cases import draw, sizes
from pack.block.cases import THETA, drawn_weights


def forward(rng, regime, dtype):
    B, T, heads, e = sizes(rng)
    layers = {"one_layer": 1, "silent_layers": 2, "four_layers": 4}.get(
        regime, int(rng.choice([2, 3]))
    )
    V = int(rng.integers(50, 70))
    if regime == "large":
        B, T, heads, e, V = 2, 40, 4, 8, 200
    if regime == "one_token":
        T = 1
    d, d_ff = heads * e, int(rng.choice([64, 128, 192]))
    if regime == "any_d_ff":
        d_ff = int(rng.choice([20, 37, 50]))
    own = drawn_weights(rng, dtype, d, d_ff, lead=(layers,))
    if regime == "silent_layers":
        own["w_o"], own["w_2"] = np.zeros_like(own["w_o"]), np.zeros_like(own["w_2"])
    context = T if regime == "full" else T + int(rng.integers(1, 9))
    theta = float(rng.choice([20.0, 100.0, 500.0])) if regime == "other_theta" else THETA
    return {
        "ids": rng.integers(0, V, (B, T)), "heads": heads, "theta": theta, "context_length": context,
        "table": draw(rng, dtype, V, d), "head": draw(rng, dtype, V, d, scale=1 / np.sqrt(d)),
        "ln_final": np.asarray(1 + 0.3 * rng.standard_normal(d), dtype), **own,
    }  # fmt: skip


def past(rng, regime, dtype):
    found = forward(rng, "normal", dtype)
    ids, V = found["ids"], len(found["table"])
    since = int(rng.integers(1, ids.shape[-1]))
    other = ids.copy()
    other[:, since:] = (ids[:, since:] + rng.integers(1, V, ids[:, since:].shape)) % V
    return found | {"other": other, "since": since}


def prefix(rng, regime, dtype):
    found = forward(rng, "full", dtype)
    return found | {"length": int(rng.integers(2, found["ids"].shape[-1]))}


def parameters(rng, regime, dtype):
    found = forward(rng, "normal", dtype)
    return found | {"grad": draw(rng, dtype, *found["ids"].shape, len(found["table"]))}


def run_by_the_model(rng, regime, dtype):
    return forward(rng, "normal", dtype)
