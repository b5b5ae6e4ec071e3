"""Inputs for the block: x (B, T, d), weights as the course shapes them, (d_out, d_in). d_ff is 64, 128 or
192, as in the course, but where a regime asks for another.
"""

import numpy as np
from pack.attention.cases import FOUR, draw, sizes, told_apart

THETA = 10000.0


def drawn_weights(rng, dtype, d, d_ff, lead=()):
    square = dict.fromkeys(FOUR, (d, d))
    shapes = square | {"w_1": (d_ff, d), "w_2": (d, d_ff), "w_3": (d_ff, d)}
    found = {
        name: draw(rng, dtype, *lead, *shape, scale=1.2 / np.sqrt(shape[-1]))
        for name, shape in shapes.items()
    }
    for name in ("ln_1", "ln_2"):
        found[name] = np.asarray(1 + 0.3 * rng.standard_normal((*lead, d)), dtype)
    return found


def forward(rng, regime, dtype):
    B, T, heads, e = sizes(rng)
    d_ff = int(rng.choice([64, 128, 192]))
    if regime == "large":
        B, T, heads, e = 2, 40, 6, 8
    if regime == "any_d_ff":
        d_ff = int(rng.choice([20, 37, 50]))
    T = 1 if regime == "one_token" else T
    x = draw(rng, dtype, B, T, heads * e)
    own = drawn_weights(rng, dtype, heads * e, d_ff)
    if regime in ("nothing_added", "ffn_alone"):
        own["w_o"] = np.zeros_like(own["w_o"])
    if regime in ("nothing_added", "attention_alone"):
        own["w_2"] = np.zeros_like(own["w_2"])
    room = T + (0 if regime == "tight_table" else int(rng.integers(1, 9)))
    theta = float(rng.choice([20.0, 100.0, 500.0])) if regime == "other_theta" else THETA
    return {"x": x, "heads": heads, "theta": theta, "max_seq_len": room, **own}


def residuals(rng, regime, dtype):
    return forward(rng, "normal", dtype)


def past(rng, regime, dtype):
    found = forward(rng, "normal", dtype)
    other = draw(rng, dtype, *found["x"].shape)
    return found | {"other": other, "since": int(rng.integers(1, other.shape[-2]))}


def slopes(rng, regime, dtype):
    found = forward(rng, "normal", dtype)
    names = [name for name in found if name.startswith(("w_", "ln_"))]
    directions = {"d_" + name: draw(rng, dtype, 3, *found[name].shape) for name in names}
    return told_apart(found, names) | {
        "grad": draw(rng, dtype, *found["x"].shape),
        "d_x": draw(rng, dtype, 3, *found["x"].shape),
        **directions,
    }
