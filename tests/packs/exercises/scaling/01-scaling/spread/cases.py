"""Inputs for the probe of spread_of."""


def forward(rng, regime, dtype):
    rows, d = rng.permutation(range(3, 10))[:2]
    return {"x": rng.normal(3.0, 2.0, (rows, d)).astype(dtype)}
