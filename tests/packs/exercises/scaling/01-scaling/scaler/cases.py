"""Inputs for Scaler's probes."""


def width(rng, regime, dtype):
    return {"d": int(rng.integers(3, 9))}


def forward(rng, regime, dtype):
    rows, d = rng.permutation(range(3, 10))[:2]
    return {"x": rng.normal(3.0, 2.0, (rows, d)).astype(dtype)}
