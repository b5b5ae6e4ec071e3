"""Inputs for gelu and FFN.

Where whole arrays are compared, no hidden value lies within 10 of zero ("saturated"): there the exact
GELU and its tanh form agree to the last digit, so it does not matter which one a learner wrote.
"""

import numpy as np
from pack.common import EQUAL, LONG, blank, distinct, leading, normal, varied


def attributes(rng, regime, dtype):
    d, f = distinct(rng, LONG, d=(3, 9), f=(10, 19))
    return {"d_model": d, "d_ff": f}


def gelu(rng, regime, dtype):
    shape = {"vector": (7,), "one_value": (1,), "deep": (3, 1, 4, 3)}.get(regime, (3, 5))
    if regime == "wide":
        x = rng.uniform(-6, 6, shape)
    elif regime == "zero":
        x = np.zeros(shape)
    else:
        scale = {"tiny": 1e-8, "near_zero": 1e-2, "huge": 1e4}.get(regime, 1.5)
        x = normal(rng, shape, dtype, scale)
    return {"x": x.astype(dtype)}


def gelu_slope(rng, regime, dtype):
    x = gelu(rng, regime, dtype)["x"]
    return {"x": x, "grad": normal(rng, x.shape, dtype)}


def other_forms(rng, regime, dtype):
    return {"x": np.linspace(-8, 8, 1601).astype(dtype)}


def weights(rng, regime, dtype):
    """x and the four parameters, drawn plainly."""
    d, f = distinct(rng, d=(3, 7), f=(3, 13))
    d, f = (37, 140) if regime == "large" else (d, f)
    d, f = (EQUAL, EQUAL) if regime == "equal_sizes" else (d, f)
    d = 1 if regime == "one_feature" else d
    f = 1 if regime == "one_hidden" else f
    x = normal(rng, (*leading(rng, regime), d), dtype, {"huge": 1e4, "tiny": 1e-8}.get(regime, 1.0))
    if regime == "spread_rows":
        x = x * (10.0 ** np.linspace(-4, 4, x.shape[-2]))[:, None].astype(dtype)
    x = blank(rng, regime, x)
    if regime == "constant_rows":
        x = np.broadcast_to(x[..., :1], x.shape).copy()
    drawn = {
        "x": x,
        "w_1": normal(rng, (d, f), dtype, d**-0.5),
        "b_1": normal(rng, (f,), dtype, 0.5),
        "w_2": normal(rng, (f, d), dtype, f**-0.5),
        "b_2": normal(rng, (d,), dtype),
    }
    if regime == "untrained":  # as a new layer has them
        drawn |= {name: np.zeros_like(drawn[name]) for name in ("b_1", "b_2")}
    return drawn


def saturated(rng, drawn):
    """The same with b_1 so far from 0 that each hidden unit is on or off for every row; one is on."""
    x, w_1 = drawn["x"].astype(np.float64), drawn["w_1"].astype(np.float64)
    reach = np.abs(x @ w_1).reshape(-1, w_1.shape[1]).max(0)  # (f,)
    sign = rng.choice([-1.0, 1.0], len(reach))
    sign[int(rng.integers(len(sign)))] = 1.0
    b_1 = sign * (reach + rng.uniform(10, 14, len(reach)))
    return {**drawn, "b_1": b_1.astype(drawn["b_1"].dtype)}


@varied
def forward(rng, regime, dtype):
    drawn = saturated(rng, weights(rng, regime, dtype))
    return {**drawn, "grad": normal(rng, drawn["x"].shape, dtype)}


def modes(rng, regime, dtype):
    return forward(rng, regime, dtype)


def again(rng, regime, dtype):
    """Two inputs and two sets of weights of the same sizes."""
    drawn = weights(rng, "normal", dtype)
    first = saturated(rng, drawn)
    second = {name: normal(rng, a.shape, dtype) for name, a in drawn.items() if name != "x"}
    second = saturated(rng, {**second, "x": drawn["x"]})
    return {
        "x": drawn["x"],
        "grad": normal(rng, drawn["x"].shape, dtype),
        "more_grad": normal(rng, drawn["x"].shape, dtype),
        **{name: first[name] for name in ("w_1", "b_1", "w_2", "b_2")},
        **{f"other_{name}": second[name] for name in ("w_1", "b_1", "w_2", "b_2")},
    }


def composed(rng, regime, dtype):
    """`pre` (..., d_ff): what reaches the GELU."""
    drawn = weights(rng, regime, dtype)
    wide = {name: a.astype(np.float64) for name, a in drawn.items()}
    pre = wide["x"] @ wide["w_1"] + wide["b_1"]
    return {**drawn, "pre": pre.astype(dtype), "grad": normal(rng, drawn["x"].shape, dtype)}


def residual(rng, regime, dtype):
    return forward(rng, regime, dtype)
