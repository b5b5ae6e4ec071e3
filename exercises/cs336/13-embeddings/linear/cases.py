"""Inputs for the linear layer."""

from pack.draws import EQUAL, distinct, leading, normal


def forward(rng, regime, dtype):
    d_in, d_out = distinct(rng, d_in=(3, 13), d_out=(3, 13))
    if regime == "equal_sizes":
        d_in = d_out = EQUAL
    if regime == "one_feature":
        d_in = 1
    if regime == "large":
        d_in, d_out = 130, 67
    return {
        "weight": normal(rng, (d_out, d_in), dtype),
        "x": normal(rng, (*leading(rng, regime), d_in), dtype),
    }


def gradients(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    shape = (*drawn["x"].shape[:-1], len(drawn["weight"]))
    return {**drawn, "grad": normal(rng, shape, dtype)}


def made(rng, regime, dtype):
    return forward(rng, regime, dtype)


def kept(rng, regime, dtype):
    return forward(rng, regime, dtype)


def initialisation(rng, regime, dtype):
    """Their sum is not twice either of them, so that a start from one size alone shows."""
    return {"d_in": 400, "d_out": 100} if regime == "narrowing" else {"d_in": 90, "d_out": 600}


def one(rng, regime, dtype):
    """Four vectors of 6 numbers, for 9 outputs or for 6."""
    d_out = 6 if regime in ("square", "shown_square") else 9
    return {"weight": normal(rng, (d_out, 6), dtype), "x": normal(rng, (4, 6), dtype)}
