"""Inputs for the linear layer."""

import numpy as np


def forward(rng, regime, dtype):
    d_in, d_out = (int(n) for n in rng.choice(np.arange(3, 14), 2, replace=False))
    lead = {"no_batch": (), "deep": (2, 3, 4)}.get(regime, (5, 2))
    draw = lambda *shape: np.asarray(rng.standard_normal(shape), dtype)
    return {"weight": draw(d_out, d_in), "x": draw(*lead, d_in), "grad": draw(*lead, d_out)}
