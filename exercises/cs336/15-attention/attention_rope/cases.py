"""Inputs for attention with RoPE: those of attention, with positions, theta and max_seq_len."""

import numpy as np
from pack.attention.cases import FOUR, draw
from pack.attention.cases import forward as plain_forward
from pack.attention.cases import head_columns as plain_head_columns
from pack.attention.cases import own_columns as plain_own_columns
from pack.attention.cases import past as plain_past
from pack.attention.cases import projections as plain_projections
from pack.attention.cases import slopes as plain_slopes
from pack.attention.cases import weights as plain_weights

THETA = 10000.0
ROOM = 24  # of the tables, at most so much more than a sequence is long


def turned(rng, regime, found, T=None):
    """Positions (1, T), (T,) or (B, T), theta and max_seq_len. T: that of x, where it has one."""
    T = T or found["x"].shape[-2]
    room = T + (0 if regime == "tight_table" else int(rng.integers(1, 9)))
    positions = np.arange(T)[None]
    if regime == "gaps":
        room = T + ROOM
        positions = np.sort(rng.permutation(room)[:T])[None]
    if regime == "own_rows":
        room = T + ROOM
        positions = np.stack([np.sort(rng.permutation(room)[:T]) for _ in found["x"]])
    if regime in ("flat", "no_batch"):
        positions = positions[0]
    if regime == "no_positions":
        positions = None
    theta = float(rng.choice([20.0, 100.0, 500.0])) if regime == "other_theta" else THETA
    found |= {"theta": theta, "max_seq_len": room}
    return found | {"positions": None if positions is None else positions.astype(np.int64)}


def own_columns(rng, regime, dtype):
    found = plain_own_columns(rng, regime, dtype)
    return turned(rng, regime, found, found["T"])


def projections(rng, regime, dtype):
    return turned(rng, regime, plain_projections(rng, regime, dtype), 1)


def head_columns(rng, regime, dtype):
    return turned(rng, regime, plain_head_columns(rng, regime, dtype))


def weights(rng, regime, dtype):
    return turned(rng, regime, plain_weights(rng, regime, dtype))


def past(rng, regime, dtype):
    return turned(rng, regime, plain_past(rng, regime, dtype))


def forward(rng, regime, dtype):
    return turned(rng, regime, plain_forward(rng, regime, dtype))


def slopes(rng, regime, dtype):
    return turned(rng, regime, plain_slopes(rng, regime, dtype))


def shifted(rng, regime, dtype):
    """The same sequence at 0, 1, 2 ... and further along."""
    T, heads, e = 6, 2, 6
    x = draw(rng, dtype, 2, T, heads * e)
    four = {name: draw(rng, dtype, heads * e, heads * e, scale=0.4) for name in FOUR}
    shift = int(rng.integers(3, ROOM))
    return {"heads": heads, "x": x, **four, "theta": THETA, "max_seq_len": T + ROOM, "shift": shift}
