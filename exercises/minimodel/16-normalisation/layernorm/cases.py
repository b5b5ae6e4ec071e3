"""Inputs for LayerNorm's probes."""

import numpy as np
from pack.common import distinct, normal, varied
from pack.normed import chosen_eps, leads, rows_of, turned, width


@varied
def forward(rng, regime, dtype):
    d = width(rng, regime)
    lead = leads(rng, regime)
    return {
        "x": rows_of(rng, regime, lead, d, dtype, centred=True),
        "gain": normal(rng, (d,), dtype),
        "bias": normal(rng, (d,), dtype),
        "eps": chosen_eps(rng, regime),
        "grad": normal(rng, (*lead, d), dtype),
    }


def start(rng, regime, dtype):
    return {"d": width(rng, regime)}


def residual(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    del drawn["eps"]
    return drawn


def arrives(rng, regime, dtype):
    return residual(rng, regime, dtype)


def again(rng, regime, dtype):
    d = width(rng, regime)
    T, S = distinct(rng, T=(3, 4), S=(3, 5))
    return {
        "x": normal(rng, (T, d), dtype),
        "other": normal(rng, (3, S, d), dtype, 4.0),
        "gain": normal(rng, (d,), dtype),
        "bias": normal(rng, (d,), dtype),
        "new_gain": normal(rng, (d,), dtype),
        "new_bias": normal(rng, (d,), dtype),
        "turned": turned(rng, T, d, dtype),
        "grad": normal(rng, (T, d), dtype),
        "other_grad": normal(rng, (3, S, d), dtype),
    }


def step(rng, regime, dtype):
    """A batch (B, T, d) whose sequences end in padding; the loss leaves the padding out."""
    d = width(rng, regime)
    B, T = (2, 8) if regime.startswith("shown") else (3, 4)
    length = np.full(B, T)
    length[-1] = T - 3  # three rows of padding, at the end of the last sequence
    padding = np.arange(T) >= length[:, None]  # (B, T)
    x = np.where(padding[..., None], 0.0, rng.standard_normal((B, T, d)))
    grad = np.where(padding[..., None], 0.0, rng.standard_normal((B, T, d)))
    return {"x": x.astype(dtype), "grad": grad.astype(dtype), "lr": 0.1}


def spreads(rng, regime, dtype):
    """One row at falling spreads; and a row of which every other number differs in the last bit."""
    d = width(rng, regime)
    row = rng.standard_normal(d)
    row = (row - row.mean()) / row.std()
    scale = 10.0 ** -np.arange(13.0) if regime == "shown" else 10.0 ** rng.uniform(-6, 1, 5)
    last_bit = np.full(d, 0.3, dtype)
    last_bit[::2] = np.nextafter(last_bit[0], last_bit.dtype.type(1))
    return {"x": (scale[:, None] * row).astype(dtype), "last_bit": last_bit}


def positions(rng, regime, dtype):
    """A sequence (T, d), and another vector for its last position."""
    T, d = (8, 16) if regime.startswith("shown") else distinct(rng, T=(3, 7), d=(5, 13))
    return {"x": normal(rng, (T, d), dtype), "last": normal(rng, (d,), dtype)}


def prefixes(rng, regime, dtype):
    return {"x": positions(rng, regime, dtype)["x"]}


def widths(rng, regime, dtype):
    """Rows as wide as the widest norm; each norm gets as many features as it takes."""
    if regime == "shown":
        chosen = [4, 8, 16, 32, 64, 128, 256, 512, 768]
    elif regime == "shown_three":
        chosen = [16, 64, 256]
    else:
        chosen = [3, *distinct(rng, d=(5, 13), e=(20, 40)), 100]
    x = normal(rng, (8, max(chosen)), dtype)
    return {"x": x, "widths": np.array(chosen)}


def alone(rng, regime, dtype):
    """T positions of a single feature (T, 1), and a bias."""
    T = 8 if regime == "shown" else distinct(rng, T=(3, 7))[0]
    return {"x": normal(rng, (T, 1), dtype), "bias": normal(rng, (1,), dtype)}


def beside(rng, regime, dtype):
    """Small numbers, so that eps counts."""
    drawn = forward(rng, "normal", dtype)
    del drawn["grad"]
    drawn["x"] = (0.1 * drawn["x"]).astype(dtype)
    return {**drawn, "eps": 0.01, "other_eps": float(rng.uniform(0.1, 0.5))}
