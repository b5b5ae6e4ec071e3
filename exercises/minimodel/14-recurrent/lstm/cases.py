"""Inputs for the LSTM's probes. d_hidden is written n."""

import numpy as np
from pack.common import EQUAL, blank, distinct, leading, leaning, normal, varied

SHOWN_STEPS = 30
SHUT = 30.0  # a sigmoid of -30 is 9e-14


def sizes(rng, regime):
    """(d_in, n), different; 4 n is none of the sizes that are shown."""
    if regime.startswith("shown"):
        return 8, 8
    if regime == "minimal":
        return 1, 1
    if regime == "large":
        return 33, 21
    if regime == "equal_sizes":
        return EQUAL, EQUAL
    if regime == "one_input":
        return 1, int(rng.choice([3, 5, 6]))
    if regime == "one_unit":
        return int(rng.integers(3, 8)), 1
    while True:
        d_in, n = distinct(rng, d_in=(3, 7), n=(3, 6))
        if n != 4:
            return d_in, n


def weights(rng, d_in, n, dtype, scale=0.5):
    return {
        "w_x": normal(rng, (d_in, 4 * n), dtype, scale),
        "w_h": normal(rng, (n, 4 * n), dtype, scale),
        "b": normal(rng, (4 * n,), dtype, scale),
    }


def attributes(rng, regime, dtype):
    d_in, n = sizes(rng, regime)
    return {"d_in": d_in, "d_hidden": n, "seed": int(rng.integers(1 << 30))}


def switches(rng, n, dtype):
    """Biases that close or open each gate all the way: (4 n,). No two of i, f, o are the same."""
    i, f, o = rng.choice([-SHUT, SHUT], (3, n))
    pattern = np.array([[1, -1, 1], [-1, 1, 1], [1, 1, -1]])  # of the first three units
    i[:3], f[:3], o[:3] = SHUT * pattern
    order = rng.permutation(n)
    parts = (i[order], f[order], rng.standard_normal(n), o[order])
    return np.concatenate(parts).astype(dtype)


def step(rng, regime, dtype):
    d_in, n = sizes(rng, regime)
    rows = leading(rng, regime)
    drawn = weights(rng, d_in, n, dtype)
    scale = {"saturated": 1000.0, "tiny": 1e-7}.get(regime, 1.0)
    x, h, c = (normal(rng, (*rows, d), dtype, scale) for d in (d_in, n, n))
    if regime == "saturated":
        h, c = np.tanh(h), c / 1000
    if regime == "no_bias":  # as a new layer has it
        drawn["b"][...] = 0.0
    if regime == "nothing":  # a new layer's first step on padding: no gate gets anything
        x, h, c = np.zeros_like(x), np.zeros_like(h), np.zeros_like(c)
        drawn["b"][...] = 0.0
    if regime == "usual_bias":  # 0, but 1 where it forgets
        drawn["b"][...] = 0.0
        drawn["b"][n : 2 * n] = 1.0
    if regime == "no_forget_bias":
        drawn["b"][n : 2 * n] = 0.0
    if regime == "large_cell":
        c = 1000 * c
    if regime == "first_step":
        h, c = np.zeros_like(h), np.zeros_like(c)
    if regime == "switches":
        drawn["w_x"][...], drawn["w_h"][...] = 0.0, 0.0
        drawn["b"] = switches(rng, n, dtype)
    if regime == "spread_rows":
        x = x * (10.0 ** np.linspace(-5, 0.5, rows[-1])[:, None]).astype(dtype)
        c = c * (10.0 ** np.linspace(2, -5, rows[-1])[:, None]).astype(dtype)
    x, h, c = (blank(rng, regime, a) for a in (x, h, c))
    if regime == "constant_rows":
        x, h, c = (np.broadcast_to(a[..., :1], a.shape).copy() for a in (x, h, c))
    return {**drawn, "x": x, "h": h, "c": c}


def gates(rng, regime, dtype):
    """Weights of 0, and the same four biases for each gate, so that what each does can be compared."""
    drawn = step(rng, regime, dtype)
    n = len(drawn["w_h"])
    drawn["w_x"][...], drawn["w_h"][...] = 0.0, 0.0
    drawn["b"] = np.tile(rng.uniform(0.5, 2.0, n), 4).astype(dtype)
    return drawn


@varied
def backward(rng, regime, dtype):
    drawn = step(rng, regime, dtype)
    grad_h, grad_c = (normal(rng, drawn["c"].shape, dtype) for _ in range(2))
    if regime == "through_h":
        grad_c = None
    if regime == "through_c":
        grad_h = None
    return {**drawn, "grad_h": grad_h, "grad_c": grad_c}


def finite(rng, regime, dtype):
    """What goes into the gates lies around +-1000."""
    return backward(rng, "saturated", dtype)


def sequence(rng, regime, dtype):
    d_in, n = (3, 5) if regime == "deep" else sizes(rng, regime)
    T = 1 if regime == "one_step" else leaning(rng, [int(rng.integers(3, 6))])[0]
    rows = {"no_batch": (), "deep": (1, 3, 1)}.get(regime, (3,))
    h, c = (normal(rng, (*rows, n), dtype) for _ in range(2))
    if regime == "from_zero":
        h, c = np.zeros_like(h), np.zeros_like(c)
    return {
        **weights(rng, d_in, n, dtype, 0.4),
        "xs": normal(rng, (T, *rows, d_in), dtype),
        "h": h,
        "c": c,
        "grad_hs": normal(rng, (T, *rows, n), dtype),
        "grad_c": normal(rng, (*rows, n), dtype),
    }


def twice(rng, regime, dtype):
    d_in, n = sizes(rng, regime)
    rows = leading(rng, regime)
    other = {"other_" + name: value for name, value in weights(rng, d_in, n, dtype).items()}
    return {
        **weights(rng, d_in, n, dtype),
        **other,
        "x": normal(rng, (*rows, d_in), dtype),
        "h": normal(rng, (*rows, n), dtype),
        "c": normal(rng, (*rows, n), dtype),
        "more_x": normal(rng, (*rows, d_in), dtype),
        "grad": normal(rng, (*rows, n), dtype),
    }


def unroll(rng, regime, dtype):
    """Shown: uniform weights, forget bias 2 (0 for shown_no_bias). shown_still: all weights are 0."""
    d_in, n = sizes(rng, regime)
    T = {"shown_still": 10}.get(regime, SHOWN_STEPS) if regime.startswith("shown") else 4
    limit = n**-0.5
    w_x, w_h = (rng.uniform(-limit, limit, (rows, 4 * n)).astype(dtype) for rows in (d_in, n))
    b = np.zeros(4 * n, dtype)
    b[n : 2 * n] = 0.0 if regime == "shown_no_bias" else 2.0
    h, c = np.zeros(n, dtype), np.zeros(n, dtype)
    if regime == "shown_still":
        w_x[...], w_h[...], c[...] = 0.0, 0.0, 1.0
    return {"w_x": w_x, "w_h": w_h, "b": b, "xs": normal(rng, (T, d_in), dtype), "h": h, "c": c}


def elsewhere(rng, regime, dtype):
    drawn = backward(rng, regime, dtype)
    one_tensor = regime == "one_tensor"
    if one_tensor:
        drawn["c"] = drawn["h"].copy()
    grads = [normal(rng, drawn[name].shape, dtype) for name in ("x", "h", "c")]
    return {**drawn, "grads": grads, "one_tensor": one_tensor}
