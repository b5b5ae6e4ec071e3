"""Rows of mean 0 and standard deviation 1."""


class Scaler:
    """x: (..., width)."""

    def __init__(self, width):
        self.width = width  # the last axis

    def __call__(self, x):
        mean = x.mean(axis=-1, keepdims=True)
        spread = x.std(axis=-1, keepdims=True)
        return (x - mean) / (spread + 1e-6)


def spread_of(x):
    """(..., d) -> (..., 1)."""
    return x.std(axis=-1, keepdims=True)
