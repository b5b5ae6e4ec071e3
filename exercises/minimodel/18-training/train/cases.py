"""Inputs for training's probes: a table of logits and a bias, and batches of token ids."""

import numpy as np
from pack.common import distinct, normal

SCALES = {"huge": 300.0, "tiny": 1e-6}  # of the logits


def model(rng, regime, V, dtype):
    scale = SCALES.get(regime, 1.0)
    return {"table": normal(rng, (V, V), dtype, scale), "bias": normal(rng, (V,), dtype, scale)}


def sizes(rng, regime):
    """V, B, T."""
    if regime == "large":
        return 53, 3, 13
    V, B, T = distinct(rng, V=(5, 9), B=(3, 4), T=(3, 6))
    few = {"single": (V, 1, 1), "many": (V, 1, 3), "hundreds": (3, 1, 3), "crowded": (3, 65, 65)}
    return few.get(regime, (V, B, T))


def batch(rng, V, *shape):
    """(x, y) of these shapes; y has nothing to do with x here."""
    return rng.integers(0, V, shape), rng.integers(0, V, shape)


def whole(rng, regime, dtype):
    """A small MiniGPT and steps on it."""
    sizes = {"d_model": 12, "n_heads": 3, "n_layers": 2, "d_ff": int(rng.integers(5, 9))}
    sizes |= {"vocab_size": int(rng.integers(5, 9)), "context_len": 7}
    x, y = batch(rng, sizes["vocab_size"], 3, 3, int(rng.integers(4, 7)))
    kind = {"plain": "", "sgd": "sgd"}.get(regime, "adamw")
    lr = float(rng.uniform(0.01, 0.05) if kind else rng.uniform(0.1, 0.5))
    seed = int(rng.integers(1 << 30))
    return {"sizes": sizes, "x": x, "y": y, "kind": kind, "lr": lr, "seed": seed}


def limit(rng, regime):
    """max_norm: none, far below or far above any gradient that comes up."""
    if "clipped" in regime:
        return float(rng.uniform(1e-3, 5e-3))
    if "unlimited" in regime:
        return float("inf")
    return 1e6 if "roomy" in regime else None


def step(rng, regime, dtype):
    """One step; before it, a gradient from elsewhere may lie in the parameters."""
    V, B, T = sizes(rng, regime)
    x, y = batch(rng, V, B, T)
    y = x.copy() if regime == "copied" else y
    stale_x, stale_y = batch(rng, V, 2, 3) if "stale" in regime else (None, None)
    return {
        **model(rng, regime, V, dtype),
        "x": x,
        "y": y,
        "stale_x": stale_x,
        "stale_y": stale_y,
        "without": {"stale_table": "bias", "stale_bias": "table"}.get(regime, ""),
        "spoiled": "spoiled" in regime,
        "evaluating": "evaluating" in regime,
        "lr": float(rng.uniform(0.3, 2.0)),
        "max_norm": limit(rng, regime),
    }


def steps(rng, regime, dtype):
    """Several steps of one model. x, y: (steps, B, T)."""
    V, B, T = sizes(rng, regime)
    count = {"many": 20, "large": 2, "hundreds": 210, "crowded": 2}.get(regime) or int(
        rng.integers(3, 5)
    )
    x, y = batch(rng, V, count, B, T)
    if regime == "same_batch":
        x[...], y[...] = x[:1], y[:1]
    lr = 0.0 if "still" in regime else float(rng.uniform(0.3, 1.0))
    drawn = model(rng, regime, V, dtype)
    return {**drawn, "x": x, "y": y, "lr": lr, "max_norm": limit(rng, regime)}


def apart(rng, regime, dtype):
    """Two models of their own, taking turns; in between, one gets other numbers."""
    V, B, T = sizes(rng, regime)
    x, y = batch(rng, V, 4, B, T)
    other, new = model(rng, regime, V, dtype), model(rng, regime, V, dtype)
    return {
        **model(rng, regime, V, dtype),
        "other_table": other["table"],
        "other_bias": other["bias"],
        "new_table": new["table"],
        "x": x,
        "y": y,
        "lr": float(rng.uniform(0.3, 1.0)),
    }


def sharing(rng, regime, dtype):
    drawn = apart(rng, regime, dtype)
    del drawn["new_table"]
    return drawn


def any_seed(rng):
    return int(rng.integers(1 << 30))


def one_window(rng, regime, dtype):
    """A text of which only one piece can be drawn, so that nothing is left to chance."""
    V, B, T = sizes(rng, regime)
    count = {"no_steps": 0, "one_step": 1, "many": 20}.get(regime, int(rng.integers(3, 5)))
    return {
        **model(rng, regime, V, dtype),
        "ids": rng.integers(0, V, T + 1),
        "steps": count,
        "batch_size": B,
        "lr": float(rng.uniform(0.3, 2.0)),
        "watched": regime != "unwatched",
        "measuring": regime == "measuring",
        "seed": any_seed(rng),
    }


def returned(rng, regime, dtype):
    V, B, T = sizes(rng, regime)
    x, y = batch(rng, V, B, T)
    ids = rng.integers(0, V, T + 1)
    return {
        **model(rng, regime, V, dtype),
        "x": x,
        "y": y,
        "ids": ids,
        "lr": 0.5,
        "seed": any_seed(rng),
    }


def drawn(rng, regime, dtype):
    """A text of V ids, each once: what follows an id is certain, where a piece starts is not."""
    V, B, T = distinct(rng, V=(11, 14), B=(3, 4), T=(3, 5))
    seed = any_seed(rng)
    return {
        **model(rng, regime, V, dtype),
        "ids": rng.permutation(V),
        "steps": 5,
        "batch_size": B,
        "seq_len": T,
        "lr": float(rng.uniform(0.3, 2.0)),
        "seed": seed,
        "other_seed": seed + 1 + int(rng.integers(1000)),
    }


def still(rng, regime, dtype):
    """One batch again and again, while lr is 0: the model stays where it is."""
    V, B, T = (16, 8, 16) if regime == "shown" else sizes(rng, regime)
    x, y = batch(rng, V, B, T)
    steps = 20 if regime == "shown" else 4
    return {**model(rng, regime, V, dtype), "x": x, "y": y, "steps": steps}


def two_batches(rng, regime, dtype):
    """A batch of the first ids of a vocabulary, then one of others."""
    V, B, T = 16, 4, 8
    ids = rng.permutation(V)
    here, there = ids[:6], ids[6:10]
    x = np.stack([np.resize(here, (B, T)), np.resize(there, (B, T))])
    return {**model(rng, regime, V, dtype), "x": x, "y": rng.integers(0, V, x.shape), "lr": 1.0}


def descent(rng, regime, dtype):
    """One batch of a text of two tokens, of which the second comes three times in four. (1, T)"""
    if regime == "shown":
        V, T, steps, lr = 2, 64, 120, 0.02
        y = (np.arange(T) % 4 != 0).astype(np.int64)
        x = np.zeros(T, np.int64)
    else:
        V, T, steps, lr = *distinct(rng, V=(3, 6), T=(5, 9)), 5, 0.3
        x, y = batch(rng, V, T)
    zeros = {"table": np.zeros((V, V), dtype), "bias": np.zeros((V,), dtype)}
    return {**zeros, "x": x[None], "y": y[None], "lr": lr, "steps": steps}


def containers(rng, regime, dtype):
    drawn = no_room(rng, regime, dtype)
    return {**drawn, "stale": normal(rng, drawn["bias"].shape, dtype), "steps": 3}


def no_room(rng, regime, dtype):
    V, B, T = sizes(rng, regime)
    x, y = batch(rng, V, B, T)
    return {**model(rng, regime, V, dtype), "x": x, "y": y, "lr": 0.5}
