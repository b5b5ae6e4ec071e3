"""Inputs for RMSNorm's probes."""

import numpy as np
from pack.common import LONG, distinct, normal, varied
from pack.normed import chosen_eps, leads, rows_of, turned, width


def eps_of(rng, regime):
    """None for the default; a single feature is its own root mean square, so there eps is what counts."""
    return chosen_eps(rng, "other_eps" if regime == "one_feature" else regime)


@varied
def forward(rng, regime, dtype):
    d = width(rng, regime)
    lead = leads(rng, regime)
    return {
        "x": rows_of(rng, regime, lead, d, dtype, centred=False),
        "gain": normal(rng, (d,), dtype),
        "eps": eps_of(rng, regime),
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


def unit_row(rng, d):
    """One row of root mean square 1."""
    row = rng.standard_normal(d)
    return row / np.sqrt((row**2).mean())


def loudness(rng, regime, dtype):
    """One row at growing root mean squares. Embeddings often start at 0.02."""
    shown = regime == "shown"
    scale = [0.02, 0.1, 0.3, 1.0, 2.0, 3.0] if shown else np.sort(10 ** rng.uniform(-1.5, 1.5, 5))
    d = 16 if shown else distinct(rng, LONG, d=(5, 13))[0]
    return {"x": np.asarray(np.array(scale)[:, None] * unit_row(rng, d), dtype)}


def chain(rng, regime, dtype):
    """Two rows, of root mean square 2 and 0.5 where they are shown."""
    shown = regime == "shown"
    scale = [2.0, 0.5] if shown else [rng.uniform(1.5, 2.5), rng.uniform(0.3, 0.8)]
    d = 16 if shown else distinct(rng, LONG, d=(5, 13))[0]
    x = np.stack([size * unit_row(rng, d) for size in scale])
    return {"x": x.astype(dtype), "depth": 5 if shown else 3}


def again(rng, regime, dtype):
    d = width(rng, regime)
    T, S = distinct(rng, T=(3, 4), S=(3, 5))
    return {
        "x": normal(rng, (T, d), dtype),
        "other": normal(rng, (3, S, d), dtype, 4.0),
        "gain": normal(rng, (d,), dtype),
        "new_gain": normal(rng, (d,), dtype),
        "turned": turned(rng, T, d, dtype),
        "grad": normal(rng, (T, d), dtype),
        "other_grad": normal(rng, (3, S, d), dtype),
    }


def beside(rng, regime, dtype):
    """Small numbers, so that eps counts."""
    drawn = forward(rng, "normal", dtype)
    del drawn["grad"]
    drawn["x"] = (0.1 * drawn["x"]).astype(dtype)
    return {**drawn, "eps": 0.01, "other_eps": float(rng.uniform(0.1, 0.5))}
