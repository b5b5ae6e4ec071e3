"""A small language model with weights by lot, and a text for it."""

import numpy as np
from pack.lm.cases import forward


def run(rng, regime, dtype):
    """Regimes that are shown, and nothing is judged by them: `shown_grown` has larger weights, so that scores
    of attention lie in the hundreds.
    """
    found = forward(rng, "four_layers", dtype)
    if regime == "shown_grown":
        found["w_q"] = found["w_q"] * np.asarray(40, dtype)
    ids = rng.integers(0, len(found["table"]), (2, 12))
    return {**found, "ids": ids, "context_length": 12}
